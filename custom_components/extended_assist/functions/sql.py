"""From a rendered template to SQL in which no value is ever text of the language.

Where a value stands inside quotes, the whole text in those quotes becomes a parameter. Elsewhere a number stays as it is,
an operator that compares, a direction and a word of the function's own enums too, a list becomes one parameter for each item,
and everything else becomes a parameter. A value in which a template has put SQL together would become a text that finds
nothing; it is refused instead.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
import re
from typing import Any, Final

from ..results import ToolError, texts_in
from .rendering import Piece, Value

MAX_VALUE: Final = 2_000
"""Characters of one value."""
_MAX_VALUES = 200
_WORDS: Final = frozenset({"=", "==", "!=", "<>", "<", "<=", ">", ">=", "asc", "desc", "like"})
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?")
_ENDS: Final = {"'": "'", '"': '"', "`": "`", "[": "]", "--": "\n", "/*": "*/"}
_BEGINNING = re.compile(r"""['"`\[]|--|/\*""")
_QUOTES = re.compile(r"""['"`;]""")
_PUT_TOGETHER = re.compile(r"""(['"`])\s*(?:,|\band\b|\bor\b|\)|=)""", re.IGNORECASE)
_IS_SQL: Final = (
    "A template of this function puts quotes or other SQL into a value, and a value is never read as SQL. Tell the user to "
    "write the quotes around the braces, like '{{ x }}', and for a list IN ({{ names }}) or IN ('{{ names | join(\"','\") }}')."
)


@dataclass(frozen=True, slots=True)
class Query:
    """A query with its parameters."""

    text: str
    parameters: dict[str, Any]


def only_value(pieces: list[Piece]) -> str | None:
    """Return the query that a value is as a whole: a model wrote it, and what it may read decides the database."""
    if len(pieces) == 1 and isinstance(pieces[0], Value):
        return pieces[0].text
    return None


def to_sql(pieces: Iterable[Piece], words: frozenset[str], given: Any = ()) -> Query:
    """Return a query for the pieces of a rendered template; given is what the values were made of."""
    known = frozenset(text for text, _ in texts_in(given, keys=True))
    writer = _Writer(_WORDS | {word.lower() for word in words if _NUMBER.fullmatch(word) or _is_plain(word)}, known)
    for piece in pieces:
        if isinstance(piece, Value):
            writer.value(piece)
        else:
            writer.literal(piece)
    return writer.finish()


def _is_plain(word: str) -> bool:
    """Return whether a word cannot end what it stands in, or begin something else."""
    return re.fullmatch(r"[\w.*+<>=! -]+", word) is not None and "--" not in word


@dataclass(slots=True)
class _Writer:
    """Follows the quotes of SQL while it is written."""

    words: frozenset[str]
    given: frozenset[str]
    parts: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    opened: str = ""
    """The quote or comment that is open."""
    inside: list[str] = field(default_factory=list)
    """What is written in it so far."""
    holds_value: bool = False

    def literal(self, text: str) -> None:
        """Write text of the user."""
        while text:
            if self.opened:
                end = _ENDS[self.opened]
                before, found, text = text.partition(end)
                self.inside.append(before)
                if not found:
                    return
                if self.opened in "'\"`" and text.startswith(end):
                    # Doubled, a quote stands for itself.
                    self.inside.append(end if self.holds_value else end * 2)
                    text = text[1:]
                    continue
                self._close()
            elif match := _BEGINNING.search(text):
                self.parts.append(text[: match.start()])
                self.opened, text = match[0], text[match.end() :]
            else:
                self.parts.append(text)
                return

    def value(self, value: Value) -> None:
        """Write a value."""
        if self.opened in ("--", "/*"):
            return
        if self.opened:
            if not self.holds_value:
                self.holds_value = True
                self.inside = [part.replace(self.opened * 2, self.opened) for part in self.inside]
            self.inside.append(self._inside(value.text))
            return
        self.parts.append(f" {self._outside(value)} ")

    def finish(self) -> Query:
        """Return the query."""
        if self.opened not in ("", "--"):
            raise ToolError("The query of this function opens a quote that it does not close. Tell the user.")
        return Query("".join(self.parts), self.parameters)

    def _inside(self, text: str) -> str:
        """Return a value inside of quotes; where a template doubled its quotes, as they were."""
        if text in self.given or self.opened not in text:
            return text
        if (single := text.replace(self.opened * 2, self.opened)) in self.given:
            return single
        if _PUT_TOGETHER.search(text):
            raise ToolError(_IS_SQL)
        return text

    def _outside(self, value: Value) -> str:
        """Return a value outside of quotes."""
        match value.value:
            case bool():
                return str(int(value.value))
            case int() | float():
                return self._parameter(value.value) if not _NUMBER.fullmatch(str(value.value)) else str(value.value)
            case list() | tuple() | set():
                return ", ".join(self._outside(Value(item)) for item in value.value) or "NULL"
        text = value.text.strip()
        if _NUMBER.fullmatch(text) or text.lower() in self.words:
            return text
        if _QUOTES.search(text) and not any(text in one for one in self.given):
            raise ToolError(_IS_SQL)
        return self._parameter(text)

    def _close(self) -> None:
        """Write what was in quotes."""
        text = "".join(self.inside)
        if self.holds_value:
            self.parts.append(self._parameter(text))
        elif self.opened not in ("--", "/*"):
            self.parts.append(f"{self.opened}{text}{_ENDS[self.opened]}")
        else:
            self.parts.append(" ")
        self.opened, self.inside, self.holds_value = "", [], False

    def _parameter(self, value: Any) -> str:
        """Return the name of a parameter with a value."""
        if isinstance(value, str) and (len(value) > MAX_VALUE or "\0" in value):
            raise ToolError(f"A value has at most {MAX_VALUE} characters here. Give a shorter one.")
        if len(self.parameters) >= _MAX_VALUES:
            raise ToolError(f"At most {_MAX_VALUES} values can be used here. Give fewer.")
        name = f"argument_{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"
