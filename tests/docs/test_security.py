"""What the pages on security say of tiers, limits and numbers of attempts is what the code has."""

import re
import sqlite3

import pytest

from custom_components.extended_assist.actions.conditions import MAX_DEPTH as SEQUENCE_DEPTH
from custom_components.extended_assist.actions.sequences import MAX_STEPS
from custom_components.extended_assist.actions.text_check import MAX_SIZE as SEQUENCE_SIZE
from custom_components.extended_assist.calls.journal import MAX_ALL_STATES, MAX_CHANGES
from custom_components.extended_assist.calls.policy import DEFAULT_ASK_FIRST, DEFAULT_WHO_MAY, Speaker, Tier
from custom_components.extended_assist.confirmation.question import ANSWER_TIME
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from custom_components.extended_assist.recorder.query import FRESH_SECONDS, MAX_FILLED, MAX_ROWS, TIME_LIMIT
from custom_components.extended_assist.templates import limits, render
from custom_components.extended_assist.tools import CATALOGUE
from custom_components.extended_assist.web import conversation, fetch, page, read as reading
from custom_components.extended_assist.worker import limits as worker_limits, private_database, tables as worker_tables
from tests.attacks import actions, addresses, queries

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
    f"A query ends after {TIME_LIMIT:.0f} seconds; it returns at most {MAX_ROWS:,} rows",
    f"more than {MAX_FILLED:,} rows, the call is refused",
    f"{worker_limits.MEMORY // 2**20} MB of memory, one file of at most {worker_limits.FILE // 2**20} MB",
    f"in memory, at most {private_database.HEAP // 2**20} MB of it",
    f"lies in memory up to {private_database.CACHE // 2**20} MB",
    f"| Redirects | At most {fetch.MAX_REDIRECTS}",
)


@pytest.mark.parametrize("page_name", [SECURITY, PROOFS, "README.md"])
def test_files(page_name: str) -> None:
    """Files that are named are there, in the checkout or in the package."""
    named = re.findall(r"`((?:[\w.]+/)*[\w]+(?:\.py|/))`|`(tests/[\w/]+)`", read(page_name))
    package = ROOT / "custom_components" / "extended_assist"
    folders = (ROOT, package, package / "recorder")
    assert named
    assert [
        name for found in named if not any((folder / (name := found[0] or found[1])).exists() for folder in folders)
    ] == []


def test_what_went_through() -> None:
    """Each row of what was tried names tests, and these are there."""
    (table,) = tables(PROOFS, "What went through in 1.0.0")
    for what, tests in table[1:]:
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
        assert named, what
        for file, test in named:
            assert f"def {test}(" in (ROOT / file).read_text(), (file, test)


def test_tiers() -> None:
    """Each tier is told with who may use it at first."""
    (tiers, _) = tables(SECURITY, "Who may do what")
    listed = {row[0]: row[2] for row in tiers[1:]}
    assert listed.keys() == {tier.name.lower() for tier in Tier}
    assert {tier: listed[tier.name.lower()].partition(",")[0] for tier in Tier} == {
        tier: SPEAKERS[DEFAULT_WHO_MAY[tier]] for tier in Tier
    }


def test_permissions() -> None:
    """Each tool has a row, which says of it what the tool declares; what does more than it says is a hole."""
    ((head, *rows),) = tables(SECURITY, "What each tool may do")
    told = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["tool"].strip("`") for row in told] == [
        tool.name.removeprefix("extended_assist__") for tool in CATALOGUE
    ]
    for row, tool in zip(told, CATALOGUE, strict=True):
        assert row == permissions(tool), tool.name


def permissions(tool: type[ExtendedTool]) -> dict[str, str]:
    """Return the row of a tool."""
    name, yes = tool.name.removeprefix("extended_assist__"), {True: "yes", False: "no"}
    declared = tool.annotations
    assert declared.read_only is (tool.tier is Tier.READ)
    return {
        "tool": f"`{name}`",
        "family": tool.family,
        "tier": tool.tier.name.lower(),
        "takes away": yes[declared.destructive],
        "twice is once": yes[declared.idempotent],
        "reaches outside": yes[declared.open_world],
        "asks first": yes[name in DEFAULT_ASK_FIRST],
        "words of others": yes[tool.brings_outside_text],
    }


def test_time_to_agree() -> None:
    """The minutes in which a yes counts."""
    assert ANSWER_TIME == 5 * 60
    assert "within five minutes" in prose(SECURITY)


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
    connection = sqlite3.connect(":memory:")
    connection.executescript(worker_tables.schema())
    assert told == {name: tuple(row[1] for row in connection.execute(f"PRAGMA table_info({name})")) for name in told}
    assert told.keys() == {*worker_tables.ROW_TABLES, *worker_tables.META_VALUES, worker_tables.ATTRIBUTES}
    connection.close()
    assert FRESH_SECONDS == 60
    assert "a copy serves further questions for a minute" in prose(PROOFS)


def test_numbers_of_attempts() -> None:
    """There are as many attempts as the page says, and their files are there."""
    text = read(PROOFS)
    for words, count in (
        (r"more than (\d+) attempts", len(actions.ALL) + len(actions.LISTED)),
        (r"more than (\d+) queries", len(queries())),
        (r"more than (\d+) addresses and names", len(addresses.LITERALS) + len(addresses.NAMES)),
    ):
        told = re.search(words, text)
        assert told, words
        assert count > int(told[1]), words
