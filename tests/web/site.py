"""A server on loopback that sends exactly the bytes it is told to, and the names under which it is found."""

import asyncio
from collections.abc import Awaitable, Callable
import contextlib
import datetime as dt
from pathlib import Path
import socket
import ssl
from types import SimpleNamespace
from typing import Any, Self

import aiodns
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

type Sends = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def http(
    body: bytes | str = b"", media_type: str | None = "text/html; charset=utf-8", status: str = "200 OK", **headers: str
) -> bytes:
    """Return a whole answer."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}"]
    if media_type is not None:
        lines.append(f"Content-Type: {media_type}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if "Content_Length" not in headers and "Transfer_Encoding" not in headers:
        lines.append(f"Content-Length: {len(content)}")
    return "\r\n".join([*lines, "", ""]).encode() + content


def redirect(target: str, status: str = "302 Found") -> bytes:
    """Return an answer that leads elsewhere."""
    return http("moved", status=status, Location=target, Set_Cookie="session=1")


def chunked(*pieces: bytes) -> bytes:
    """Return a body in chunks."""
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


class Site:
    """Serves what its pages say and remembers what it was asked."""

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Sends] = {}
        self.requests: list[str] = []
        self.port = 0
        self._ssl = ssl_context
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._ssl)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, whatever is under way."""
        assert self._server
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", host: str = "site.test") -> str:
        """Return the address of a page."""
        return f"http{'s' if self._ssl else ''}://{host}:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.requests.append(head)
                page = self.pages.get(head.split()[1], http("not here", status="404 Not Found"))
                if callable(page):
                    await page(writer)
                else:
                    writer.write(page.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if head.startswith("HEAD") else page)
                    await writer.drain()
                if callable(page) or b"HTTP/1.1 200" not in page[:12]:
                    break
        writer.close()
        self._tasks.discard(task)


class Names:
    """Stands in for the name servers: below Home Assistant's resolver, which is real."""

    def __init__(self) -> None:
        self.answers: dict[str, list[list[str]]] = {}
        """For each name its answers, one look-up after the other; the last is repeated."""
        self.asked: list[str] = []

    async def getaddrinfo(self, host: str, **more: Any) -> Any:
        """Answer as aiodns does; a number is taken for an address, as by C libraries."""
        self.asked.append(host)
        answers = self.answers.get(host)
        if not answers:
            try:
                addresses = [socket.inet_ntoa(socket.inet_aton(host))]
            except OSError as err:
                raise aiodns.error.DNSError(4, "Domain name not found") from err
        else:
            addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        port = more.get("port") or 0
        return SimpleNamespace(
            nodes=[
                SimpleNamespace(family=socket.AF_INET6, addr=(address.encode(), port, 0, 0))
                if ":" in address
                else SimpleNamespace(family=socket.AF_INET, addr=(address.encode(), port))
                for address in addresses
            ]
        )


def certificate(folder: Path, name: str, *, days: int = 1) -> tuple[ssl.SSLContext, Path]:
    """Return a server's context with a certificate of its own for a name, and the certificate's file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=10))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = folder / f"{name}.pem", folder / f"{name}.key"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert_file, key_file)
    return context, cert_file
