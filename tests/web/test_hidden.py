"""What a visitor of a page would not see is not read to the model; what they would see is."""

import json
import time

import pytest

from custom_components.extended_assist.web import page, read
from custom_components.extended_assist.web.fetch import FetchedResponse
from custom_components.extended_assist.web.page import seen
from custom_components.extended_assist.web.read import decode, parse_json
from custom_components.extended_assist.web.select import Wanted, select
from tests.attacks.hidden import INVISIBLE, WORDS, in_joiners, pages, tagged

URL = "https://example.com/"


def text_of(html: str) -> str:
    """Return the text of a page."""
    return page.to_text(page.parse(html)[0], URL)


def test_hidden_words() -> None:
    """In no way, and without losing the rest."""
    every = list(pages())
    assert len(every) > 300
    assert [html for html in every if WORDS in text_of(html)] == []
    assert [html for html in every if "seen" not in text_of(html)] == []


def test_hidden_words_in_what_is_selected() -> None:
    """Selectors read what is seen as well."""
    through = []
    for html in pages():
        found, _ = select(html, URL, [Wanted(selector="html"), Wanted(selector=".x"), Wanted(selector="div")])
        through += [html for each in found if any(WORDS in (value or "") for value in each.values)]
    assert through == []


@pytest.mark.parametrize(
    "html",
    [
        "<p style='color:#333'>WORDS</p>",
        "<p style='color:oklch(0.2 0 0);letter-spacing:-1px;filter:blur(1px)'>WORDS</p>",
        "<p style='color:hwb(0 10% 80%);-webkit-text-fill-color:color(srgb 0.1 0.1 0.1 / 90%)'>WORDS</p>",
        "<p style='color:lab(20 5 5);zoom:.9;text-indent:2em;overflow:hidden;contain:content'>WORDS</p>",
        "<p style='color:lab(a);transform:scale(.9) rotate(90deg);clip:rect(0,90px,90px,0)'>WORDS</p>",
        "<p style='--d:block;display:var(--d, none)'>WORDS</p>",
        "<style>:root{--c:#222}</style><p style='color:var(--c)'>WORDS</p>",
        "<style>.x{color:#222;&.y{display:none}.z &{display:none}@media print{display:none}}</style><p class=x>WORDS</p>",
        "<style>"
        + "a{" * 40
        + "}" * 40
        + "p:not(.x,.y):is(a,b){display:none}:not(:hover){color:red}</style><p>WORDS</p>",
        "<style>@keyframes k{from{opacity:0}}@font-face{x:y}.y:hover{.x{display:none}}</style><p class=x>WORDS</p>",
        "<p style='color:white;background:#123'>WORDS</p>",
        "<div style='background:url(a.png)'><p style='color:#fff'>WORDS</p></div>",
        "<div style='background:linear-gradient(red, blue)'><p style='color:white'>WORDS</p></div>",
        "<p style='font-size:12px;opacity:.9;line-height:0'>WORDS</p>",
        "<p style='margin:-10px;text-indent:2em;left:-5px;position:relative'>WORDS</p>",
        "<div style='height:0'>WORDS</div>",
        "<div style='overflow:hidden;height:100px;width:0.5em'>WORDS</div>",
        "<details open><summary>x</summary>WORDS</details>",
        "<details><summary>WORDS</summary>x</details>",
        "<dialog open>WORDS</dialog>",
        "<style>.x{display:none}.x.open{display:block}</style><div class='x open'>WORDS</div>",
        "<style>div{display:none}#a{display:block}</style><div id=a>WORDS</div>",
        "<style>.x{display:none}</style><div class=x style='display:block'>WORDS</div>",
        "<style>@media print{.x{display:none}}</style><div class=x>WORDS</div>",
        "<style>@media (max-width:600px){.x{display:none}}</style><div class=x>WORDS</div>",
        "<style>.x::before{display:none}a:hover{display:none}</style><a class=x>WORDS</a>",
        "<style media=print>.x{display:none}</style><div class=x>WORDS</div>",
        "<style>.x{transform:translate(-50%,-50%);left:50%;position:absolute}</style><div class=x>WORDS</div>",
        "<p hidden style='display:block'>WORDS</p>",
    ],
)
def test_what_is_seen(html: str) -> None:
    """Nothing that a visitor sees is lost."""
    assert WORDS in text_of(html.replace("WORDS", WORDS))


def test_invisible_characters() -> None:
    """Anywhere in text, keys of JSON and feeds, raw or escaped; scripts and emoji that need joiners stay."""
    for hidden in (*INVISIBLE, tagged(WORDS), in_joiners(WORDS), "\u200b" + in_joiners("x") + "\ufe0f" * 4):
        assert seen(f"a{hidden}b") == "ab"
        for media_type, body in (
            ("text/plain", f"a{hidden}b"),
            ("application/json", json.dumps({f"a{hidden}b": f"a{hidden}b"})),
            ("application/json", json.dumps({f"a{hidden}b": f"a{hidden}b"}, ensure_ascii=False)),
            ("application/rss+xml", f"<rss><title>a{hidden}b</title></rss>"),
        ):
            document = decode(
                FetchedResponse(
                    url=URL,
                    status=200,
                    media_type=media_type,
                    charset=None,
                    length=None,
                    compression="",
                    body=body.encode(),
                )
            )
            text = json.dumps(parse_json(document, URL)) if "json" in media_type else document.text
            assert "ab" in text
            assert hidden not in text
    for honest in ("👩‍👩‍👧 ❤️ 1️⃣", "می‌خواهم", "क्‍ष", "Größe\t€\n"):
        assert seen(honest) == honest


def test_feeds() -> None:
    """Pages in a feed are read as pages, and its comments not at all."""
    hidden = f"<p>News</p><p style='display:none'>{WORDS}</p>"
    escaped = hidden.replace("<", "&lt;")
    feed = (
        f"<?xml version='1.0'?><?x {WORDS}?><rss><!-- {WORDS} --><item><title>One</title><description><![CDATA[{hidden}]]></description>"
        f"<content>{escaped}</content></item></rss>"
    )
    text = page.feed_text(feed)
    assert WORDS not in text
    assert text.count("News") == 2
    assert "<title>One</title>" in text


def test_large_sheets_take_no_time() -> None:
    """A page of many rules and elements is read within what a page may take."""
    rules = "".join(f".a{number} .b, div > .c{number}:not(.d){{display:none}}" for number in range(5_000))
    html = f"<style>{rules}{'{' * 5_000}</style>" + "<div class='b c1' style='color:#111'><p>x</p></div>" * 8_000
    begin = time.monotonic()
    text_of(html)
    assert time.monotonic() - begin < 4 * read.MAX_SECONDS


@pytest.mark.parametrize(
    ("style", "is_read"),
    [
        (".x { display: none !important } .x { display: block }", False),
        (".x { display: none } .x { display: block !important }", True),
        ("@media not print { .x { display: none } }", False),
        ("@media not screen { .x { display: none } }", True),
        ("a:::b { display: none }", True),
        ("@font-face { font-family: y; .x { display: none }", True),
        (".x { background-image: url(y.png); color: white }", True),
        (".x { color: rgb(1, 2) }", True),
        (".x { color: nothing }", True),
        (".x { color: hsl(120, 100%, 100%) }", False),
        (r".x { d\69splay: none }", False),
    ],
)
def test_style_sheets(style: str, is_read: bool) -> None:
    """What a style sheet says, as a browser reads it; what cannot be read says nothing."""
    text = text_of(f"<style>{style}</style><p>seen</p><p class=x>words</p>")
    assert ("words" in text) is is_read
