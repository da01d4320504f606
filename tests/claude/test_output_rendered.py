"""What an answer leads to, as Home Assistant's own frontend renders it: nothing but pages and pictures of the home that do nothing."""

from html.parser import HTMLParser
import json
from pathlib import Path
import subprocess
from typing import override

import hass_frontend
from playwright._impl._driver import compute_driver_executable
import pytest

from custom_components.extended_assist.claude.output_filter import shown
from tests.attacks.answers import OTHER_WAYS, OWN_LOOKING, answers
from tests.claude.test_output_filter import OWN

RENDERER = Path(__file__).parent / "markdown.mjs"
TEXT_ONLY = frozenset({"align", "alt", "class", "colspan", "lang", "rowspan", "start", "title"})
"""Attributes that hold no address."""


class Addresses(HTMLParser):
    """Notes each value of an attribute that may be an address."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.found: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if value and name not in TEXT_ONLY]


def rendered(texts: list[str]) -> list[str]:
    """Return texts as the worker of the frontend renders them, in the Node.js that Playwright brings along."""
    (worker,) = (Path(hass_frontend.where()) / "frontend_latest").glob("markdown-worker.*.js")
    node, _ = compute_driver_executable()
    run = subprocess.run(
        [node, RENDERER, worker], input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=60
    )
    html: list[str] = json.loads(run.stdout)
    return html


def addresses(html: str) -> list[str]:
    """Return the addresses in what was rendered."""
    parser = Addresses()
    parser.feed(html)
    return parser.found


@pytest.fixture(scope="module")
def attacks() -> list[str]:
    """Return all attempts."""
    return list(dict.fromkeys(answers()))


def test_the_renderer_makes_addresses(attacks: list[str]) -> None:
    """Without the filter, most lead somewhere, each way that looks like the home's own too."""
    made = [addresses(html) for html in rendered(attacks)]
    assert len(attacks) > 1_000
    assert sum(map(bool, made)) > len(made) * 0.6
    own = rendered([f"[x]({address})" for address in OWN_LOOKING])
    assert sum(bool(addresses(html)) for html in own) > len(own) * 0.9
    assert sum(bool(addresses(html)) for html in rendered([f"[x]({one}) {one}" for one in OTHER_WAYS])) > 10


def test_nothing_leads_out(attacks: list[str]) -> None:
    """After the filter, the frontend makes no address but of the home's own harmless pages and pictures."""
    through = [
        (attack, address)
        for attack, html in zip(attacks, rendered([shown(attack) for attack in attacks]), strict=True)
        for address in addresses(html)
        if not OWN.fullmatch(address)
    ]
    assert through == []


def test_what_may_be_shown_is_rendered() -> None:
    """The home's own pages and pictures, and links that were asked for, still lead there."""
    link = "https://example.com/a"
    texts = ["[x](/config/devices)", "![x](/api/camera_proxy/camera.door?authSig=a.b-_c)", f"[x]({link}) {link}"]
    found = [addresses(html) for html in rendered([shown(one, {link}) for one in texts])]
    assert found == [["/config/devices"], ["/api/camera_proxy/camera.door?authSig=a.b-_c"], [link, link]]
