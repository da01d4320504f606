"""The style sheets in a page, as far as they may hide something from a visitor in front of a screen."""

from collections.abc import Iterator
from dataclasses import dataclass
import re
from typing import Final

from bs4 import BeautifulSoup

MAX_RULES: Final = 300
"""Rules of style sheets in a page that are looked at, of those that hide something."""
_WIDTH: Final = 1280
"""The width of the visitor's window."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)")
_MEDIA_WIDTH = re.compile(r"(min|max)-(?:device-)?width\s*:\s*([\d.]+)\s*(px|em|rem)?")
_PSEUDO = re.compile(
    r"::?(?:before|after|hover|focus|active|visited|selection|placeholder|marker|first-line|first-letter|target)\b[\w-]*"
)
type Style = dict[str, str]
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a style sheet."""

    selector: str
    style: Style
    strength: tuple[int, int, int, int]
    """By which of several rules one counts: how special its selector is, and where it stands."""


def declarations(text: str) -> dict[str, tuple[str, bool]]:
    """Return what a style declares, and whether each is important."""
    found: dict[str, tuple[str, bool]] = {}
    plain = _ESCAPE.sub(_unescaped, _COMMENT.sub("", text))
    for part in plain.split(";"):
        name, _, value = part.partition(":")
        value = value.strip().lower()
        bare = re.sub(r"\s*!\s*important$", "", value)
        found[name.strip().lower()] = (bare, bare != value)
    return found


def _unescaped(match: re.Match[str]) -> str:
    """Return the character that is written with a backslash."""
    if match[2]:
        return match[2]
    number = int(match[1], 16)
    return chr(number) if 0 < number < 0x110000 else ""


def rules_of(soup: BeautifulSoup) -> Iterator[Rule]:
    """Yield the rules in a page that hide something, and those that show it again."""
    sheet = "\n".join(tag.get_text() for tag in soup.select("style") if _is_shown_by(str(tag.get("media") or "")))
    count = 0
    for place, (selectors, body) in enumerate(_blocks(_COMMENT.sub("", sheet))):
        declared = {
            name: f"{value}{' !important' if is_important else ''}"
            for name, (value, is_important) in declarations(body).items()
        }
        style = {name: value for name, value in declared.items() if name in _TOLD}
        if not style:
            continue
        for selector in selectors.split(","):
            plain = selector.strip()
            if not plain or _PSEUDO.search(plain):
                continue
            count += 1
            if count > MAX_RULES:
                return
            special = (
                plain.count("#"),
                len(re.findall(r"[.\[:]", plain)),
                len(re.findall(r"(?:^|[\s>+~])[a-z]", plain)),
            )
            yield Rule(plain, style, (*special, place))


_TOLD: Final = frozenset(
    {
        *("display", "visibility", "content-visibility", "opacity", "filter", "font-size", "font", "clip"),
        *("clip-path", "color", "overflow", "overflow-x", "overflow-y", "width", "height", "max-width"),
        *("max-height", "line-height", "text-indent", "margin", "margin-left", "margin-top", "margin-right"),
        *("position", "left", "top", "right", "bottom", "inset", "transform", "translate", "scale"),
        *("background", "background-color", "background-image"),
    }
)
"""What a style declares that may hide something."""


def _blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the rules of a style sheet that count for a visitor: their selectors and what they declare."""
    at = 0
    while (start := sheet.find("{", at)) >= 0:
        head = sheet[at:start].rpartition("}")[2].rpartition(";")[2].strip()
        if head.startswith("@"):
            if (
                _is_shown_by(head.partition(" ")[2])
                if head.startswith("@media")
                else not head.startswith(("@font", "@key", "@page", "@prop"))
            ):
                at = start + 1
                continue
            at = _end_of(sheet, start)
            continue
        end = sheet.find("}", start)
        end = len(sheet) if end < 0 else end
        yield head, sheet[start + 1 : end]
        at = end + 1


def _end_of(sheet: str, start: int) -> int:
    """Return where a block ends that begins at a brace."""
    depth = 0
    for match in _BRACE.finditer(sheet, start):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.end()
    return len(sheet)


def _is_shown_by(media: str) -> bool:
    """Return whether a condition on media holds for somebody in front of a screen."""
    media = media.strip().lower()
    if not media:
        return True
    return any(_is_one_shown_by(one) for one in media.split(","))


def _is_one_shown_by(media: str) -> bool:
    """Return whether one of several conditions holds."""
    is_other = re.search(r"\b(?:print|speech|tty|tv|projection|handheld|braille|aural)\b", media) is not None
    if re.match(r"\s*not\b", media):
        return is_other
    if is_other:
        return False
    for kind, number, unit in _MEDIA_WIDTH.findall(media):
        width = float(number) * (1 if unit in ("", "px") else 16)
        if (kind == "min" and width > _WIDTH) or (kind == "max" and width < _WIDTH):
            return False
    return not re.search(
        r"prefers-|orientation\s*:\s*portrait|forced-colors|inverted-colors|hover\s*:\s*none|pointer\s*:\s*coarse",
        media,
    )
