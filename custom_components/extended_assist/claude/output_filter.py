"""Filter answers after untrusted text was read, so that no address in them can send data out of the home.

The dialog renders Markdown and some HTML. It fetches an image as soon as it is shown, and a link when somebody taps on it;
either address can contain data for a stranger or trigger something. So the filter only lets through pages and images of
Home Assistant that are known to do nothing, and links that the user asked for and that were read word for word.
"""

from collections.abc import Callable, Collection
import re
from typing import Final
from urllib.parse import urlsplit

from homeassistant.components.conversation import ChatLog, ToolResultContent, UserContent
from homeassistant.helpers.json import json_dumps

from ..calls.chat_images import PATH
from ..confirmation.mentions import folded
from ..confirmation.untrusted_text import marks
from ..exposure.fixed_values import free_texts

_HELD: Final = 2_000
"""The most characters that wait for the end of a link."""
_PAGES: Final = (
    *("calendar", "config", "energy", "extended-assist", "history", "home", "light", "climate", "security", "logbook"),
    *("lovelace", "map", "media-browser", "profile", "todo"),
)
"""First path segments of Home Assistant's pages that only display data; dashboards, whose names are free, are not listed."""
_PAGE = re.compile(rf"/(?:{'|'.join(_PAGES)})(?:/[A-Za-z0-9_-]+)*/?")
"""The address of such a page without a query, which could fill in a form."""
_PICTURE = re.compile(
    rf"(?:{re.escape(PATH)}|/api/(?:camera|image)_proxy/)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"
    r"(?:\?(?:authSig|token)=[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)?"
)
"""The address of an image of the home; fetching any other address could do something, as a webhook does."""
_INLINE = re.compile(r"(!?)\[([^\[\]]*)\]\(\s*([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s[^()]*)?\)")
_ADDRESS = re.compile(r"(?:https?|ftps?|wss?)://[^\s<>\"'`\ue000\ue001]*", re.IGNORECASE)
_BEGINS_ADDRESS = re.compile(r"(?<=www)\.|(?<=:)//", re.IGNORECASE)
_MAIL = re.compile(r"(?<=[\w.+-])@(?=\w)")
"""The @ of a mail or chat address."""
_WWW = re.compile(r"www\.", re.IGNORECASE)
_TIMES: Final = 5
"""The most levels of nested links and addresses that are parsed; deeper ones are broken up."""
_TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
_AFTER_LABEL = re.compile(r"\](?=[(:])")
_ENDS_OF_LINKS: Final = ".,;:!?*_)]}"
_LINK = re.compile(r"""https?://[^\s"'<>|\\^`{}()\[\]]+""", re.IGNORECASE)
_ASKS: Final = (
    *(
        "link",
        "url",
        "website",
        "web site",
        "web page",
        "webpage",
        "homepage",
        "web address",
        "webseite",
        "internetseite",
    ),
    *("adresse web", "site web", "lien", "enlace", "pagina web", "direccion web", "sitio web", "collegamento", "sito"),
    *(
        "indirizzo web",
        "webpagina",
        "webadres",
        "stron",
        "adres www",
        "odnosnik",
        "pagina da web",
        "endereco",
        "http",
        "https",
    ),
)
"""Words by which people ask for a link, folded, in the languages of the options."""
_COMPUTING: Final = ("render_template", "execute_script", "query_database")
"""Ends of the names of tools that return what the model wrote."""
_ENDINGS: Final = ("", "s", "n", "en", "e", "i", "a", "y", "ie", "u")
_ASKS_UNSPACED: Final = ("링크", "주소", "웹사이트", "链接", "网址", "网站")


class AnswerFilter:
    """Passes on the text of an answer while it streams; a possible part of an address waits until it is complete."""

    def __init__(self, is_needed: Callable[[], bool], links: Callable[[], Collection[str]]) -> None:
        """Store the function that returns whether untrusted text was read, and the allowed links."""
        self._is_needed = is_needed
        self._links = links
        self._allowed: Collection[str] = ()
        self._waiting = ""
        self._is_on = False

    def begin(self) -> None:
        """Check for untrusted text before the next text."""
        self._is_on = self._is_needed()
        self._allowed = self._links() if self._is_on else ()

    def add(self, text: str) -> str:
        """Return the text that can be shown now."""
        if not self._is_on:
            return text
        self._waiting += text
        end = _whole_until(self._waiting)
        if not end and len(self._waiting) > _HELD:
            # A space ends whatever this is the beginning of.
            whole, self._waiting = self._waiting + " ", ""
        else:
            whole, self._waiting = self._waiting[:end], self._waiting[end:]
        return shown(whole, self._allowed)

    def end(self) -> str:
        """Return the waiting text."""
        whole, self._waiting = self._waiting, ""
        return shown(whole, self._allowed)


def filter_for(chat_log: ChatLog) -> AnswerFilter:
    """Return the filter of the answers in a conversation."""
    return AnswerFilter(lambda: marks(chat_log), lambda: asked_links(chat_log))


def shown(text: str, links: Collection[str] = ()) -> str:
    """Return a text that fetches nothing and has no links except the allowed ones."""
    kept: list[str] = []

    def keep(written: str) -> str:
        kept.append(written)
        return f"\ue000{len(kept) - 1}\ue001"

    def inline(match: re.Match[str]) -> str:
        is_picture, label, target = match.groups()
        if _PICTURE.fullmatch(target) if is_picture else _PAGE.fullmatch(target) or target in links:
            return keep(f"{is_picture}[{_inert(label, (), keep)}]({target})")
        return str(label)

    text = text.replace("\ue000", "").replace("\ue001", "")
    for _ in range(_TIMES):
        text, count = _INLINE.subn(inline, text)
        if not count:
            break
    return _restored(_inert(text, links, keep), kept)


def _inert(text: str, links: Collection[str], keep: Callable[[str], str]) -> str:
    """Return a text without tags and links that are not allowed."""

    def bare(match: re.Match[str]) -> str:
        link = match[0].rstrip(_ENDS_OF_LINKS)
        end = match[0][len(link) :]
        return (keep(link) if link in links else _host(link)) + end

    text = _TAG.sub("< ", _AFTER_LABEL.sub("] ", text))
    for _ in range(_TIMES):
        before, text = text, _WWW.sub("", _ADDRESS.sub(bare, text))
        if before == text:
            break
    return _MAIL.sub(" @ ", _BEGINS_ADDRESS.sub(" ", text))


def as_words(text: str) -> str:
    """Return a text whose addresses can be read but fetch and link nothing."""
    plain = _TAG.sub("< ", _AFTER_LABEL.sub("] ", text))
    if not _ADDRESS.search(plain):
        return plain
    return _ADDRESS.sub(lambda match: f"`{match[0]}`", plain.replace("`", "'"))


def asked_links(chat_log: ChatLog) -> frozenset[str]:
    """Return the allowed links: those that were read or said, if the user's last message asks for one."""
    said = [content.content for content in chat_log.content if isinstance(content, UserContent)]
    return read_links(chat_log) if said and asks_for_link(said[-1]) else frozenset()


def read_links(chat_log: ChatLog) -> frozenset[str]:
    """Return the links that were read or said in a conversation."""
    said = [content.content for content in chat_log.content if isinstance(content, UserContent)]
    results = [
        (json_dumps(one.result.data), one.tool_name.endswith(_COMPUTING))
        for one in chat_log.content
        if isinstance(one, ToolResultContent) and not one.result.error and "would" not in one.result.data
    ]
    found = _links(*said, *(text for text, is_computed in results if not is_computed))
    if computed := _links(*(text for text, is_computed in results if is_computed)) - found:
        # What the model has computed, it may have put together.
        found |= computed & _links(
            *(text for state in chat_log.hass.states.async_all() for text in free_texts(chat_log.hass, state))
        )
    return found


def _links(*texts: str) -> frozenset[str]:
    return frozenset(link.rstrip(_ENDS_OF_LINKS) for text in texts for link in _LINK.findall(text))


def asks_for_link(message: str) -> bool:
    """Return whether somebody asks for a link."""
    words = folded(message)
    return any(f" {word}{end} " in words for word in _ASKS for end in _ENDINGS) or any(
        word in message for word in _ASKS_UNSPACED
    )


def _whole_until(text: str) -> int:
    """Return the length of the part of a text that no further text can turn into an address."""
    end = max((index + 1 for index, letter in enumerate(text) if letter.isspace()), default=0)
    depth, start = 0, 0
    for index, letter in enumerate(text[:end]):
        if letter == "[":
            start = index if not depth else start
            depth += 1
        elif letter == "]" and depth:
            depth -= 1
            if not depth and text[index + 1 : index + 2] == "(" and ")" not in text[index:end]:
                depth = 1
                break
    if depth and start >= len(text) - _HELD:
        return max((index + 1 for index, letter in enumerate(text[:start]) if letter.isspace()), default=0)
    return end


def _restored(text: str, kept: list[str]) -> str:
    for _ in range(_TIMES + 1):
        text = re.sub("\ue000([0-9]+)\ue001", lambda match: kept[int(match[1])], text)
    return text


def _host(address: str) -> str:
    """Return the host of an address as a word."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        host = ""
    return re.sub(r"[^\w.-]", "", host)
