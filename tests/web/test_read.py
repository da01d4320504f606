"""Tests of reading: charsets, kinds, the text of pages, selectors and paths, in bounded time and memory."""

import asyncio
import codecs
from collections.abc import AsyncGenerator
import contextlib
import sys
import threading
import time
from typing import Any

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.web import json_path, page, read
from custom_components.extended_assist.web.fetch import FetchedResponse
from custom_components.extended_assist.web.read import Document, DocumentType, async_read, decode
from custom_components.extended_assist.web.select import Wanted, select
from homeassistant.core import HomeAssistant
from tests.helpers.one_home import in_one_home

from .robots import ROBOTS

URL = "https://example.com/dir/page"


def answer(body: bytes, media_type: str = "text/html", charset: str | None = None) -> FetchedResponse:
    """Return an answer as a server gives it."""
    return FetchedResponse(
        url=URL, status=200, media_type=media_type, charset=charset, length=None, compression="", body=body
    )


def text_of(html: str) -> str:
    """Return the text of a page."""
    return page.to_text(page.parse(html)[0], URL)


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("Größe €".encode(), "utf-8", "Größe €"),
        ("Größe €".encode(), None, "Größe €"),
        ("Größe €".encode("cp1252"), "iso-8859-1", "Größe €"),
        ("Größe €".encode("cp1252"), None, "Größe €"),
        ("Größe €".encode("iso8859-15"), "ISO-8859-15", "Größe €"),
        ("Привет".encode("cp1251"), "windows-1251", "Привет"),
        ("Привет".encode("koi8-r"), "KOI8-R", "Привет"),
        ("日本語".encode("shift_jis"), "Shift_JIS", "日本語"),
        ("日本語".encode("euc-jp"), '"euc-jp"', "日本語"),
        ("日本語".encode("iso2022_jp"), "iso-2022-jp", "日本語"),
        ("中文".encode("gbk"), "gb2312", "中文"),
        ("中文".encode("big5"), "big5", "中文"),
        ("한국어".encode("euc-kr"), "euc-kr", "한국어"),
        (codecs.BOM_UTF8 + "ß".encode(), "iso-8859-1", "ß"),
        (codecs.BOM_UTF16_LE + "ß".encode("utf-16-le"), None, "ß"),
        (codecs.BOM_UTF16_BE + "ß".encode("utf-16-be"), "utf-8", "ß"),
        ("ß".encode("utf-16-le"), "utf-16le", "ß"),
        (b'<meta charset="windows-1251">' + "Привет".encode("cp1251"), None, '<meta charset="windows-1251">Привет'),
        (b"\xff\xfe\xfa", "utf-8", "\ufffd"),
        (b"caf\xe9", "utf-8", "caf\ufffd"),
        *(
            (b"caf\xc3\xa9", charset, "café")
            for charset in ("idna", "punycode", "unicode_escape", "rot13", "zip", "x-no")
        ),
        *((b"caf\xc3\xa9", charset, "café") for charset in ("utf-7", "undefined", "../x", "\0", "mbcs", "utf_32_le")),
    ],
)
def test_charsets(body: bytes, charset: str | None, text: str) -> None:
    """The charset is that of the mark, the header or the page; what is none is passed over."""
    assert decode(answer(body, charset=charset)).text.startswith(text)


def test_a_character_that_was_cut() -> None:
    """Where the limit falls into a character, the text before it is whole."""
    assert decode(answer("naïve ü".encode()[:-1], "text/plain")).text == "naïve "


@pytest.mark.parametrize(
    ("media_type", "body", "kind"),
    [
        ("text/html", b"x", DocumentType.PAGE),
        ("application/xhtml+xml", b"x", DocumentType.PAGE),
        ("application/json", b"{}", DocumentType.JSON),
        ("application/geo+json", b"{}", DocumentType.JSON),
        ("text/plain", b'  {"a": 1}', DocumentType.JSON),
        ("text/plain", b"{not json", DocumentType.TEXT),
        ("text/plain", b"<html>", DocumentType.TEXT),
        ("application/rss+xml", b"<rss/>", DocumentType.TEXT),
        ("text/csv", b"a,b", DocumentType.TEXT),
        ("", b"<!-- x --><!DOCTYPE html><p>", DocumentType.PAGE),
        ("", b"[1]", DocumentType.JSON),
        ("", b"hello", DocumentType.TEXT),
        ("", b"\x7fELF\0\0", DocumentType.BINARY),
    ],
)
def test_kinds(media_type: str, body: bytes, kind: DocumentType) -> None:
    """What a document is follows its type, and where that says little, its beginning."""
    assert decode(answer(body, media_type)).kind is kind


HTML = """<!doctype html><html><head><title> A  page
</title><style>body {}</style></head><body><nav><a href=/home>Home</a></nav><header>Top</header><main><h1>Hello
<b>world</b></h1><p>One two<br>three. A <a href="/x (1)?a=b c">link <i>here</i></a>, end.<p>Second<ul><li>a<li> b
<ul><li>c</ul><li><p>d</p></ul><ol><li>x<li>y</ol><table><tr><th>Name<th>Value<tr><td>A<td><a href="b.html">B</a>
<td></table><table><tr><td><h2>In layout</h2><p>Text</td><td>other</td></tr></table><pre>  code
    more</pre><img alt="A cat" src=x> <a href="javascript:x">js</a> <a href="#top">up</a> <a href="/i"><img alt=pic></a>
<a href="/card"><div><h3>Card</h3><p>text</p></div></a><a href="/empty"></a>
<script>alert()</script><!-- comment --><noscript>no</noscript><svg><text>svg</text></svg></main>
<footer>Opening hours<dl><dt>Mo</dt><dd>9-5</dd></dl></footer></body></html>"""

TEXT = """# Hello world

One two
three. A [link here](https://example.com/x%20%281%29?a=b%20c), end.

Second

- a
- b
  - c
- d

1. x
2. y

| Name | Value |
| A | [B](https://example.com/dir/b.html) | |

## In layout

Text

other

  code
    more

js up [pic](https://example.com/i) [Card text](https://example.com/card)

Top
Opening hours

Mo
9-5"""


def test_text_of_a_page() -> None:
    """Titles, lists, tables and links are kept; the main part comes first."""
    soup, cut = page.parse(HTML)
    assert not cut
    assert page.title(soup) == "A page"
    assert page.to_text(soup, URL) == TEXT


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>secret</p>",
        '<p style="color: red; DISPLAY : none">secret</p>',
        '<span aria-hidden="true">secret</span>',
        "<template>secret</template><script>secret</script><noscript>secret</noscript>",
        "<!-- secret --><iframe>secret</iframe><select><option>secret</select>",
        "<main hidden>secret</main>",
        "<a href='/x' hidden>secret</a>",
        "<textarea hidden>secret</textarea>",
    ],
)
def test_what_nobody_sees_is_not_read(hidden: str) -> None:
    """Words that a page hides from its readers do not reach the model."""
    assert text_of(f"<body><p>seen</p>{hidden}<p>too</p>") == "seen\n\ntoo"


def test_characters_that_nobody_sees() -> None:
    """Invisible characters carry no words either."""
    smuggled = "".join(chr(0xE0000 + ord(letter)) for letter in "unlock")
    assert text_of(f"<p>a{smuggled}b\u200bc\u202ed\u2066e\ufefff</p>") == "abcdef"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>a<p>b", "a\n\nb"),
        ("<b>a</p></b></i>b</html>c", "ab\nc"),
        ("<base href='https://other.com/x/'><a href=y>z</a>", "[z](https://other.com/x/y)"),
        ("<base href='javascript:1'><a href=y>z</a>", "[z](https://example.com/dir/y)"),
        ("<a href='mailto:x@y'>mail</a> <a>none</a> <a href='http://['>bad</a>", "mail none bad"),
        (f"<a href='/{'x' * 600}'>long</a>", "long"),
        ("<a href='/x' title='Next page'></a>", "[Next page](https://example.com/x)"),
        ("<ul><li><a href=/a>A</a></li><li></li></ul>", "- [A](https://example.com/a)\n-"),
        ("<ol start=3><li>a<ul><li>b</ul></ol>", "1. a\n  - b"),
        ("<a href=/x><ul><li>a</ul></a>", "[a](https://example.com/x)"),
        ("<td>loose</td><li>loose", "loose\n- loose"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "| 1 | 2 |\n| 3 |"),
        ("<table><tr><td>1<br>2<p>3</table>", "| 1 2 3 |"),
        ("<table><tr><td><table><tr><td>in</table><td>out</table>", "| in |\n\nout"),
        ("<h1></h1><h2>a</h2>", "# ## a"),
        ("a&nbsp;&amp;&lt;b&gt;&#x41;&bogus;", "a &<b>A&bogus;"),
        ("<p>a <b> b </b> c</p>", "a b c"),
        ("<p>a\rb\fc\td</p>", "a b c d"),
        ("<pre>a\r\n  b\n</pre>c", "a\n  b\n\n\nc"),
        ("<?xml version='1.0'?><p>x</p>", "x"),
        ("<![CDATA[x]]>y", "y"),
    ],
)
@pytest.mark.filterwarnings("ignore::bs4.XMLParsedAsHTMLWarning")
def test_odd_pages(html: str, text: str) -> None:
    """Whatever is written is read as well as it can be."""
    assert text_of(html) == text


@pytest.fixture
async def threads_end() -> AsyncGenerator[None]:
    """See that no thread goes on after its time is over."""
    yield
    for _ in range(60):
        # One step more than the thread itself, for the timer that looks after it.
        await asyncio.sleep(0.15)
        if not [thread for thread in threading.enumerate() if thread.name == "extended_assist web"]:
            return
    pytest.fail("The thread goes on")


def test_too_many_tags() -> None:
    """Of a page with more tags than are read, what comes first is read, and it is told that this is not all."""
    soup, cut = page.parse("<p>first</p>" + "<b>x" * page.MAX_TAGS + "<i>last</i>")
    assert cut
    assert len(soup.find_all("b")) < page.MAX_TAGS
    assert page.clean(soup.p.get_text()) == "first"
    assert soup.i is None


@in_one_home("name", ROBOTS)
async def test_robots(hass: HomeAssistant, threads_end: None, name: str) -> None:
    """Two megabytes of any kind are read in bounded time, or given up in time; the event loop goes on."""
    began = time.process_time()  # Not of the clock, since others may have the processor.

    def to_text(document: Document) -> str:
        return page.to_text(page.parse(document.text)[0], URL)

    try:
        text = await async_read(hass, answer(ROBOTS[name].encode()), to_text)
    except ToolError as err:
        assert "too complicated" in str(err)  # noqa: PT017 - either is right, on a slow machine
    else:
        assert len(text) <= page.MAX_TEXT
    assert time.process_time() - began < read.MAX_SECONDS + 1


# The package as a name without its content, most of which the parser does not need.
MEASURE = """
from pathlib import Path
import sys
from types import ModuleType
package = ModuleType("extended_assist")
package.__path__ = ["custom_components/extended_assist"]
sys.modules["extended_assist"] = package
from extended_assist.web import page
from tests.web.robots import ROBOTS

def most():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024

before = most()
for name in ("deep blocks", "flat", "huge table", "one tag with many attributes"):
    page.to_text(page.parse(ROBOTS[name])[0], "https://example.com/")
print(most() - before)
"""


async def test_robots_take_bounded_memory() -> None:
    """The memory for pages of two megabytes is bounded: measured in a process of its own, the parser's included."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", MEASURE, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert 10 < int(output) < 150


async def test_reading_is_ended(hass: HomeAssistant, threads_end: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes too long is ended, thread and all; others wait for it no longer."""
    monkeypatch.setattr(read, "MAX_SECONDS", 0.3)
    html = "<div>" * 40_000
    with pytest.raises(ToolError, match="too complicated"):
        await async_read(hass, answer(html.encode()), lambda document: _slow(document.text))
    assert await async_read(hass, answer(b"x"), lambda document: document.text) == "x"


async def test_nested_too_deeply(hass: HomeAssistant, threads_end: None) -> None:
    """What is too deep for the one who reads it is said."""

    def deeper(document: Document) -> Any:
        return deeper(document)

    with pytest.raises(ToolError, match="is nested too deeply to be read"):
        await async_read(hass, answer(b"x"), deeper)


def _slow(html: str) -> Any:
    """Select what climbs all parents of all elements, in a tree that is very deep."""
    return select(html, URL, [Wanted(selector="div div div div p, p div div", every=True)])


SHOP = """<h1 class=title>Shop</h1><ul id=list><li class="item new" data-id=7><a href="/a?b=1">Apple</a>
<span class=price>1,20 €</span></li><li class=item data-id=8><a href=b>Pear</a><span class=price>2,00&nbsp;€</span></li>
</ul><img src=/i.png><script type="application/ld+json">{"price": 3}</script>"""


@pytest.mark.parametrize(
    ("wanted", "matches", "values"),
    [
        (Wanted(selector=".price"), 2, ["1,20 €"]),
        (Wanted(selector=".price", every=True), 2, ["1,20 €", "2,00 €"]),
        (Wanted(selector="li.item > a", attribute="href", every=True), 2, [f"{URL[:-9]}/a?b=1", f"{URL[:-4]}b"]),
        (Wanted(selector="li", attribute="class"), 2, ["item new"]),
        (Wanted(selector="[data-id='8'] a"), 1, ["Pear"]),
        (Wanted(selector="li:nth-child(2) .price"), 1, ["2,00 €"]),
        (Wanted(selector="li:has(> a[href='b'])", attribute="data-id"), 1, ["8"]),
        (Wanted(selector="img", attribute="src"), 1, [f"{URL[:-9]}/i.png"]),
        (Wanted(selector="script"), 1, ['{"price": 3}']),
        (Wanted(selector="li", attribute="title", every=True), 2, [None, None]),
    ],
)
def test_selectors(wanted: Wanted, matches: int, values: list[str | None]) -> None:
    """Text or an attribute, of the first or all."""
    (found,), cut = select(SHOP, URL, [wanted])
    assert (found.matches, found.values, cut) == (matches, values, False)


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        (".prise", "No .prise there; similar: .price"),
        ("#lists li", "No #lists there; similar: #list"),
        ("table .price", "No table there"),
        ("h1 .price", "Its parts occur, but not together."),
        ("li[data-id='9']", "Its parts occur"),
    ],
)
def test_selectors_without_a_match(selector: str, hint: str) -> None:
    """What is like it is said."""
    ((found,), _) = select(SHOP, URL, [Wanted(selector=selector)])
    assert (found.matches, found.values) == (0, [])
    assert found.hint.startswith(hint)


def test_an_attribute_that_is_not_there() -> None:
    """What is there instead is said."""
    ((found,), _) = select(SHOP, URL, [Wanted(selector="li", attribute="href")])
    assert found.hint == "No 'href' there; the first has: class, data-id."


@pytest.mark.parametrize("selector", ["", ">", "li[", ":unknown", "a:", "li::before", "a,,b", "!", "((" * 100])
def test_what_is_no_selector(selector: str) -> None:
    """A wrong selector is named."""
    with pytest.raises(ToolError, match="is not a CSS selector"):
        select(SHOP, URL, [Wanted(selector=selector)])


DATA = {
    "current": {"temp": 4.5, "wind speed": 3, "a.b": 1},
    "list": [{"name": "x", "n": 1}, {"name": "y"}, {"other": 2}],
    "empty": [],
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$", DATA),
        ("", DATA),
        ("$.current.temp", 4.5),
        ("current.temp", 4.5),
        (".current.temp", 4.5),
        ("$['current']['wind speed']", 3),
        ('$.current["a.b"]', 1),
        ("$.list[0].name", "x"),
        ("$.list[-1]", {"other": 2}),
        ("$.list[*].name", ["x", "y"]),
        ("$.list.*.name", ["x", "y"]),
        ("$.current.*", [4.5, 3, 1]),
        ("$.none", None),
        ("list[1].name", "y"),
    ],
)
def test_paths(path: str, value: Any) -> None:
    """Members, items and all of them."""
    assert json_path.select(DATA, path) == value


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("$.curent", "There is no '.curent' in $, which has: current, list"),
        ("$.current.temperature", "There is no '.temperature' in $.current, which has: temp"),
        ("$.list[3]", "in $.list, which is a list of 3 items: use [0] to [2]"),
        ("$.list.name", "which is a list of 3 items"),
        ("$.current.temp.x", "in $.current.temp, which holds nothing"),
        ("$.empty[*].x", "in $.empty, which holds nothing"),
        ("$..name", "is not a path"),
        ("$.list[?(@.n==1)]", "is not a path"),
        ("$.list[0:2]", "is not a path"),
        ("$.list[", "is not a path"),
    ],
)
def test_paths_that_lead_nowhere(path: str, message: str) -> None:
    """Where it ends, and what is there."""
    with pytest.raises(ToolError) as error:
        json_path.select(DATA, path)
    assert message in str(error.value)


@settings(max_examples=300)
@given(st.text(alphabet="$.[]*'\"ab01- ", max_size=30))
def test_any_path_ends(path: str) -> None:
    """Any text is a path or an error."""
    with contextlib.suppress(ToolError):
        json_path.select({"a": [{"b": 1}], "b": {"a": 0}}, path)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<a href=x>",
                "</a>",
                "<table>",
                "<tr>",
                "<td>",
                "</td>",
                "</tr>",
                "</table>",
                "<ul>",
                "</ul>",
                "<li>",
                "</li>",
                "<pre>",
                "</pre>",
                "<h1>",
                "</h1>",
                "text",
                " ",
                "\n",
                "<br>",
                "<main>",
                "</main>",
                "<p hidden>",
                "</p>",
                "<b>",
                "</b>",
                "<svg>",
                "</svg>",
                "<td hidden>",
                "&amp;",
                "<!-- ",
                "-->",
                "<base href=/q/>",
                "\x00",
                "<",
            ]
        ),
        max_size=40,
    )
)
def test_any_page_is_read(pieces: list[str]) -> None:
    """Whatever the order of tags, there is a text, without breaks at its ends."""
    text = text_of("".join(pieces))
    assert text == text.strip()
