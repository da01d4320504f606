"""Which of Home Assistant's functions, filters and tests are available, by name.

What Home Assistant offers and is not listed, now or in a later version, does not exist in these templates.
"""


def _words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# These read the clock alone, though Home Assistant ties them to itself.
CLOCK = _words("relative_time time_since time_until timedelta_string today_at")

PURE_GLOBALS = CLOCK | _words("""
    acos apply as_datetime as_function as_local as_timedelta as_timestamp asin atan atan2 average bitwise_and bitwise_or
    bitwise_xor bool clamp combine cos cycler dict difference e flatten float iif int intersect is_number joiner log max
    md5 median merge_response min namespace pi range remap set sha1 sha256 sha512 shuffle sin slugify sqrt
    statistical_mode strptime symmetric_difference tan tau timedelta tuple typeof union urlencode version wrap zip
""")

PURE_FILTERS = CLOCK | _words("""
    abs acos add apply as_datetime as_function as_local as_timedelta as_timestamp asin atan atan2 attr average
    base64_decode base64_encode batch bitwise_and bitwise_or bitwise_xor bool capitalize center clamp combine contains cos
    count d default dictsort difference e escape filesizeformat first flatten float forceescape format from_hex from_json
    groupby iif indent int intersect is_defined is_number items join last length list log lower map max md5 median min
    multiply ord ordinal pprint random reject rejectattr remap replace reverse round safe select selectattr sha1
    sha256 sha512 shuffle sin slice slugify sort sqrt statistical_mode string striptags sum symmetric_difference tan
    timestamp_custom timestamp_local timestamp_utc title to_json tojson trim truncate typeof union unique upper
    urlencode urlize version wordcount wordwrap wrap xmlattr
""")

OWN_GLOBALS = _words("now pack states unpack utcnow")
OWN_FILTERS = _words("pack regex_findall regex_findall_index regex_match regex_replace regex_search unpack")
OWN_TESTS = _words("match search")
"""What is ours in place of Home Assistant's, beside the functions for what is in the home."""

PURE_TESTS = _words("""
    != < <= == > >= apply boolean callable contains datetime defined divisibleby eq equalto escaped even false filter
    float ge greaterthan gt in integer is_number iterable le lessthan list lower lt mapping ne none number odd sameas
    sequence set string string_like test true tuple undefined upper
""")

_REPAIRS = "Repairs tell of what is not exposed too; the user finds them under Settings > System > Repairs."
LEFT_OUT = {
    "issue": _REPAIRS,
    "issues": _REPAIRS,
    "lipsum": "It only makes filler text.",
}
"""What Home Assistant has and these templates have not, with the reason, which is told to who uses it."""
