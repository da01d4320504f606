"""The names in templates: available functions, filters and tests, and the entities that constants name."""

from collections.abc import Mapping

from jinja2 import nodes

from homeassistant.core import valid_entity_id


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
"""Our own replacements of Home Assistant's, beside the functions for the home."""

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
"""Home Assistant's functions that are not available here, with the reason for the model."""


def named_entities(tree: nodes.Template) -> frozenset[str]:
    """Return the entities that a template names: constants that are ids, and `states.domain.name`."""
    texts = [node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)]
    for node in tree.find_all(nodes.Expr):
        owner = getattr(node, "node", None)
        match [*map(_name, (node, owner, getattr(owner, "node", None)))]:
            case [str() as name, str() as domain, "states"]:
                texts.append(f"{domain}.{name}")
            case [str() as entity_id, "states", _]:
                texts.append(entity_id)
    return frozenset(text for text in (text.strip().lower() for text in texts) if valid_entity_id(text))


def put_in(tree: nodes.Node, constants: Mapping[str, str]) -> None:
    """Replace variables with a known constant text by that text, except those that the template sets itself."""
    if not constants:
        return
    known = constants.keys() - {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    for node in [tree, *tree.find_all(nodes.Node)]:
        for key, value in list(node.iter_fields()):
            put = [
                nodes.Const(constants[item.name], lineno=item.lineno)
                if isinstance(item, nodes.Name) and item.name in known
                else item
                for item in (value if isinstance(value, list) else [value])
            ]
            setattr(node, key, put if isinstance(value, list) else put[0])


def _name(node: nodes.Node | None) -> str | None:
    """Return the name of an expression, or the constant key of a part."""
    match node:
        case nodes.Name(name=str() as name) | nodes.Getattr(attr=str() as name):
            return name
        case nodes.Getitem(arg=nodes.Const(value=str() as name)):
            return name
    return None
