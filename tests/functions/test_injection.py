"""What a model gives is data: in templates, scripts, SQL, YAML, addresses, headers and bodies of requests."""

import json
from pathlib import Path
import sqlite3
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.functions.rendering import Value
from custom_components.extended_assist.functions.sqlite import only_value, to_sql
from custom_components.extended_assist.results import ToolError
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant, ServiceCall
from tests.conftest import ASSISTANT, expose
from tests.helpers.automating import StartHome, start_home
from tests.helpers.one_home import in_one_home

from .conftest import Ask, Install, Site

__all__ = ["start_home"]

pytestmark = pytest.mark.usefixtures("no_deprecations")

TEMPLATES = (
    "{{ states('lock.zebra') }}",
    "{% set x = 1 %}{{ x }}",
    "{{ 7 * 7 }}",
    "}} {{ 7 * 7 }} {{",
    "{# comment #}",
    "{% raw %}",
    "{{ value.__class__.__mro__ }}",
    "\ue0001-0\ue001",
    "%(x)s {0} ${x}",
)
SQL = (
    "' OR '1'='1",
    "light.lamp' OR 1=1 --",
    "light.lamp'; DROP TABLE states; --",
    "' UNION SELECT entity_id FROM states_meta --",
    "'' OR 1=1",
    '" OR ""="',
    "\\' OR 1=1 --",
    "light.lamp'/*",
    ":argument_0",
    "1) OR (1=1",
    "0 OR 1=1",
    "1; ATTACH DATABASE '/tmp/x' AS x",
)


def written(settings: str, *names: str) -> str:
    """Return a function with text parameters."""
    properties = ", ".join(f"{name}: {{}}" for name in names)
    body = "\n".join(f"  {line}" for line in settings.strip("\n").splitlines())
    return f"spec:\n  name: probe\n  parameters: {{type: object, properties: {{{properties}}}}}\nfunction:\n{body}\n"


@in_one_home(
    ("template", "y", "told"),
    [
        ("{{ x | regex_search(y) }}", "(a+)+b", "False"),
        ("{{ [x] | select('search', y) | list | length }}", "(?:a|a)*b", "0"),
        ("{{ x | regex_replace(y, 'b') }}", "(?:a?){999999999}", "repeats so much"),
        ("{{ (x * y) | length }}", 1_000_000_000, "too large"),
        ("{{ y ** y }}", 1_000_000, "too large"),
        ("{{ x | center(y) }}", 1_000_000_000, "too large"),
        ("{{ x | indent(width=y, first=true) }}", 1_000_000_000, "too large"),
        ("{{ x.zfill(y) }}", 1_000_000_000, "too large"),
        ("{{ '{:>{}}'.format(x, y) }}", 1_000_000_000, "failed: Widths"),
        ("{{ '%*d' % (y, 1) }}", 1_000_000_000, "failed: A placeholder"),
        ("{{ [x] | tojson(indent=y) }}", 1_000_000_000, "too large"),
        ("{{ range(y) | list | length }}", 90_000, "too large"),
        ("{{ (x * y)[:3] ~ x.zfill(40) | center(50) | length }}", 2, "aaa50"),
        ("{{ x | regex_findall(y) | length }} {{ x is match(y) }}", "aa", "14 True"),
    ],
)
async def test_growth(install: Install, ask: Ask, template: str, y: Any, told: str) -> None:
    """A pattern or a number that a model gave ends in time and makes nothing huge."""
    await install(written(f'type: template\nvalue_template: "{template}"', "x", "y"), anew=True)
    begun = monotonic()
    assert told in await ask("probe", {"x": "a" * 28, "y": y}, error=told.startswith(("too", "repeats", "failed")))
    assert monotonic() - begun < 5


MADE = {
    "joined": "{{ states('light.' ~ x) }}",
    "added": "{{ states('light.' + x) }}",
    "listed": "{{ ['light', x] | join('.') | states }}",
    "formatted": "{{ states('light.%s' % x) }}",
    "mapped": "{{ ['light.' ~ x] | map('states') | list }}",
    "attribute": "{{ state_attr('light.' ~ x, 'note') }}",
    "domain": "{{ states.light[x] }}",
    "chained": "{{ states['light.' ~ x].state }}",
    "compared": "{{ is_state('light.' ~ x, 'orange') }}",
    "expanded": "{{ expand('light.' ~ x) | map(attribute='state') | list }}",
    "all": "{{ states.light | map(attribute='object_id') | select('eq', x) | list | length }}",
    "whole": "{{ states | selectattr('object_id', 'eq', x) | list | length }}",
    "set": "{% set n = namespace(id='light.') %}{% set n.id = n.id ~ x %}{{ states(n.id) }}",
    "macro": "{% macro m(id) %}{{ states(id) }}{% endmacro %}{{ m('light.' ~ x) }}",
    "applied": "{{ ('light.' ~ x) | apply(states) }}",
}


@in_one_home("name", MADE)
async def test_ids_that_templates_make(hass: HomeAssistant, install: Install, ask: Ask, name: str) -> None:
    """What a template makes of an argument reaches what is exposed; hidden and unknown answer alike."""
    await install(written(f"type: template\nvalue_template: {json.dumps(MADE[name])}", "x"), anew=True)
    hass.states.async_remove("light.zebra")
    async_expose_entity(hass, ASSISTANT, "light.zebra", False)
    unknown = await ask("probe", {"x": "zebra"})
    hass.states.async_set("light.zebra", "orange", {"note": "juicy"})
    assert await ask("probe", {"x": "zebra"}) == unknown
    expose(hass, "light.zebra")
    assert await ask("probe", {"x": "zebra"}) != unknown


async def test_ids_that_templates_make_elsewhere(hass: HomeAssistant, install: Install, ask: Ask, site: Site) -> None:
    """In addresses, bodies, headers, and in what is made of an answer too."""
    hass.states.async_set("light.zebra", "orange")
    made = "{{ states('light.' ~ x) }}"
    settings = {
        "type": "rest",
        "method": "post",
        "resource_template": f"{site.url}/{made}",
        "headers": {"X-Note": made},
        "params": {"a": made},
        "payload_template": f"note {made}",
        "value_template": made,
    }
    await install(written(json.dumps(settings), "x"))
    assert await ask("probe", {"x": "zebra"}) == "unknown"
    (_, path, headers, body) = site.requests[0]
    assert (path, headers["X-Note"], body) == ("/unknown?a=unknown", "unknown", "note unknown")


async def test_entities_that_a_template_names(hass: HomeAssistant, install: Install, ask: Ask, site: Site) -> None:
    """What its user wrote as constants is read, exposed or not, without secrets; nothing else that is hidden."""
    token = {"access_token": "s3cret", "note": "juicy"}
    for name in ("named", "chained", "listed", "zebra"):
        hass.states.async_set(f"light.{name}", name, token)
    template = (
        "{{ states('light.named') }} {{ states.light.chained.state }} {{ ['light.listed'] | map('states') | join }} "
        "{{ states.light | map(attribute='object_id') | sort | join(',') }} {{ state_attr('light.named', 'note') }} "
        "{{ state_attr('light.named', 'access_token') }} {{ is_exposed('light.named') }} {{ states('light.' ~ x) }}"
    )
    seen = "named chained listed chained,listed,named juicy None False unknown"
    await install(written(f"type: template\nvalue_template: {json.dumps(template)}", "x"))
    assert await ask("probe", {"x": "zebra"}) == seen
    assert "was not found or is not exposed" in await ask("probe", {"x": "light.named"}, error=True)
    await install(
        written(f"type: rest\nresource_template: \"{site.url}/{{{{ states('light.named') }}}}\"").replace("probe", "go")
    )
    await ask("go")
    assert site.requests[0][1] == "/named"


@pytest.mark.parametrize("parse", ["", "parse_result: true"])
async def test_templates(hass: HomeAssistant, install: Install, ask: Ask, parse: str) -> None:
    """An argument in a template is a value, however often it passes through templates."""
    hass.states.async_set("lock.zebra", "31415")
    composite = """
type: composite
sequence:
  - type: template
    value_template: "{{ x }}"
    response_variable: y
  - type: script
    variables: {z: "{{ y }}"}
    sequence:
      - variables: {_function_result: "<{{ z }}>"}
    response_variable: w
  - type: template
    value_template: "[{{ w }}]"
"""
    await install(written(composite + (f"    {parse}\n" if parse else ""), "x"))
    for text in TEMPLATES:
        assert await ask("probe", {"x": text}) == f"[<{text}>]"


async def test_undeclared_arguments(install: Install, ask: Ask) -> None:
    """What the function does not declare cannot take the place of anything in a template."""
    await install(
        written("{type: template, value_template: \"{{ is_exposed('lock.zebra') }} {{ x }} {{ y is defined }}\"}", "x")
    )
    spoof: dict[str, Any] = {"x": 1, "y": 2, "is_exposed": "yes", "states": {"a": 1}, "now": 1}
    assert await ask("probe", spoof) == "False 1 False"


@in_one_home(
    "given",
    [
        *(
            "lock.zebra",
            "LOCK.ZEBRA",
            " lock.zebra ",
            "light.lamp,lock.zebra",
            "light.lamp, lock.zebra",
            "lock.unknown",
        ),
        *("light.lam", "light.lampe"),
        *(["light.lamp", "lock.zebra"], {"a": ["lock.zebra"]}, {"lock.zebra": 1}, "sensor.unknown"),
    ],
)
async def test_ids_that_are_not_exposed(hass: HomeAssistant, install: Install, ask: Ask, given: Any) -> None:
    """A function has its user's reach, so a model can only name what is exposed; hidden looks like unknown."""
    done: list[ServiceCall] = []
    hass.services.async_register("lock", "unlock", done.append)
    hass.states.async_set("lock.zebra", "locked")
    hass.states.async_set("light.lam", "on")  # A part of the id of what is exposed.
    hass.states.async_set("light.lamp", "on")
    expose(hass, "light.lamp")
    await install(
        written("{type: script, sequence: [{action: lock.unlock, data: {entity_id: '{{ x }}'}}]}", "x"), anew=True
    )
    assert "was not found or is not exposed" in await ask("probe", {"x": given}, error=True)
    assert done == []


@in_one_home("given", ["light.lamp", "the lock.zebra is odd", "a.b", "www.example.com", "lock.unlock", 5, None])
async def test_what_is_no_hidden_id_passes(hass: HomeAssistant, install: Install, ask: Ask, given: Any) -> None:
    """Exposed ids, sentences, and names of actions pass."""
    hass.services.async_register("lock", "unlock", lambda _: None)
    hass.states.async_set("lock.zebra", "locked")
    hass.states.async_set("light.lamp", "on")
    expose(hass, "light.lamp")
    await install(written("{type: template, value_template: '{{ x }}'}", "x"), anew=True)
    assert await ask("probe", {"x": given}) == str(given)


QUERIES = {
    "quoted": "SELECT entity_id FROM states_meta WHERE entity_id = '{{ x }}'",
    "part": "SELECT entity_id FROM states_meta WHERE entity_id LIKE 'light.lamp%{{ x }}'",
    "two": "SELECT entity_id FROM states_meta WHERE entity_id = '{{ x }}{{ x }}'",
    "double_quoted": 'SELECT entity_id FROM states_meta WHERE entity_id = "{{ x }}"',
    "bare": "SELECT entity_id FROM states_meta WHERE entity_id = {{ x }}",
    "list": "SELECT entity_id FROM states_meta WHERE entity_id IN ({{ x }})",
    "macro": "{% macro m(y) %}'{{ y }}'{% endmacro %}SELECT entity_id FROM states_meta WHERE entity_id = {{ m(x) }}",
    "set": "{% set y %}'{{ x }}'{% endset %}SELECT entity_id FROM states_meta WHERE entity_id = {{ y }}",
    "joined": '{% set y = "\'" ~ x ~ "\'" %}SELECT entity_id FROM states_meta WHERE entity_id = {{ y }}',
    "safe": "SELECT entity_id FROM states_meta WHERE entity_id = '{{ x | safe }}'",
    "comment": "SELECT entity_id FROM states_meta WHERE 1 = 0 -- {{ x }}",
    "long_comment": "SELECT entity_id FROM states_meta WHERE /* {{ x }} */ 1 = 0",
}


FINDS = {"quoted", "double_quoted", "bare", "list", "macro", "set", "joined", "safe"}
"""Queries in which an honest value does what it should."""


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
@in_one_home("name", QUERIES)
async def test_sql_in_the_recorder(
    recorder_mock: Recorder, quiet: None, hass: HomeAssistant, install: Install, ask: Ask, name: str
) -> None:
    """A value is never text of the query; and were it, only exposed rows would be there."""
    for entity_id in ("light.lamp", "light.other", "light.zebra"):
        hass.states.async_set(entity_id, "on")
    expose(hass, "light.lamp", "light.other")
    await async_wait_recording_done(hass)
    await install(written(f"type: sqlite\nquery: {json.dumps(QUERIES[name])}", "x"), anew=True)
    assert await ask("probe", {"x": "light.lamp"}) == ([{"entity_id": "light.lamp"}] if name in FINDS else [])
    for text in SQL:
        assert await ask("probe", {"x": text}) == []


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_sql_in_another_file(
    recorder_mock: Recorder, hass: HomeAssistant, entry: MockConfigEntry, install: Install, ask: Ask, tmp_path: Path
) -> None:
    """Another file is read where the options list it, and nothing can be done in it or from it."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE books (title TEXT, secret TEXT)")
        connection.executemany("INSERT INTO books VALUES (?, ?)", [("Emma", "a"), ("It's", "b")])
    connection.close()
    settings = (
        f"type: sqlite\ndb_url: file:{path}?mode=rwc\nquery: SELECT title FROM books WHERE title = " + "'{{ x }}'"  # noqa: S608
    )
    await install(written(settings, "x"))
    assert "do not list" in await ask("probe", {"x": "Emma"}, error=True)
    hass.config_entries.async_update_entry(entry, options={"database_files": [str(path)]})
    await hass.async_block_till_done()
    assert await ask("probe", {"x": "Emma"}) == [{"title": "Emma"}]
    assert await ask("probe", {"x": "It's"}) == [{"title": "It's"}]
    for text in SQL:
        assert await ask("probe", {"x": text}) == []
    await install(written(f"type: sqlite\ndb_url: sqlite:///{path}\nquery: '{{{{ x }}}}'", "x").replace("probe", "any"))
    assert await ask("any", {"x": "SELECT count(*) AS n FROM books"}) == [{"n": 2}]
    before = path.read_bytes()
    for text in (
        *(
            "DELETE FROM books",
            "UPDATE books SET title = ''",
            "DROP TABLE books",
            "VACUUM",
            "PRAGMA writable_schema = 1",
        ),
        *(
            f"VACUUM INTO '{tmp_path}/copy.db'",
            f"ATTACH DATABASE '{tmp_path}/new.db' AS new",
            "SELECT load_extension('x')",
        ),
        *("CREATE TABLE x (y)", "SELECT 1; DELETE FROM books", "BEGIN", "SELECT * FROM pragma_database_list", "'"),
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
    ):
        assert "query" in await ask("any", {"x": text}, error=True)
    assert path.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} >= {"other.db"}  # noqa: ASYNC240 - a look in a test
    assert not {"new.db", "copy.db"} & {path.name for path in tmp_path.iterdir()}  # noqa: ASYNC240


def test_values_in_sql() -> None:
    """Numbers, operators and the user's own words stay; all else becomes a parameter."""
    query = to_sql(
        [
            *("SELECT * FROM t WHERE a ", Value("<="), " 'it''s ", Value("o'clock"), "' ORDER BY b ", Value("DESC")),
            *(" LIMIT ", Value(3), " OFFSET ", Value("20"), " -- ", Value("x\nDROP")),
        ],
        frozenset({"desc"}),
    )
    assert query.text == "SELECT * FROM t WHERE a  <=  :argument_0 ORDER BY b  DESC  LIMIT  3  OFFSET  20  "
    assert query.parameters == {"argument_0": "it's o'clock"}
    query = to_sql(["a IN (", Value(["x", 2, "1 OR 1"]), ") AND b = ", Value("name"), Value(True)], frozenset({"name"}))
    assert query.text == "a IN ( :argument_0, 2, :argument_1 ) AND b =  name  1 "
    assert query.parameters == {"argument_0": "x", "argument_1": "1 OR 1"}
    assert only_value([Value("SELECT 1")]) == "SELECT 1"
    assert only_value(["SELECT ", Value("1")]) is None
    for pieces in (
        ["SELECT '", Value("x")],
        ["a = '", Value("x" * 3000), "'"],
        ["a = ", Value("\0")],
        ["a ", Value(["x"] * 300)],
    ):
        with pytest.raises(ToolError):
            to_sql(pieces, frozenset())


ADDRESSES = {
    "?q={{ x }}&safe=1": ("?q={}&safe=1", "a&admin=1#x"),
    "/{{ x }}/end?safe=1": ("/{}/end?safe=1", "a/b?c=d&e#f"),
    "/a?q={{ x | urlencode }}": ("/a?q={}", "a&b=c/d"),
    "?{{ {'q': x, 'y': 1} | urlencode }}": ("?q={}&y=1", "a&b=c"),
}


@in_one_home("template", ADDRESSES)
async def test_addresses(install: Install, ask: Ask, site: Site, template: str) -> None:
    """A value stays inside the part of the address in which it stands."""
    _, text = ADDRESSES[template]
    await install(written(f'type: rest\nresource_template: "{site.url}{template}"', "x"), anew=True)
    site.requests.clear()
    await ask("probe", {"x": text})
    ((method, path, _, _),) = site.requests
    assert method == "GET"
    parts = urlsplit(path)
    if template.startswith("/{{"):
        assert parts.path.count("/") == 2
        assert unquote(parts.path) == f"/{text}/end"
        assert parts.query == "safe=1"
    else:
        query = parse_qs(parts.query)
        assert query.pop("q") == [text]
        assert query in ({"safe": ["1"]}, {}, {"y": ["1"]})


WAYS_UP = (
    *("..", "%2e%2e", ".%2E", ".", "../..", "..%2f..", "..\\..", "%252e%252e", "%25252e%25252e%25252fadmin", "..;x"),
    *("..;/a", "\uff0e\uff0e", "\u2024\u2024", "\u2025", "%c0%ae%c0%ae", "%c0%ae", "..%00", "a/../../admin", " .. "),
    "a%2f%2e%2e%5cadmin",
)


@in_one_home("text", WAYS_UP)
async def test_ways_to_another_address(install: Install, ask: Ask, site: Site, text: str) -> None:
    """A value is no way up."""
    await install(written(f'type: rest\nresource_template: "{site.url}/api/{{{{ x }}}}/secret"', "x"), anew=True)
    await ask("probe", {"x": text}, error=True)
    assert site.requests == []


HOSTS = ("{{ x }}", "http://{{ x }}/", "{{ x }}/path", "http://127.0.0.1:{{ x }}/")


@in_one_home(("template", "kind"), [(template, kind) for kind in ("rest", "scrape") for template in HOSTS])
async def test_hosts_from_arguments(install: Install, ask: Ask, site: Site, template: str, kind: str) -> None:
    """Where a model chooses the host, only what the guard lets through is reached; the home is not."""
    sensor = "\nsensor: [{select: p}]" if kind == "scrape" else ""
    await install(written(f'type: {kind}\nresource_template: "{template}"{sensor}', "x"), anew=True)
    port = site.url.rpartition(":")[2]
    for text in (site.url, site.url.removeprefix("http://"), port, f"a@127.0.0.1:{port}", "[::1]", "localhost"):
        await ask("probe", {"x": text}, error=True)
    assert site.requests == []


async def test_headers(install: Install, ask: Ask, site: Site) -> None:
    """No header can be added."""
    settings = f'type: rest\nresource: "{site.url}/"\nheaders: {{X-Name: "n {{{{ x }}}}", X-Key: "{{{{ 6 * 7 }}}}"}}'
    await install(written(settings, "x"))
    await ask("probe", {"x": "plain: {{ 1 }}"})
    assert site.requests[0][2]["X-Name"] == "n plain: {{ 1 }}"
    assert site.requests[0][2]["X-Key"] == "42"
    for text in ("a\r\nX-Admin: 1", "a\nb", "a\0b", "a\x7fb"):
        assert "control characters" in await ask("probe", {"x": text}, error=True)
    assert len(site.requests) == 1


PAYLOADS = {
    '{"name": "{{ x }}", "role": "user"}': lambda body, text: json.loads(body) == {"name": text, "role": "user"},
    '{"name": {{ x }}, "role": "user"}': lambda body, text: json.loads(body) == {"name": text, "role": "user"},
    '{"name": {{ x | tojson }}, "role": "user"}': lambda body, text: json.loads(body) == {"name": text, "role": "user"},
    '["{{ x }}"]': lambda body, text: json.loads(body) == [text],
    "name={{ x }}&role=user": lambda body, text: body.startswith("name=") and body.count("&") == 1,
    "<a><name>{{ x }}</name></a>": lambda body, text: body.count("<") == 4,
    "plain {{ x }}": lambda body, text: body == f"plain {text}",
}
PAYLOAD_TEXTS = ('a", "role": "admin', "a&role=admin", "</name><role>admin</role>", "a\\", '"', "{{ 1 }}")


@in_one_home(("template", "text"), [(template, text) for text in PAYLOAD_TEXTS for template in PAYLOADS])
async def test_payloads(install: Install, ask: Ask, site: Site, template: str, text: str) -> None:
    """A value stays inside the place of the body in which it stands."""
    await install(
        written(f"type: rest\nmethod: post\nresource: {site.url}/\npayload_template: {json.dumps(template)}", "x"),
        anew=True,
    )
    site.requests.clear()
    await ask("probe", {"x": text})
    ((method, _, _, body),) = site.requests
    assert method == "POST"
    assert PAYLOADS[template](body, text), body


@pytest.mark.parametrize(
    "config",
    [
        *("!include secrets.yaml", "alias: !secret password", "!!python/object/apply:os.system [ls]", "- a\n- b"),
        *("a: &a [*a]", "[" * 300, "just words", "alias: x\nalias: y"),
    ],
)
async def test_yaml_of_automations(
    hass: HomeAssistant, entry: MockConfigEntry, start_home: StartHome, install: Install, ask: Ask, config: str
) -> None:
    """YAML that a model writes is read as plain values."""
    path = await start_home(secrets="password: zebra")
    hass.config_entries.async_update_entry(entry, options={"who_may_administer": "anyone", "ask_first": []})
    await hass.async_block_till_done()
    await install(written("{type: native, name: add_automation}", "automation_config"))
    assert "automation_config" in await ask("probe", {"automation_config": config}, error=True)
    assert path.read_text() == "[]\n"
