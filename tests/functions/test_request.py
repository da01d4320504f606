"""Tests of requests and their templates: how a server is asked, and what cannot be asked."""

from hashlib import md5
import json
import re

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from custom_components.extended_assist.functions import rendering

from .conftest import Ask, Install, Site
from .test_injection import written

pytestmark = pytest.mark.usefixtures("no_deprecations")


async def test_digest(socket_enabled: None, install: Install, ask: Ask) -> None:
    """A server that wants a digest gets one, and the password itself is never sent."""
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "")
        seen.append(given)
        said = dict(re.findall(r'(\w+)="?([^",]+)', given))
        first = md5(b"me:home:secret", usedforsecurity=False).hexdigest()
        second = md5(f"GET:{said.get('uri')}".encode(), usedforsecurity=False).hexdigest()
        expected = md5(
            ":".join([first, "abc", said.get("nc", ""), said.get("cnonce", ""), "auth", second]).encode(),
            usedforsecurity=False,
        ).hexdigest()
        if said.get("response") == expected:
            return web.Response(text="Welcome")
        return web.Response(status=401, headers={"WWW-Authenticate": 'Digest realm="home", nonce="abc", qop="auth"'})

    application = web.Application()
    application.router.add_get("/", answer)
    async with TestServer(application, host="127.0.0.1") as server:
        await install(
            written(
                f"type: rest\nresource: http://127.0.0.1:{server.port}/\nauthentication: digest\n"
                "username: me\npassword: secret"
            )
        )
        assert await ask("probe") == "Welcome"
    assert seen[0] == ""
    assert seen[1].startswith("Digest ")
    assert "secret" not in seen[1]


async def test_own_authorization(install: Install, ask: Ask, site: Site) -> None:
    """A header that the user wrote counts more than name and password."""
    settings = (
        f"type: rest\nresource: {site.url}/x\nusername: me\npassword: secret\nheaders: {{authorization: Bearer abc}}"
    )
    await install(written(settings))
    await ask("probe")
    headers = {name.lower(): value for name, value in site.requests[0][2].items()}
    assert headers["authorization"] == "Bearer abc"


async def test_cannot_be_asked(install: Install, ask: Ask, site: Site) -> None:
    """An address that is none, and a host of the model's choice for more than reading, are refused."""
    await install(written("type: rest\nresource_template: 'http://[::1/{{ x }}'", "x"))
    assert (await ask("probe", {"x": 1}, error=True)).startswith("The address of this function is none")
    settings = "type: rest\nmethod: post\nresource_template: '{{ x }}'"
    await install(written(settings, "x").replace("probe", "post"))
    assert "then it may only GET" in await ask("post", {"x": f"{site.url}/x"}, error=True)
    assert site.requests == []


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ('{"a": {{ x }}, "b": {{ [1, none, {"c": true}] }}}', {"a": 5, "b": [1, None, {"c": True}]}),
        ('{"a": {{ timedelta(hours=1) }}}', {"a": "1:00:00"}),
        ('{"a": "{{ y }}{{ none }}"}', {"a": "None"}),
    ],
)
async def test_values_in_json(install: Install, ask: Ask, site: Site, template: str, sent: object) -> None:
    """Outside of quotes a value is written as JSON has it, or as a text where JSON has no such thing."""
    await install(
        written(f"type: rest\nresource: {site.url}/x\nmethod: post\npayload_template: {json.dumps(template)}", "x")
    )
    await ask("probe", {"x": 5})
    assert json.loads(site.requests[0][3]) == sent


async def test_nothing_on_the_page(install: Install, ask: Ask, site: Site) -> None:
    """A template gets what is not on the page as none, beside the named values, and a sensor needs no name."""
    site.answers["page"] = ("<p>1</p>", "text/html")
    settings = f"type: scrape\nresource: {site.url}/page\nsensor: [{{name: first, select: p}}, {{select: h1}}]"
    await install(written(f"{settings}\nvalue_template: '{{{{ first }}}}, {{{{ value }}}}'"))
    assert await ask("probe") == "1, None"
    await install(written(settings).replace("probe", "bare"))
    assert await ask("bare") is None


async def test_many_templates(install: Install, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates are kept compiled up to a number; beyond it they are compiled again."""
    monkeypatch.setattr(rendering, "_COMPILED", 2)
    for name in ("one", "two", "three"):
        await install(written(f"type: template\nvalue_template: '{name} {{{{ x }}}}'", "x").replace("probe", name))
    for name in ("one", "two", "three", "one"):
        assert await ask(name, {"x": 5}) == f"{name} 5"
