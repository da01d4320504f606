"""What the pages on security say of tiers, limits and numbers of attempts is what the code has."""

import re

import pytest

from custom_components.extended_assist.actions.conditions import MAX_DEPTH as SEQUENCE_DEPTH
from custom_components.extended_assist.actions.sequences import MAX_STEPS
from custom_components.extended_assist.actions.texts import MAX_SIZE as SEQUENCE_SIZE
from custom_components.extended_assist.journal import MAX_ALL_STATES, MAX_CHANGES
from custom_components.extended_assist.policy import CONFIRMATION_TIME, DEFAULT_WHO_MAY, Speaker, Tier
from custom_components.extended_assist.recorder.query import MAX_ROWS
from custom_components.extended_assist.recorder.views import COLUMNS
from custom_components.extended_assist.templates import limits, render
from custom_components.extended_assist.tools import CATALOGUE
from custom_components.extended_assist.web import conversation, fetch, page, read as reading
from tests.attacks import actions, addresses, mariadb, oracles, postgresql, shared, sqlite

from .pages import ROOT, prose, read, tables

SECURITY, PROOFS = "docs/security.md", "docs/security-proofs.md"
SPEAKERS = {Speaker.ANYONE: "anyone", Speaker.USER: "users", Speaker.ADMIN: "administrators"}
LIMITS = {
    "What a template may use up": {
        "The template": f"{render.MAX_TEMPLATE:,} characters",
        "The result": f"{limits.MAX_OUTPUT // 1024} KiB",
        "One value, written out": f"{limits.MAX_SIZE:,} characters",
        "All values together": f"about {limits.MAX_TOTAL // 1_000_000} MB",
        "Lists inside each other": f"{limits.MAX_DEPTH}",
        "Whole numbers": f"{limits.MAX_BITS} bits",
        "Widths, counts, precisions": f"{limits.MAX_WIDTH:,}",
        "Formats of dates, and texts read as dates or versions": f"{limits.MAX_FORMAT} characters",
    },
    "What an answer may use up": {
        "A request, with look-up and redirects": f"{fetch.MAX_SECONDS:.0f} seconds",
        "A body, before and after decompression": f"{fetch.MAX_BODY // 1_000_000} MB",
        "Tags of a page that are read": f"{page.MAX_TAGS:,}",
        "Reading a document": f"{reading.MAX_SECONDS:.0f} seconds",
        "Requests at once": f"{fetch.AT_ONCE}",
        "Requests of one conversation": f"{conversation.MAX_REQUESTS} in {conversation.RATE_SECONDS / 60:.0f} minutes",
        "Texts kept for reading on": f"{conversation.MAX_KEPT}, of at most {page.MAX_TEXT:,} characters",
    },
}
SENTENCES = (
    f"ended after {render.TIME_LIMIT:.0f} seconds",
    f"At most {MAX_STEPS} steps, {SEQUENCE_DEPTH} levels, {SEQUENCE_SIZE:,} characters",
    f"of the last {MAX_CHANGES} changes and {MAX_ALL_STATES:,} entities at most",
    f"from before each of the last {MAX_CHANGES} changes",
    f"it returns at most {MAX_ROWS:,} rows",
    f"| Redirects | At most {fetch.MAX_REDIRECTS}",
)


@pytest.mark.parametrize("page_name", [SECURITY, PROOFS, "README.md"])
def test_files(page_name: str) -> None:
    """Files that are named are there, in the checkout or in the package."""
    named = re.findall(r"`((?:[\w.]+/)*[\w]+(?:\.py|/))`|`(tests/[\w/]+)`", read(page_name))
    package = ROOT / "custom_components" / "extended_assist"
    folders = (ROOT, package, package / "recorder", package / "recorder" / "sql")
    assert named
    assert [
        name for found in named if not any((folder / (name := found[0] or found[1])).exists() for folder in folders)
    ] == []


def test_tiers() -> None:
    """Each tool stands in the row of its tier, with who may use it at first."""
    (tiers, _) = tables(SECURITY, "Who may do what")
    listed = {row[0]: (set(re.findall(r"`(\w+)`", row[1])), row[2]) for row in tiers[1:]}
    assert listed.keys() == {tier.name.lower() for tier in Tier}
    for tier in Tier:
        tools, who = listed[tier.name.lower()]
        assert tools == {tool.name.removeprefix("extended_assist__") for tool in CATALOGUE if tool.tier is tier}
        assert who.partition(",")[0] == SPEAKERS[DEFAULT_WHO_MAY[tier]]


def test_time_to_agree() -> None:
    """The minutes in which a yes counts."""
    assert CONFIRMATION_TIME == 3 * 60
    assert "no more than three minutes" in prose(SECURITY)


@pytest.mark.parametrize("heading", LIMITS)
def test_limits(heading: str) -> None:
    """The limits that are listed are those of the code."""
    (table,) = tables(PROOFS, heading)
    told = {row[0]: row[1] for row in table[1:]}
    for what, limit in LIMITS[heading].items():
        assert re.match(rf"{re.escape(limit)}(?![\d.])", told[what]), (what, limit)


def test_limits_in_sentences() -> None:
    """So are those that stand in a sentence."""
    text = " ".join(prose(PROOFS).split())
    assert [sentence for sentence in SENTENCES if sentence not in text] == []


def test_columns() -> None:
    """The tables and columns that a query reaches."""
    (table,) = [each for each in tables(PROOFS, "What it can reach") if each[0] == ["table", "columns"]]
    told = {name: tuple(re.findall(r"`(\w+)`", row[1])) for row in table[1:] for name in re.findall(r"`(\w+)`", row[0])}
    assert told == COLUMNS


def test_numbers_of_attempts() -> None:
    """There are as many attempts as the page says, and their files are there."""
    text = read(PROOFS)
    per_engine = [
        len(shared.REFUSED)
        + len(shared.CONTAINED)
        + len(engine.REFUSED)
        + len(engine.CONTAINED)
        + len(oracles.of(name))
        for name, engine in (("sqlite", sqlite), ("postgresql", postgresql), ("mariadb", mariadb))
    ]
    for words, count in (
        (r"more than (\d+) attempts", len(actions.ALL) + len(actions.LISTED)),
        (r"more than (\d+) queries per engine", min(per_engine)),
        (r"more than (\d+) addresses and names", len(addresses.LITERALS) + len(addresses.NAMES)),
    ):
        told = re.search(words, text)
        assert told, words
        assert count > int(told[1]), words
