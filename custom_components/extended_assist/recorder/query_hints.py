"""What to write instead, where a query is in the words of another engine than SQLite."""

import re
from typing import Final

_NO_FUNCTION: Final = re.compile(r"no such function: (\w+)")
_NO_COLUMN: Final = re.compile(r"no such column: ")
_STATISTIC: Final = "sqrt(avg(x * x) - avg(x) * avg(x))"
_PARTS: Final = (
    "Parts of a moment: strftime('%H', last_updated); %Y year, %m month, %d day, %H hour, %w weekday with 0 = Sunday"
)
_NOW: Final = "unixepoch() is now in seconds, datetime('now', 'localtime') as local text"
_SPANS: Final = "Spans: last_updated_ts > unixepoch() - 86400, or datetime('now', '-1 day')"
_FUNCTIONS: Final = {
    "array_agg": "group_concat(x, ',') makes a list",
    "char_length": "The length of a text is length(x)",
    "curdate": "Today is date('now', 'localtime')",
    "curtime": _NOW,
    "date_add": _SPANS,
    "date_diff": "Subtract *_ts: seconds",
    "date_format": _PARTS,
    "date_part": _PARTS,
    "date_sub": _SPANS,
    "date_trunc": "Cut moments with strftime('%Y-%m-%d %H:00', last_updated), or date(last_updated, 'start of month')",
    "dateadd": _SPANS,
    "datediff": "Subtract *_ts: seconds",
    "datepart": _PARTS,
    "day": _PARTS,
    "dayofweek": _PARTS,
    "dayname": _PARTS,
    "extract": _PARTS,
    "from_unixtime": "datetime(x, 'unixepoch', 'localtime') is the local time of seconds; last_updated and start have it already",
    "getdate": _NOW,
    "greatest": "The largest of some values is max(a, b)",
    "hour": _PARTS,
    "isnull": "Write ifnull(x, y) or x IS NULL",
    "json_agg": "json_group_array(x) makes a list",
    "json_unquote": "x ->> '$.name' reads an attribute without quotes",
    "json_value": "x ->> '$.name' reads an attribute",
    "least": "The smallest of some values is min(a, b)",
    "left": "The beginning of a text is substr(x, 1, n)",
    "len": "The length of a text is length(x)",
    "locate": "The place of a text is instr(text, part)",
    "median": "Without median(): order the values and take the middle row with LIMIT 1 OFFSET",
    "minute": _PARTS,
    "month": _PARTS,
    "now": _NOW,
    "percentile_cont": "Without percentiles: ntile(100) OVER (ORDER BY x)",
    "position": "The place of a text is instr(text, part)",
    "quarter": _PARTS,
    "regexp": "Patterns: LIKE '%a%' (letters alike), or GLOB '*[0-9]*'",
    "regexp_like": "Patterns: LIKE '%a%' (letters alike), or GLOB '*[0-9]*'",
    "right": "The end of a text is substr(x, -n)",
    "split_part": "Parts of a text: substr(x, 1, instr(x, '.') - 1)",
    "std": f"Standard deviation: {_STATISTIC}",
    "stddev": f"Standard deviation: {_STATISTIC}",
    "stddev_pop": f"Standard deviation: {_STATISTIC}",
    "stddev_samp": f"Standard deviation: {_STATISTIC}",
    "strpos": "The place of a text is instr(text, part)",
    "sysdate": _NOW,
    "timestampdiff": "Subtract *_ts: seconds",
    "to_char": _PARTS,
    "to_timestamp": "datetime(x, 'unixepoch', 'localtime') is the local time of seconds; last_updated and start have it already",
    "truncate": "round(x, n), or CAST(x AS INTEGER)",
    "unix_timestamp": "unixepoch() is now in seconds",
    "utc_timestamp": "datetime('now') is UTC",
    "variance": "Variance: avg(x * x) - avg(x) * avg(x)",
    "week": _PARTS,
    "weekday": _PARTS,
    "year": _PARTS,
}
_WORDS: Final = (
    (re.compile(r"\bINTERVAL\b", re.IGNORECASE), _SPANS),
    (re.compile(r"\bEXTRACT\s*\(", re.IGNORECASE), _PARTS),
    (re.compile(r"::"), "Cast with CAST(x AS REAL)"),
    (re.compile(r"\bILIKE\b", re.IGNORECASE), "LIKE takes capital and small letters as the same"),
    (
        re.compile(r"\bDISTINCT\s+ON\b", re.IGNORECASE),
        "Newest of each: SELECT …, max(last_updated_ts) … GROUP BY entity_id",
    ),
    (re.compile(r"\bTOP\s+\d", re.IGNORECASE), "Write LIMIT at the end"),
    (re.compile(r"\bSEPARATOR\b|\bSTRING_AGG\b|\bWITHIN\s+GROUP\b", re.IGNORECASE), "Lists: group_concat(x, ', ')"),
    (
        re.compile(r"\bAT\s+TIME\s+ZONE\b", re.IGNORECASE),
        "last_updated, last_changed and start are local times already",
    ),
    (re.compile(r"\b(?:DIV|XOR)\b", re.IGNORECASE), "Whole numbers divide as whole numbers: CAST(a / b AS INTEGER)"),
    (
        re.compile(r"\b(?:RLIKE|REGEXP|SIMILAR)\b|~", re.IGNORECASE),
        "Patterns: LIKE '%a%' (letters alike), or GLOB '*[0-9]*'",
    ),
)
_TABLES: Final = "states, states_meta, state_attributes, statistics, statistics_short_term, statistics_meta"
_COLUMNS: Final = "PRAGMA table_info(states) lists the columns of a table"
_READING: Final = "Only SELECT is allowed"


def hint(problem: str, query: str) -> str:
    """Return a sentence that says SQLite's form of what was meant, with a space before it, or nothing."""
    found = None
    if match := _NO_FUNCTION.match(problem):
        found = _FUNCTIONS.get(match[1].lower())
    elif problem.startswith("no such table"):
        found = f"Tables: {_TABLES}"
    elif _NO_COLUMN.match(problem) and "single-quotes" not in problem:
        found = _COLUMNS
    elif "syntax error" in problem or "unrecognized token" in problem:
        found = next((words for pattern, words in _WORDS if pattern.search(query)), None)
    elif problem.startswith(("not authorized", "access to", "cannot modify")) or "no result" in problem:
        found = _READING
    return f" This is SQLite. {found}." if found else ""
