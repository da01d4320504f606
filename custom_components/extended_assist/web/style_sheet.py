"""The style sheets in a page, as far as they may hide something from a visitor in front of a screen."""

from collections.abc import Iterator
from dataclasses import dataclass
import re
from typing import Final

from bs4 import BeautifulSoup

MAX_RULES: Final = 300
"""Rules of style sheets in a page that are looked at, of those that hide something."""
_DEEPEST: Final = 12
"""Rules inside each other that are looked into."""
_WIDTH: Final = 1280
"""The width of the visitor's window."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)")
_MEDIA_WIDTH = re.compile(r"(min|max)-(?:device-)?width\s*:\s*([\d.]+)\s*(px|em|rem)?")
_PSEUDO = re.compile(
    r"::?(?:before|after|hover|focus|active|visited|selection|placeholder|marker|first-line|first-letter|target)\b[\w-]*"
)
# A declaration with another word counts for nothing.
_KNOWN: Final = {
    "display": re.compile(
        r"(?:(?:none|contents|block|inline|flow|flow-root|table|flex|grid|ruby|math|list-item|run-in|inline-[a-z]+|table-[a-z-]+|"
        r"ruby-[a-z-]+|-(?:webkit|moz|ms)-[a-z-]+|inherit|initial|unset|revert|revert-layer)\s*)+|.*\(.*"
    ),
    "visibility": re.compile(r"visible|hidden|collapse|inherit|initial|unset|revert|revert-layer|.*\(.*"),
}
_SAME_AS: Final = {
    "inset-inline-start": "left",
    "inset-block-start": "top",
    "margin-inline-start": "margin-left",
    "margin-block-start": "margin-top",
    "inline-size": "width",
    "block-size": "height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "-webkit-mask": "mask",
    "mask-image": "mask",
    "-webkit-mask-image": "mask",
}
"""Names of what is the same in a text from left to right, and of what browsers take for the same."""
_UNTOUCHED = re.compile(r":not\(\s*:(?:hover|focus|focus-within|focus-visible|active|visited|target|checked)\s*\)")
"""What holds as long as nobody touches the page."""
type Style = dict[str, str]
_BRACE = re.compile(r"[{}]")
_MINUS = re.compile(r"-\s+(?=\d)")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|url\([^)\"']*\)")
_DIVIDING = str.maketrans("", "", "{};")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a style sheet."""

    selector: str
    style: Style
    strength: tuple[int, int, int, int]
    """By which of several rules one counts: how special its selector is, and where it stands."""


def declarations(text: str) -> dict[str, tuple[str, bool]]:
    """Return the declarations of a style, and whether each is important."""
    found: dict[str, tuple[str, bool]] = {}
    plain = _ESCAPE.sub(_unescaped, _COMMENT.sub("", text))
    for part in plain.split(";"):
        name, _, value = part.partition(":")
        value = _MINUS.sub("-", value.strip().lower())
        bare = re.sub(r"\s*!\s*important$", "", value)
        name = name.strip().lower()
        if (known := _KNOWN.get(name)) is None or known.fullmatch(bare):
            found[_SAME_AS.get(name, name)] = (bare, bare != value)
    return found


def _unescaped(match: re.Match[str]) -> str:
    """Return the character that is written with a backslash."""
    if match[2]:
        return match[2]
    number = int(match[1], 16)
    return chr(number) if 0 < number < 0x110000 else ""


def _unquoted(sheet: str) -> str:
    """Return a style sheet in which nothing in quotes divides its rules."""
    return _QUOTED.sub(lambda match: match[0].translate(_DIVIDING), sheet)


def rules_of(soup: BeautifulSoup) -> Iterator[Rule]:
    """Yield the rules in a page that hide something, and those that show it again."""
    sheet = "\n".join(tag.get_text() for tag in soup.select("style") if _is_shown_by(str(tag.get("media") or "")))
    count = 0
    for place, (selectors, body) in enumerate(_blocks(_unquoted(_COMMENT.sub("", sheet)))):
        declared = {
            name: f"{value}{' !important' if is_important else ''}"
            for name, (value, is_important) in declarations(body).items()
        }
        style = {name: value for name, value in declared.items() if name in _TOLD or name.startswith("--")}
        if not style:
            continue
        for selector in _apart(selectors):
            plain = _UNTOUCHED.sub("", selector).strip()
            plain = "*" if selector.strip() and not plain else plain
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
        *("background", "background-color", "background-image", "-webkit-text-fill-color", "contain"),
        *("letter-spacing", "mask", "rotate", "zoom"),
    }
)
"""What a style declares that may hide something."""


def _apart(selectors: str) -> Iterator[str]:
    """Yield the selectors of a list; commas inside of brackets divide none."""
    depth, start = 0, 0
    for match in re.finditer(r"[()\[\],]", selectors):
        if match[0] in "([":
            depth += 1
        elif match[0] in ")]":
            depth -= 1
        elif depth <= 0:
            yield selectors[start : match.start()]
            start = match.end()
    yield selectors[start:]


def _blocks(sheet: str, around: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the rules of a style sheet that count for a visitor: their selectors and what they declare; inner ones too."""
    at, own = 0, ""
    while (start := sheet.find("{", at)) >= 0:
        before, divider, head = sheet[at:start].rpartition(";")
        own += before + divider
        if around and own.strip():
            yield around, own
        own, head = "", head.strip()
        end = _end_of(sheet, start)
        body = sheet[start + 1 : end - 1] if sheet[end - 1 : end] == "}" else sheet[start + 1 : end]
        at = end
        if head.startswith("@"):
            is_shown = (
                _is_shown_by(head.partition(" ")[2])
                if head.startswith("@media")
                else not head.startswith(("@font", "@key", "@page", "@prop"))
            )
            if is_shown and depth < _DEEPEST:
                yield from _blocks(body, around, depth + 1)
        elif depth < _DEEPEST:
            yield from _blocks(body, _inside(head, around), depth + 1)
    own += sheet[at:]
    if around and own.strip():
        yield around, own


def _inside(selectors: str, around: str) -> str:
    """Return the selectors of a rule that stands in another."""
    if not around:
        return selectors
    outer = f":is({around})" if "," in around else around
    return ",".join(
        one.replace("&", outer) if "&" in one else f"{outer} {one.strip()}" for one in _apart(selectors) if one.strip()
    )


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
