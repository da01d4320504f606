"""What a page marks as hidden is not read; everything else is, shown or not."""

import json

import pytest

from custom_components.extended_assist.web import page
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
    assert len(every) > 40
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
        "<p style='--display:none'>WORDS</p>",
        "<p style='display:nonesuch'>WORDS</p>",
        "<p aria-hidden=false>WORDS</p>",
        "<style>.x{display:none}</style><div class=x>WORDS</div>",
        "<details><summary>x</summary>WORDS</details>",
        "<dialog>WORDS</dialog>",
        "<p popover>WORDS</p>",
    ],
)
def test_what_is_seen(html: str) -> None:
    """Nothing that a visitor sees is lost, and a page must mark what is hidden."""
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
