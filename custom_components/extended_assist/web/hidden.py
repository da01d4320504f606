"""What a visitor of a page would not see, as far as the page itself says so: attributes, styles and style sheets in it.

Style sheets that a page fetches are not read.
"""

import re
from typing import Final

from bs4 import BeautifulSoup
from bs4.element import Tag
import soupsieve
from soupsieve import SelectorSyntaxError

from homeassistant.util.color import COLORS

from .style_sheet import Style, declarations, rules_of

MAX_MATCHES: Final = 60_000
"""Elements that are compared with a rule, for all rules together."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_LENGTH = re.compile(rf"({_NUMBER.pattern})\s*(px|pt|em|rem|ex|ch|vw|vh|vmin|vmax|%|cm|mm|in)?", re.IGNORECASE)
_PIXELS: Final = {
    "pt": 1.33,
    "em": 16,
    "rem": 16,
    "ex": 8,
    "ch": 8,
    "vw": 12.8,
    "vh": 8,
    "vmin": 8,
    "vmax": 12.8,
    "cm": 38,
    "mm": 4,
    "in": 96,
}
_FAR: Final = 500
"""Pixels beyond the edge from which on something was put out of sight."""
_TINY: Final = 4.0
"""Pixels below which nobody reads."""
_FAINT: Final = 0.1
_BLURRED: Final = 8
"""Pixels of blur from which on no letter is told from another."""
_ALIKE: Final = 48
"""How different two colors are at most, of 765, that nobody tells apart."""
_WHITE: Final = (255, 255, 255)
_OF_SYSTEM: Final = {"canvas": _WHITE, "canvastext": (0, 0, 0)}
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*(?:\([^()]*\)[^()]*)*))?\)")
_VARIABLES: Final = 3
"""How deep variables in variables are looked into."""
_BRACKETS = re.compile(r"\[[^\]]*\]|:{1,2}[\w-]+\([^)]*\)|:[\w-]+")

type Color = tuple[int, int, int]
type Colors = tuple[Color | None, Color | None]
"""Of a text, and of what is behind it."""
_PLAIN: Final[Colors] = ((0, 0, 0), _WHITE)


class Visibility:
    """Tells of each element of a page whether a visitor would see it."""

    def __init__(self, soup: BeautifulSoup) -> None:
        """Read the style sheets of the page."""
        self._styles: dict[int, list[tuple[tuple[int, ...], Style]]] = {}
        self._colors: dict[int, Colors] = {}
        self._hidden: dict[int, bool] = {}
        self._variables: Style = {}
        rules = [*rules_of(soup)]
        for rule in rules:
            self._variables |= {name: value for name, value in rule.style.items() if name.startswith("--")}
        index = _index(soup) if rules else {}
        left = MAX_MATCHES
        for rule in rules:
            try:
                compiled = soupsieve.compile(rule.selector)
            except SelectorSyntaxError, NotImplementedError, ValueError:
                continue
            for tag in index.get(_key(rule.selector), ()):
                left -= 1
                if left < 0:
                    return
                if compiled.match(tag):
                    self._styles.setdefault(id(tag), []).append((rule.strength, rule.style))

    def is_hidden(self, tag: Tag) -> bool:
        """Return whether a visitor would not see an element, or what is in it."""
        if (known := self._hidden.get(id(tag))) is None:
            style = self._style(tag)
            self._see_colors(tag, style)
            known = self._hidden[id(tag)] = _is_hidden_by_attributes(tag, style) or _is_hidden_by_style(style)
        return known

    def hides_text(self, tag: Tag | None) -> bool:
        """Return whether the text right in an element has the color of what is behind it."""
        if tag is None:
            return False
        if id(tag) not in self._colors:
            self._see_colors(tag, self._style(tag))
        if (colors := self._colors[id(tag)]) is _PLAIN:
            return False
        color, ground = colors
        if color is None:
            return True
        return ground is not None and sum(abs(a - b) for a, b in zip(color, ground, strict=True)) <= _ALIKE

    def _style(self, tag: Tag) -> Style:
        """Return the declared style of an element."""
        found = self._styles.get(id(tag), ())
        inline = declarations(str(tag.attrs["style"])) if "style" in tag.attrs else {}
        if not found:
            return self._resolved({name: value for name, (value, _) in inline.items()}) if inline else {}
        style: Style = {}
        important: Style = {}
        for _, declared in sorted(found, key=lambda one: one[0]):
            for name, value in declared.items():
                if value.endswith("!important"):
                    important[name] = value.removesuffix("!important").strip()
                else:
                    style[name] = value
        style |= {name: value for name, (value, _) in inline.items()}
        style |= important | {name: value for name, (value, is_important) in inline.items() if is_important}
        return self._resolved(style)

    def _resolved(self, style: Style) -> Style:
        """Return a style with the values of its variables."""
        if not any("var(" in value for value in style.values()):
            return style

        def value_of(match: re.Match[str]) -> str:
            return style.get(match[1]) or self._variables.get(match[1]) or (match[2] or "").strip()

        for _ in range(_VARIABLES):
            style = {name: _VARIABLE.sub(value_of, value) for name, value in style.items()}
        return style

    def _see_colors(self, tag: Tag, style: Style) -> None:
        """Remember the color of an element's text, None where it is clear, and of what is behind it, None where that is a picture."""
        around = tag.parent
        if around is not None and id(around) not in self._colors:
            for one in reversed([*tag.parents]):
                if id(one) not in self._colors:
                    self._colors[id(one)] = _PLAIN
                    if one.parent is not None:
                        self._see_colors(one, self._style(one))
        inherited = self._colors[id(around)] if around is not None else _PLAIN
        if not style and tag.name not in ("font", "body") and "bgcolor" not in tag.attrs:
            self._colors[id(tag)] = inherited
            return
        color, ground = inherited
        own_color = (
            style.get("-webkit-text-fill-color")
            or style.get("color")
            or (str(tag.get("color") or tag.get("text") or "") if tag.name in ("font", "body") else "")
        )
        own_ground = style.get("background-color") or style.get("background") or str(tag.get("bgcolor") or "")
        if own_ground:
            if re.search(r"url\(|gradient|image", own_ground) or "background-image" in style:
                ground = None
            elif (read := _color(own_ground)) is not None:
                ground = read[0] if read[1] > _FAINT else ground
        elif "background-image" in style:
            ground = None
        if own_color and (read := _color(own_color)) is not None:
            color = read[0] if read[1] > _FAINT else None
        self._colors[id(tag)] = (color, ground)


def _is_hidden_by_attributes(tag: Tag, style: Style) -> bool:
    """Return whether an element is hidden by what it is."""
    attributes = tag.attrs
    shown = style.get("display", "none") != "none"
    if ("hidden" in attributes and not shown) or str(attributes.get("aria-hidden")).lower() == "true":
        return True
    if "popover" in attributes or (tag.name == "dialog" and "open" not in attributes and not shown):
        return True
    around = tag.parent
    if around is not None and around.name == "details" and "open" not in around.attrs:
        return not (tag.name == "summary" and around.find("summary", recursive=False) is tag)
    return tag.name == "font" and str(attributes.get("size", "")).strip() in ("0", "0px")


def _is_hidden_by_style(style: Style) -> bool:
    """Return whether an element is hidden by its style."""
    if not style:
        return False
    get = style.get
    if get("display") == "none" or get("visibility") in ("hidden", "collapse") or get("content-visibility") == "hidden":
        return True
    if _is_small(get("opacity"), _FAINT) or (
        (faint := re.search(r"opacity\(([^)]*)\)", get("filter", ""))) and _is_small(faint[1], _FAINT)
    ):
        return True
    if (size := _pixels(get("font-size") or _font_size(get("font", "")))) is not None and size < _TINY:
        return True
    if _is_moved_away(style):
        return True
    clipped = get("clip-path", "")
    if re.search(
        r"rect\([^,\s]+[\s,]+(?:[01](?:px)?[\s,]+[^,\s]+|[^,\s]+[\s,]+[01](?:px)?)[\s,]+[^,\s]+\)", get("clip", "")
    ):
        return True
    if _is_unreadable(style):
        return True
    if re.search(
        r"inset\(\s*(?:[5-9]\d|100)(?:\.\d+)?%|inset\([^)]*\b1\d\d%|rect\(\s*0\w*\s+0\w*\s+0\w*\s+0|xywh\(\s*\S+\s+\S+\s+(?:0|\S+\s+0)"
        r"|circle\(\s*0|ellipse\(\s*0|polygon\(\s*0(?:px|%)?\s+0(?:px|%)?(?:\s*,\s*0(?:px|%)?\s+0(?:px|%)?)*\s*\)",
        clipped,
    ):
        return True
    cut = any(
        get(name, "").startswith(("hidden", "clip", "scroll", "auto"))
        for name in ("overflow", "overflow-x", "overflow-y")
    ) or re.search(r"paint|strict|content", get("contain", ""))
    indent = _LENGTH.search(get("text-indent", ""))
    if cut and indent and ((_pixels(indent[0]) or 0) >= 2 * _FAR or (indent[2] == "%" and float(indent[1]) >= 100)):
        return True
    sizes = [_pixels(get(name)) for name in ("width", "height", "max-width", "max-height", "line-height")]
    return bool(cut) and any(size is not None and size < _TINY for size in sizes)


def _is_unreadable(style: Style) -> bool:
    """Return whether the letters of an element are blurred, bleached, cut out or put upon each other."""
    painted = style.get("filter", "")
    if (blur := re.search(r"blur\(([^)]*)\)", painted)) and (_pixels(blur[1]) or 0) >= _BLURRED:
        return True
    if re.search(r"contrast\(\s*0|brightness\(\s*0\D*\)\s*invert\(\s*1", painted):
        return True
    if re.search(r"gradient\((?:[^,()]*,\s*)?transparent[^,()]*(?:,\s*transparent[^,()]*)+\)", style.get("mask", "")):
        return True
    return (_pixels(style.get("letter-spacing")) or 0) <= -_TINY


def _font_size(font: str) -> str | None:
    """Return the size in a font."""
    match = _LENGTH.search(font)
    return match[0] if match else None


def _is_moved_away(style: Style) -> bool:
    """Return whether an element was put out of sight."""
    names = ["text-indent", "margin-left", "margin-top", "margin", "margin-right"]
    if style.get("position") in ("absolute", "fixed", "relative", "sticky"):
        names += ["left", "top", "right", "bottom", "inset"]
    for name in names:
        for match in _LENGTH.finditer(style.get(name, "")):
            if (_pixels(match[0]) or 0) <= -_FAR:
                return True
    far = {"absolute": 10 * _FAR, "fixed": 3 * _FAR}.get(style.get("position", ""))
    if far and any((_pixels(style.get(name)) or 0) >= far for name in ("left", "top", "right", "bottom")):
        return True
    moved = " ".join(style.get(name, "") for name in ("transform", "translate", "rotate"))
    if any(
        _is_small(scale, 0.05)
        for scale in [*re.findall(r"scale[xy3d]*\(([^)]*)", moved), style.get("scale"), style.get("zoom")]
    ):
        return True
    if re.search(
        r"matrix\(\s*0[^,]*,\s*0|(?:rotate[xy]\(|\b[xy]\s+)\s*(?:90deg|0?\.25turn|100grad)|skew[xy]?\(\s*90deg", moved
    ):
        return True
    return any(
        abs(_pixels(match[0]) or 0) >= _FAR for match in _LENGTH.finditer(moved) if match[2] and match[2] != "%"
    ) or bool(re.search(r"-[1-9]\d{3,}%", moved))


def _is_small(text: str | None, limit: float) -> bool:
    """Return whether a share is so small."""
    if text is None or not (match := _NUMBER.search(text)):
        return False
    return float(match[0]) / (100 if "%" in text else 1) <= limit


def _pixels(text: str | None) -> float | None:
    """Return a length in pixels, or None for none; a share counts as such only where it is nothing."""
    if not text or not (match := _LENGTH.search(text)):
        return None
    number = float(match[1])
    unit = (match[2] or "px").lower()
    if unit == "%":
        return number * 16 / 100 if number else 0.0
    return number * _PIXELS.get(unit, 1)


def _color(text: str) -> tuple[Color, float] | None:
    """Return a color and how far it covers, or None for what is none."""
    text = text.strip().lower()
    if (match := re.search(r"#([0-9a-f]{3,8})\b", text)) and len(match[1]) in (3, 4, 6, 8):
        digits = match[1] if len(match[1]) > 4 else "".join(digit * 2 for digit in match[1])
        parts = [int(digits[at : at + 2], 16) for at in range(0, len(digits), 2)]
        return (parts[0], parts[1], parts[2]), parts[3] / 255 if len(parts) > 3 else 1.0
    if match := re.search(r"\b(lab|lch|oklab|oklch|hwb|color)\(([^)]*)\)", text):
        return _newer_color(match[1], match[2])
    if (match := re.search(r"(rgb|hsl)a?\(([^)]*)\)", text)) and "from" not in match[2]:
        numbers = [(float(one[1]), one[2]) for one in re.finditer(rf"({_NUMBER.pattern})\s*(%?)", match[2])]
        if len(numbers) < 3:
            return None
        share = 1.0
        if len(numbers) > 3:
            share = numbers[3][0] / (100 if numbers[3][1] else 1)
        if match[1] == "hsl":
            light = max(0, min(255, round(numbers[2][0] * 2.55)))
            pale = numbers[1][0] < 10 or light in (0, 255)
            return ((light, light, light) if pale else (light, 255 - light, light)), share
        made = [round(number * 2.55 if unit else number) for number, unit in numbers[:3]]
        return (made[0], made[1], made[2]), share
    for word in re.findall(r"[a-z]+", text):
        if word == "transparent":
            return _WHITE, 0.0
        if word in _OF_SYSTEM:
            return _OF_SYSTEM[word], 1.0
        if word in COLORS:
            known = COLORS[word]
            return (known[0], known[1], known[2]), 1.0
    return None


def _newer_color(kind: str, text: str) -> tuple[Color, float] | None:
    """Return a color in the newer ways to write one, of which light and dark are told apart."""
    plain, _, cover = text.partition("/")
    numbers = [(float(one[1]), one[2]) for one in re.finditer(rf"({_NUMBER.pattern})\s*(%?)", plain)]
    if len(numbers) < 3:
        return None
    (first, unit), (second, _), (third, _) = numbers[:3]
    share = 1.0
    if found := _NUMBER.search(cover):
        share = float(found[0]) / (100 if "%" in cover else 1)
    if kind == "color":
        red, green, blue = (round(number * (2.55 if unit else 255)) for number, unit in numbers[:3])
        return (red, green, blue), share
    if kind == "hwb":
        white, black = second, third
        light = white / max(white + black, 1) if white + black >= 100 else (100 + white - black) / 200
    else:
        light = first / (100 if unit or not kind.startswith("ok") else 1)
    gray = max(0, min(255, round(light * 255)))
    return (gray, gray, gray), share


def _index(soup: BeautifulSoup) -> dict[str, list[Tag]]:
    """Return the elements of a page by their names, classes and ids."""
    index: dict[str, list[Tag]] = {}
    for tag in soup.descendants:
        if not isinstance(tag, Tag):
            continue
        keys = [tag.name, "*", *(f".{name}" for name in tag.get_attribute_list("class") if name), f"#{tag.get('id')}"]
        for key in keys:
            index.setdefault(key, []).append(tag)
    return index


def _key(selector: str) -> str:
    """Return under what an element that a selector means is found in the index."""
    last = re.split(r"[\s>+~]+", _BRACKETS.sub("", selector).strip())[-1]
    for pattern in (r"#[\w-]+", r"\.[\w-]+", r"^[a-zA-Z][\w-]*"):
        if match := re.search(pattern, last):
            return match[0] if match[0][0] in "#." else match[0].lower()
    return "*"
