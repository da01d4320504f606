"""Bodies, queries and addresses are built: what a model gives is a value in them, and honest templates do what they say."""

from collections.abc import Callable
import json
from random import Random
import sqlite3
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs
from xml.dom import minidom

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import yaml

from custom_components.extended_assist.const import CONF_WEB_PORTS
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.functions.address import to_address, to_header
from custom_components.extended_assist.functions.base import FunctionRun
from custom_components.extended_assist.functions.payload import to_payload
from custom_components.extended_assist.functions.rendering import Value, async_render_pieces
from custom_components.extended_assist.functions.sqlite import to_sql
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.web import guard
from homeassistant.core import HomeAssistant
from tests.web.conftest import names as names_fixture
from tests.web.site import Names

from .conftest import Ask, Install
from .test_injection import written

names = names_fixture


def xml_texts(body: str) -> list[Any]:
    """Return what XML says, tag by tag."""
    found: list[Any] = []
    nodes: list[Any] = [minidom.parseString(body.encode())]  # noqa: S318
    while nodes:
        node = nodes.pop()
        nodes += node.childNodes or ()
        found.append(
            (node.nodeName, sorted(dict(node.attributes.items()).items()) if node.attributes else node.nodeValue)
        )
    return sorted(map(str, found))


def cdata_texts(body: str) -> list[str]:
    """Return the texts right in the only element of XML."""
    document = minidom.parseString(body.encode())  # noqa: S318
    return [node.data for node in document.documentElement.childNodes]


def unescaped(body: str) -> str:
    """Return a text in quotes as its reader takes it."""
    return str(json.loads(f'"{body}"'))


BODIES: dict[str, tuple[str, str, Callable[[str], Any], Callable[[str], Any]]] = {
    "json": ("", '{"name": "§", "role": "user"}', json.loads, lambda x: {"name": x, "role": "user"}),
    "json_bare": ("", '{"name": §, "role": "user"}', json.loads, lambda x: {"name": x, "role": "user"}),
    "json_key": ("", '{"§": 1, "role": "user"}', json.loads, lambda x: {x: 1, "role": "user"}),
    "json_list": ("", '["§", {"role": "user"}]', json.loads, lambda x: [x, {"role": "user"}]),
    "json_by_type": ("application/json", ' "a §"', json.loads, lambda x: f"a {x}"),
    "json_lines": (
        "",
        '{"index": 1}\n{"name": "§"}\n',
        lambda body: json.loads(body.split("\n")[1]),
        lambda x: {"name": x},
    ),
    "json_in_json": (
        "",
        json.dumps({"text": json.dumps({"name": "§", "role": "user"}, ensure_ascii=False)}, ensure_ascii=False),
        lambda body: json.loads(json.loads(body)["text"]),
        lambda x: {"name": x, "role": "user"},
    ),
    "graphql": (
        "",
        json.dumps({"query": 'mutation { add(name: "§") { id } }'}, ensure_ascii=False),
        lambda body: unescaped(
            json.loads(body)["query"].removeprefix('mutation { add(name: "').removesuffix('") { id } }')
        ),
        lambda x: x,
    ),
    "form": ("", "name=§&role=user", parse_qs, lambda x: {"name": [x], "role": ["user"]}),
    "form_from_value": ("", "§=1&role=user", parse_qs, lambda x: {x: ["1"], "role": ["user"]}),
    "form_by_type": (
        "application/x-www-form-urlencoded",
        "a b=§&role=user",
        parse_qs,
        lambda x: {"a b": [x], "role": ["user"]},
    ),
    "json_in_form": (
        "",
        'data={"name": "§", "role": "user"}&x=1',
        lambda body: json.loads(parse_qs(body)["data"][0]),
        lambda x: {"name": x, "role": "user"},
    ),
    "xml": ("", "<a><name>§</name><role>user</role></a>", xml_texts, lambda x: x),
    "xml_attribute": ("", "<a name='§' role=\"user\"/>", xml_texts, lambda x: x),
    "xml_prolog": ("", '<?xml version="1.0"?>\n<s:a xmlns:s="u"><s:b>§</s:b></s:a>', xml_texts, lambda x: x),
    "cdata": ("", "<a><![CDATA[§]]></a>", cdata_texts, lambda x: [x]),
    "yaml": ("", "name: §\nrole: user\n", yaml.safe_load, lambda x: {"name": x, "role": "user"}),
    "yaml_quoted": ("", "name: '§'\nrole: user\n", yaml.safe_load, lambda x: {"name": x, "role": "user"}),
    "yaml_part": (
        "",
        "- name: the § one\n- role: user\n",
        yaml.safe_load,
        lambda x: [{"name": f"the {x} one"}, {"role": "user"}],
    ),
    "yaml_by_type": ("text/yaml", "{name: §, role: user}", yaml.safe_load, lambda x: {"name": x, "role": "user"}),
    "yaml_block": ("", "name: |\n  §\nrole: user\n", yaml.safe_load, lambda x: {"name": f"{x}\n", "role": "user"}),
    "quotes": (
        "",
        'add "§" to list',
        lambda body: unescaped(body.removeprefix('add "').removesuffix('" to list')),
        lambda x: x,
    ),
}
BREAKS = (
    *(
        'a", "role": "admin',
        'a"}, {"role": "admin"}',
        '{"$ne": null}',
        "a\\",
        "a\\\\",
        '\\"',
        "'",
        "a\nb: c",
        "a\nrole: admin",
    ),
    *(
        "a&role=admin",
        "a=b;c",
        "</name><role>admin</role>",
        "]]><role/><![CDATA[",
        "--><role/>",
        '" role="admin',
        "' role='admin",
    ),
    *(
        "a: b",
        "a # b",
        "- a",
        "&a",
        "*a",
        "!x",
        "| ",
        "yes",
        "{a: b}",
        '") { id } delete(id: "1',
        "{{ 1 }}",
        "ü€",
        "%26role%3D",
        "null x",
    ),
)


def variants(seed: int) -> list[str]:
    """Return what breaks out, and mixtures of it."""
    random = Random(seed)
    return [*BREAKS, *("".join(random.sample(BREAKS, 3)) for _ in range(40))]


@pytest.mark.parametrize("name", BODIES)
def test_nothing_breaks_out_of_a_body(name: str) -> None:
    """Who reads the body in its language finds the value in its place, and nothing more."""
    media_type, template, read, expected = BODIES[name]
    before, _, after = template.partition("§")
    for text in variants(1):
        if name == "form_from_value" or (name.startswith("form") and "%26" in text):
            continue  # What is encoded already stays so.
        body = to_payload([before, Value(text), after], media_type)
        if read is xml_texts:
            harmless = read(to_payload([before, Value("harmless"), after], media_type))
            assert sorted(each.replace(repr(text), repr("harmless")) for each in read(body)) == harmless, body
        else:
            assert read(body) == expected(text), body


@pytest.mark.parametrize(
    ("media_type", "pieces"),
    [
        ("", ['{"role": "user", "', Value("role"), '": "admin"}']),
        ("", ['{"a": "', Value("x"), '",}']),
        ("application/json", ["a ", Value("x")]),
        ("", ["<a><", Value("b"), "/></a>"]),
        ("", ["<a><!-- ", Value("b"), " --></a>"]),
        ("", ["<a>", Value("x"), "</b>"]),
        ("", ["<a>", Value("\x01"), "</a>"]),
        ("", ["a: 1 # ", Value("x"), "\nb: 2\n"]),
        ("text/yaml", ["a: [", Value("x")]),
        (
            "multipart/form-data; boundary=x",
            ['--x\r\nContent-Disposition: form-data; name="', Value('a"; x="'), '"\r\n\r\n1'],
        ),
        ("", ["--x\r\n\r\n", Value("a\r\n--x"), "\r\n--x--"]),
        ("", ["SELECT '", Value("x' OR '1"), "'"]),
    ],
)
def test_what_cannot_be_built_is_refused(media_type: str, pieces: list[Any]) -> None:
    """With a sentence that says what to change."""
    with pytest.raises(ToolError):
        to_payload(pieces, media_type)


def test_plain_bodies_stay() -> None:
    """A text that is no such language is as the user wrote it, and a body that is one value is the model's."""
    assert to_payload(["Door: ", Value('it\'s "open"\nnow')]) == 'Door: it\'s "open"\nnow'
    assert to_payload([Value('{"a": 1}')]) == '{"a": 1}'
    assert to_payload(["[Alert] ", Value('"x"')]) == '[Alert] "x"'
    assert to_payload(["Don't forget ", Value("Ben's book"), ", it's here"]) == "Don't forget Ben's book, it's here"
    assert json.loads(to_payload(['{"a": ', Value("5"), ', "b": ', Value("false"), "}"])) == {"a": 5, "b": False}


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        *(
            ("session=", "1; admin=1", "; role=user"),
            ('form-data; name="', 'a"; filename="x', '"'),
            ("", "a\r\nX: 1", ""),
        ),
        *(('form-data; name="', "a\\", '"'), ("text/plain; charset=", "a, text/html", "")),
    ],
)
def test_nothing_breaks_out_of_a_header(before: str, text: str, after: str) -> None:
    """A value is no further part of a header."""
    with pytest.raises(ToolError):
        to_header([before, Value(text), after])
    assert to_header([before, Value("plain value"), after]) == f"{before}plain value{after}"


QUERIES: dict[str, tuple[str, list[str]]] = {
    "list": ("SELECT n FROM t WHERE n IN ({{ names }})", ["a", "it's"]),
    "joined_in_quotes": ("""SELECT n FROM t WHERE n IN ('{{ names | join("','") }}')""", ["a", "it's"]),
    "joined_with_space": ("""SELECT n FROM t WHERE n IN ("{{ names | join('", "') }}")""", ["a", "it's"]),
    "joined_attribute": (
        """SELECT n FROM t WHERE n IN ('{{ [{'k': names[0]}, {'k': names[1]}] | join("','", attribute='k') }}')""",
        ["a", "it's"],
    ),
    "joined_around": ("""SELECT n FROM t WHERE n IN ({{ "'" ~ names | join("','") ~ "'" }})""", ["a", "it's"]),
    "joined_plus": ("""SELECT n FROM t WHERE n IN ({{ "'" + names | join("','") + "'" }})""", ["a", "it's"]),
    "set_before": (
        """{% set all = "'" ~ names | join("', '") ~ "'" %}SELECT n FROM t WHERE n IN ({{ all }})""",
        ["a", "it's"],
    ),
    "set_block": (
        (
            "{% set all %}{% for n in names %}'{{ n }}'{{ ',' if not loop.last }}{% endfor %}{% endset %}"
            "SELECT n FROM t WHERE n IN ({{ all }})"
        ),
        ["a", "it's"],
    ),
    "cut": (
        "{% set all %}{% for n in names %}'{{ n }}',{% endfor %}{% endset %}SELECT n FROM t WHERE n IN ({{ all[:-1] }})",
        ["a", "it's"],
    ),
    "namespace": (
        (
            "{% set ns = namespace(q='') %}{% for n in names %}{% set ns.q = ns.q ~ (' OR ' if ns.q else '') ~ \"n = '\" ~ n ~ \"'\" %}"
            "{% endfor %}SELECT n FROM t WHERE {{ ns.q }}"
        ),
        ["a", "it's"],
    ),
    "where_joined": ("SELECT n FROM t WHERE n = '{{ names | join(\"' OR n = '\") }}'", ["a", "it's"]),
    "order": ("SELECT n FROM t WHERE n != 'c' ORDER BY {{ 'n DESC' if names else 'n' }}", ["it's", "a"]),
    "column": ("SELECT n FROM t WHERE {{ 'n' }} = '{{ names[0] }}'", ["a"]),
    "condition": (
        "SELECT n FROM t WHERE n = 'c'{{ \" OR n = '\" ~ names[0] ~ \"'\" if names else '' }} ORDER BY n",
        ["a", "c"],
    ),
    "doubled": ("""SELECT n FROM t WHERE n = '{{ names[1] | replace("'", "''") }}'""", ["it's"]),
    "like": ("SELECT n FROM t WHERE n LIKE '%{{ names[1][:2] }}%'", ["it's"]),
    "default": ("SELECT n FROM t WHERE n {{ operator | default('=') }} '{{ names[0] }}'", ["a"]),
    "whole": ('{{ "SELECT n FROM t WHERE n = \'" ~ names[0] ~ "\'" }}', ["a"]),
    "macro": (
        "{% macro q(x) %}'{{ x }}'{% endmacro %}SELECT n FROM t WHERE n IN ({{ q('a') }}, {{ q(names[1]) }})",
        ["a", "it's"],
    ),
}
REFUSED = {
    "mapped": """SELECT n FROM t WHERE n IN ({{ names | map('regex_replace', '^(.*)$', "'\\\\1'") | join(',') }})""",
    "formatted": """SELECT n FROM t WHERE n = {{ "'%s'" | format(names[0]) }}""",
    "tuple": """SELECT n FROM t WHERE n IN {{ names | string | replace('[', '(') | replace(']', ')') }}""",
    "filled": """SELECT n FROM t WHERE n = {{ "'{}'".format(names[0]) }}""",
    "replaced": """SELECT n FROM t WHERE n IN ('{{ names | string | replace(", ", "','") }}')""",
}


def find(query: Any) -> list[str]:
    """Return what a query finds."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (n TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("a",), ("it's",), ("c",)])
        return [row[0] for row in connection.execute(query.text, query.parameters)]


def run_of(hass: HomeAssistant, **variables: Any) -> FunctionRun:
    """Return a run with arguments."""
    exposure, context = Exposure(hass, "conversation"), SimpleNamespace(assistant="conversation")
    call: Any = SimpleNamespace(hass=hass, exposure=exposure, llm_context=context)
    return FunctionRun(call=call, variables=variables)


@pytest.mark.parametrize("name", QUERIES)
async def test_honest_queries(hass: HomeAssistant, name: str) -> None:
    """A query that joins, sets and chooses finds what it found where it came from, with quotes in the values too."""
    template, expected = QUERIES[name]
    run = run_of(hass, names=["a", "it's"])
    query = to_sql(await async_render_pieces(run, template), frozenset(), run.variables)
    found = find(query)
    assert found == expected if "ORDER" in template else sorted(found) == sorted(expected)


@pytest.mark.parametrize("name", QUERIES)
async def test_nothing_breaks_out_of_a_query(hass: HomeAssistant, name: str) -> None:
    """Whatever the list holds, it finds no more than what it says."""
    for text in (
        "x' OR '1'='1",
        "x') OR ('1'='1",
        "x','c",
        "' OR 1=1 --",
        'x" OR ""="',
        "x'; DROP TABLE t; --",
        "or",
        "n",
    ):
        run = run_of(hass, names=[text, text])
        query = to_sql(await async_render_pieces(run, QUERIES[name][0]), frozenset(), run.variables)
        if name not in ("order", "condition", "macro", "like"):
            assert find(query) == []
        assert text not in query.text or text in ("or", "n")


@pytest.mark.parametrize("name", REFUSED)
async def test_what_would_find_nothing_is_refused(hass: HomeAssistant, name: str) -> None:
    """SQL that was put into a value is not passed over in silence."""
    run = run_of(hass, names=["a", "b"])
    with pytest.raises(ToolError, match="puts quotes or other SQL into a value"):
        to_sql(await async_render_pieces(run, REFUSED[name]), frozenset(), run.variables)


CHANGED = {
    "replaced": "{% set q %}SELECT n FROM t WHERE n = 'HERE' AND n = '{{ a }}'{% endset %}{{ q | replace('HERE', b) }}",
    "filled": "{% set q %}SELECT n FROM t WHERE n = '{{ a }}' AND n = '{}'{% endset %}{{ q.format(b) }}",
    "formatted": "{% set q %}SELECT n FROM t WHERE n = '{{ a }}' AND n = '%s'{% endset %}{{ q % b }}",
    "joined": "{% set q %}SELECT n FROM t WHERE n = '{{ a }}' AND n = '{}'{% endset %}{{ q.format(b) ~ '' }}",
}


@pytest.mark.parametrize("name", CHANGED)
async def test_texts_that_are_changed_with_values_in_them(hass: HomeAssistant, name: str) -> None:
    """What is put into a text beside values that are kept apart is no text of the template."""
    with pytest.raises(ToolError, match="after values were put into it"):
        await async_render_pieces(run_of(hass, a="a", b="x' OR '1'='1"), CHANGED[name])


@pytest.mark.parametrize("word", ["or", "OR", "and", "not", "is", "is not", "in", "null"])
def test_words_that_change_a_condition(word: str) -> None:
    """Are values, unless an enum lists them."""
    pieces: list[Any] = ["SELECT n FROM t WHERE n = ", Value(word)]
    assert to_sql(pieces, frozenset()).parameters == {"argument_0": word}
    assert to_sql(pieces, frozenset({word})).parameters == {}


ADDRESSES = {
    "{% set q = x | urlencode %}http://a.test/s?q={{ q }}": "http://a.test/s?q=b%20%26c",
    "{% set url = 'http://a.test/s?q=' ~ x %}{{ url }}": "http://a.test/s?q=b%20%26c",
    "{{ 'http://a.test/s?q=' + x }}": "http://a.test/s?q=b%20%26c",
    "http://a.test/{{ [x, 'd'] | join('/') }}": "http://a.test/b%20%26c/d",
    "http://a.test/?{{ ['q=' ~ x, 'r=1'] | join('&') }}": "http://a.test/?q=b%20%26c&r=1",
    "{% set base %}http://a.test{% endset %}{{ base }}/{{ x }}": "http://a.test/b%20%26c",
    "{{ 'http://a.test/' if x else 'http://b.test/' }}{{ x }}": "http://a.test/b%20%26c",
    "http://a.test/{% if x %}?q={{ x }}{% endif %}": "http://a.test/?q=b%20%26c",
}


@pytest.mark.parametrize("template", ADDRESSES)
async def test_honest_addresses(hass: HomeAssistant, template: str) -> None:
    """What a template says of an address is its user's, however it is put together; the value stays a value."""
    address = to_address(await async_render_pieces(run_of(hass, x="b &c"), template))
    assert (address.text, address.host_is_written) == (ADDRESSES[template], True)


async def test_redirects(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    socket_enabled: None,
    names: Names,
    monkeypatch: pytest.MonkeyPatch,
    install: Install,
    ask: Ask,
) -> None:
    """Keys go to the origin that the user wrote, and others lead nowhere in the home."""
    seen: list[tuple[str, str, str | None, str]] = []
    leads: dict[str, tuple[int, str]] = {}

    async def answer(request: web.Request) -> web.Response:
        seen.append(
            (request.host.partition(":")[0], request.method, request.headers.get("X-Key"), await request.text())
        )
        if to := leads.get(request.host.partition(":")[0] + request.path):
            return web.Response(status=to[0], headers={"Location": to[1]})
        return web.Response(text="here", content_type="text/plain")

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(application, host="127.0.0.1") as server, TestServer(application, host="127.0.0.1") as other:
        names.answers |= {"mine.test": [["127.0.0.1"]], "theirs.test": [["127.0.0.1"]]}
        mine, theirs = f"http://mine.test:{server.port}", f"http://theirs.test:{server.port}"
        settings = (
            f"type: rest\nmethod: METHOD\nresource: {mine}/x\nheaders: {{X-Key: secret}}\nusername: a\npassword: b"
        )
        get, post = settings.replace("METHOD", "get"), settings.replace("METHOD", "post") + "\npayload: hello"
        await install(written(get).replace("probe", "get"))
        await install(written(post).replace("probe", "post"))
        leads["mine.test/x"] = (302, "/y")
        assert await ask("get") == "here"
        assert [each[2] for each in seen] == ["secret", "secret"]
        seen.clear()
        leads["mine.test/x"] = (302, f"http://mine.test:{other.port}/y")
        assert await ask("get") == "here"
        assert [each[2] for each in seen] == ["secret", None]
        seen.clear()
        for there in (
            f"{theirs}/y",
            f"http://127.0.0.1:{server.port}/",
            "http://192.168.1.1/",
            "http://[::1]/",
            "file:///etc/passwd",
        ):
            leads["mine.test/x"] = (302, there)
            assert await ask("get", error=True)
        assert {each[0] for each in seen} == {"mine.test"}
        # Where it may go, it goes without what was for another.
        hass.config_entries.async_update_entry(entry, options={CONF_WEB_PORTS: [str(server.port)]})
        await hass.async_block_till_done()
        monkeypatch.setattr(guard, "TEST_SERVERS", frozenset({("127.0.0.1", server.port)}))
        seen.clear()
        leads["mine.test/x"] = (302, f"{theirs}/y")
        assert await ask("get") == "here"
        assert seen[-1] == ("theirs.test", "GET", None, "")
        leads["mine.test/x"] = (307, f"{theirs}/y")
        seen.clear()
        assert "is not sent" in await ask("post", error=True)
        assert len(seen) == 1
        leads["mine.test/x"] = (303, "/done")
        assert await ask("post") == "here"
        assert seen[-1] == ("mine.test", "GET", "secret", "")
        leads["mine.test/x"] = (307, "/x")
        assert "redirects more than" in await ask("post", error=True)


@pytest.mark.parametrize(
    ("value", "read"),
    [(5, 5), ("5", 5), ("-1.5", -1.5), (True, True), ("milk", "milk"), ("true", "true"), ("017", "017")],
)
def test_numbers_in_yaml(value: object, read: object) -> None:
    """A number outside of quotes stays a number in YAML, one in quotes a text; a text that YAML reads as another is quoted."""
    found = yaml.safe_load(to_payload(["a: ", Value(value), "\nb: '", Value(value), "'\n"], "text/yaml"))
    assert found == {"a": read, "b": str(value)}
    assert type(found["a"]) is type(read)
