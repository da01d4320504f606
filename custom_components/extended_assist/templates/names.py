"""Which of Home Assistant's functions, filters and tests are available, by name.

What Home Assistant offers and is not listed, now or in a later version, does not exist in these templates.
"""


def _words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# These read the clock alone, though Home Assistant ties them to itself.
CLOCK = _words("now relative_time time_since time_until timedelta_string today_at utcnow")

PURE_GLOBALS = CLOCK | _words("""
    acos apply as_datetime as_function as_local as_timedelta as_timestamp asin atan atan2 average bitwise_and bitwise_or
    bitwise_xor bool clamp combine cos cycler dict difference e flatten float iif int intersect is_number joiner log max
    median merge_response min namespace pi range remap set shuffle sin slugify sqrt statistical_mode strptime
    symmetric_difference tan tau timedelta tuple typeof union urlencode version wrap zip
""")

PURE_FILTERS = (CLOCK - {"now", "utcnow"}) | _words("""
    abs acos add apply as_datetime as_function as_local as_timedelta as_timestamp asin atan atan2 average batch
    bitwise_and bitwise_or bitwise_xor bool capitalize clamp combine contains cos count d default dictsort difference
    filesizeformat first flatten float format from_json groupby iif indent int intersect is_defined is_number items join
    last length list log lower map max median min multiply ord ordinal random regex_findall regex_findall_index
    regex_match regex_replace regex_search reject rejectattr remap replace reverse round select selectattr shuffle sin
    slice slugify sort sqrt statistical_mode string sum symmetric_difference tan timestamp_custom timestamp_local
    timestamp_utc title to_json tojson trim truncate typeof union unique upper urlencode version wordcount wrap
""")

PURE_TESTS = _words("""
    != < <= == > >= apply boolean callable contains datetime defined divisibleby eq equalto even false filter float ge
    greaterthan gt in integer is_number iterable le lessthan list lower lt mapping match ne none number odd sameas search
    sequence set string string_like test true tuple undefined upper
""")
