"""Which media ids are addresses: they make a player fetch whatever somebody wrote into them."""

import re
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from ..results import texts_in

_OWN = "media-source://"
"""Home Assistant's own media; a source of it that names an entity is looked at as an id."""
_SCHEMES = re.compile(
    r"(?<![a-z0-9+.-])(data|file|ftps?|ftpes|gopher|https?|javascript|ldaps?|mms[htu]?|nfs|rtmp[et]?s?|rtp|rtsps?|sftp|smb|ssh|srt|tcp|udp|wss?"
    r"|intent|content|x-[a-z0-9+.-]+):"
)
_HOST = re.compile(r"//+([^/?#]*[.:@\[][^/?#]*)")
_PATH = re.compile(r"/|~/|\.{1,2}/|\\|[a-z]:[\\/]|www\.")
"""Of Home Assistant itself, which signs it, of a file, or of a host without a scheme."""


def holds_address(value: Any) -> bool:
    """Return whether a text inside a value leads a player somewhere instead of naming what it knows."""
    return any(_is_address(text) for text, _ in texts_in(value, keys=True))


def _is_address(text: str) -> bool:
    """Return whether a text is an address, however it is written."""
    plain = text
    for _ in range(3):  # Players decode what they are given, some of them more than once.
        plain = unquote(plain)
    plain = "".join(letter for letter in normalize("NFKC", plain).casefold() if letter.isprintable()).replace(" ", "")
    if plain.startswith(_OWN):
        return "://" in plain.removeprefix(_OWN)
    return any((_SCHEMES.search(plain), _HOST.search(plain), _PATH.match(plain)))
