"""Functions that are wrong, each in its own way: text, line, and words of the reason."""

from typing import NamedTuple


class Broken(NamedTuple):
    """A wrong function."""

    text: str
    line: int | None
    words: str


def spec(parameters: str = "{type: object, properties: {}}", name: str = "broken") -> str:
    """Return the first part of a function."""
    return f"spec:\n  name: {name}\n  parameters: {parameters}\nfunction:\n"


def of(settings: str, line: int | None, words: str) -> Broken:
    """Return a function with wrong settings, which begin in line 5."""
    return Broken(spec() + "\n".join(f"  {each}" for each in settings.splitlines()) + "\n", line, words)


def parameters(text: str, words: str, line: int | None = 3) -> Broken:
    """Return a function with wrong parameters."""
    return Broken(spec(text) + "  {type: template, value_template: x}\n", line, words)


YAML = {
    "empty": Broken("", None, "empty"),
    "comment_only": Broken("# nothing\n", None, "empty"),
    "tab": Broken("spec:\n\tname: x\n", 2, "not YAML"),
    "open_bracket": Broken("spec: {name: x\nfunction: {}\n", 2, "not YAML"),
    "open_quote": Broken('spec:\n  name: "x\n', None, "not YAML"),
    "bad_indent": Broken("spec:\n  name: x\n description: y\n", 3, "not YAML"),
    "colon_in_text": Broken("spec:\n  description: a: b\n", 2, "not YAML"),
    "template_without_quotes": Broken(
        spec() + "  type: template\n  value_template: {{ x }}\n", 6, "key must be a text"
    ),
    "two_documents": Broken("a: 1\n---\nb: 2\n", 2, "another document"),
    "twice_the_same_key": Broken("spec: {name: x}\nspec: {name: y}\n", 2, "twice"),
    "secret": Broken("spec: {name: !secret x}\nfunction: {}\n", 1, "cannot be used"),
    "python_object": Broken("spec: !!python/object/apply:os.system [ls]\n", 1, "cannot be used"),
    "unknown_anchor": Broken("spec: *x\n", 1, "not YAML"),
    "endless_anchor": Broken("spec: &a [*a]\n", None, "deep"),
    "bomb": Broken(
        "\n".join(
            [f"a0: &a0 [{', '.join(['1'] * 10)}]"]
            + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
        ),
        None,
        "values",
    ),
    "deep": Broken("[" * 400 + "]" * 400, None, "deep"),
    "control_character": Broken("spec: \x07\n", None, "not YAML"),
    "too_long": Broken("x" * 60_000, None, "at most"),
}
SHAPE = {
    "text": Broken("just words\n", 1, "two parts"),
    "number": Broken("3\n", 1, "two parts"),
    "list_of_one": Broken("- spec:\n    name: a b\n  function: {}\n", 2, "is no name"),
    "list_of_two": Broken("- spec: {}\n- spec: {}\n", 1, "import"),
    "empty_list": Broken("[]\n", 1, "import"),
    "spec_only": Broken("spec: {name: x}\n", 1, "two parts"),
    "function_only": Broken("function: {type: template}\n", 1, "two parts"),
    "more_than_two_parts": Broken("spec: {name: x}\nfunction: {}\nfuntion: {}\n", 3, "funtion"),
    "spec_is_text": Broken("spec: x\nfunction: {}\n", 1, "must have a name"),
    "no_name": Broken("spec:\n  description: x\nfunction: {}\n", 1, "is no name"),
    "name_with_space": Broken("spec:\n  name: a b\nfunction: {}\n", 2, "is no name"),
    "name_is_number": Broken("spec:\n  name: 3\nfunction: {}\n", 2, "is no name"),
    "name_is_long": Broken(f"spec:\n  name: {'x' * 65}\nfunction: {{}}\n", 2, "is no name"),
    "name_of_ours": Broken(
        "spec: {name: extended_assist__x}\nfunction: {type: template, value_template: x}\n", None, "own"
    ),
    "description_is_list": Broken("spec:\n  name: x\n  description: [a]\nfunction: {}\n", 3, "must be a text"),
    "no_type": of("value_template: x", 4, "needs a type"),
    "function_is_text": Broken("spec: {name: x}\nfunction: light.turn_on\n", 2, "needs a type"),
    "unknown_type": of("type: bash", 5, "no type 'bash'"),
}
SCHEMA = {
    "parameters_are_text": parameters("none", "must be a JSON Schema"),
    "parameters_are_list": parameters("[item]", "must be a JSON Schema"),
    "parameters_of_other_type": parameters("{type: array}", "type object"),
    "properties_are_list": parameters("{properties: [item]}", "'properties'"),
    "unknown_json_type": parameters("{properties: {x: {type: text}}}", "not JSON Schema"),
    "enum_is_text": parameters("{properties: {x: {enum: a}}}", "not JSON Schema"),
    "required_is_text": parameters("{required: x}", "not JSON Schema"),
    "property_is_text": parameters("{properties: {x: string}}", "not JSON Schema"),
    "minimum_is_text": parameters("{properties: {x: {minimum: few}}}", "not JSON Schema"),
    "bad_pattern": parameters("{properties: {x: {pattern: '('}}}", "not JSON Schema|regular expression"),
    "foreign_reference": parameters("{properties: {x: {$ref: 'http://192.0.2.1/x'}}}", "leads out"),
    "reference_to_nowhere": parameters("{$ref: '#/nowhere'}", "cannot be used"),
    "reference_to_itself": parameters("{$ref: '#'}", "cannot be used"),
}
SETTINGS = {
    "no_template": of("type: template", 4, "value_template"),
    "template_is_number": of("type: template\nvalue_template: [1]", 6, "value_template"),
    "open_template": of("type: template\nvalue_template: '{{ x'", 6, "template is wrong in its line 1"),
    "open_block": of("type: template\nvalue_template: '{% if x %}'", 6, "template is wrong"),
    "unknown_filter": of("type: template\nvalue_template: '{{ x | sparkle }}'", 6, "sparkle"),
    "unknown_test": of("type: template\nvalue_template: '{{ x is sparkling }}'", 6, "sparkling"),
    "unknown_tag": of("type: template\nvalue_template: '{% sparkle %}'", 6, "sparkle"),
    "unknown_setting": of("type: template\nvalue_template: x\nvalue: y", 7, "value"),
    "blocks_in_blocks": of(
        f"type: template\nvalue_template: '{'{% for x in y %}' * 25}{'{% endfor %}' * 25}'",
        6,
        "template cannot be read: SyntaxError",
    ),
    "no_native_name": of("type: native", 4, "name"),
    "unknown_native": of("type: native\nname: fly", 6, "no native function"),
    "no_sequence": of("type: script", 4, "sequence"),
    "sequence_is_text": of("type: script\nsequence: light.turn_on", 6, "sequence"),
    "unknown_step": of("type: script\nsequence:\n  - fly: away", None, "not valid"),
    "template_in_step": of(
        "type: script\nsequence:\n  - service: light.turn_on\n    data: {x: '{{ y'}", None, "not valid"
    ),
    "no_address": of("type: rest", 4, "resource"),
    "two_addresses": of("type: rest\nresource: http://a/\nresource_template: http://b/", None, "resource"),
    "address_of_another_kind": of("type: rest\nresource: ftp://a/", 6, "not an address"),
    "address_is_a_path": of("type: rest\nresource: /etc/passwd", 6, "not an address"),
    "address_of_no_host": of("type: rest\nresource: http://[::1/", 6, "not an address"),
    "unknown_method": of("type: rest\nresource: http://a/\nmethod: FLY", 7, "method"),
    "timeout_is_text": of("type: rest\nresource: http://a/\ntimeout: long", 7, "timeout"),
    "header_template": of("type: rest\nresource: http://a/\nheaders: {x: '{{ y'}", 7, "template is wrong"),
    "payload_template": of("type: rest\nresource: http://a/\npayload_template: '{{ y'", 7, "template is wrong"),
    "no_sensor": of("type: scrape\nresource: http://a/", 4, "sensor"),
    "no_selector": of("type: scrape\nresource: http://a/\nsensor: [{name: x}]", 7, "select"),
    "wrong_selector": of("type: scrape\nresource: http://a/\nsensor:\n  - select: 'a[['", 8, "not a CSS selector"),
    "no_steps": of("type: composite\nsequence: []", 6, "1 to"),
    "steps_in_steps": of(
        "type: composite\nsequence:\n  type: composite\n  sequence:\n    type: composite\n    sequence:\n"
        "      type: composite\n      sequence: {type: template, value_template: a}",
        6,
        "more than 3 deep",
    ),
    "step_without_type": of("type: composite\nsequence:\n  - name: x", 7, "needs a type"),
    "step_of_unknown_type": of(
        "type: composite\nsequence:\n  - type: template\n    value_template: a\n  - type: fly", 9, "fly"
    ),
    "step_with_template": of(
        "type: composite\nsequence:\n  - type: template\n    value_template: '{{'", 8, "template is"
    ),
    "variable_is_no_name": of(
        "type: composite\nsequence:\n  - type: template\n    value_template: a\n    response_variable: a b",
        9,
        "must be a name",
    ),
    "variable_outside": of("type: template\nvalue_template: a\nresponse_variable: b", 7, "response_variable"),
    "query_template": of("type: sqlite\nquery: '{% if %}'", 6, "template is wrong"),
    "single_is_text": of("type: sqlite\nsingle: perhaps", 6, "single"),
}


def with_item(settings: str, line: int | None, words: str) -> Broken:
    """Return a function with a parameter `item` and wrong settings, which begin in line 5."""
    body = "\n".join(f"  {each}" for each in settings.splitlines())
    return Broken(spec("{type: object, properties: {item: {type: string}}}") + body + "\n", line, words)


SILENT = {
    "spec_parameter": Broken(
        "spec:\n  name: x\n  parameter: {}\nfunction: {type: template, value_template: a}\n", 3, "mean 'parameters'"
    ),
    "spec_descripton": Broken(
        "spec:\n  name: x\n  descripton: a\nfunction: {type: template, value_template: a}\n", 3, "mean 'description'"
    ),
    "property": parameters("{type: object, property: {x: {}}}", "mean 'properties'"),
    "requierd": parameters("{properties: {x: {}}, requierd: [x]}", "mean 'required'"),
    "required_of_another_name": parameters("{properties: {item: {}}, required: [itm]}", "mean 'item'"),
    "discription_of_field": parameters("{properties: {x: {discription: a}}}", "mean 'description'"),
    "unknown_variable": with_item("type: template\nvalue_template: '{{ itm }}'", 6, "no variable 'itm'.*mean 'item'"),
    "unknown_variable_elsewhere": with_item(
        "type: template\nvalue_template: '{{ zzz }}'", 6, "Add it to the parameters"
    ),
    "unknown_variable_with_default": with_item(
        "type: template\nvalue_template: '{{ itm | default(1) }}'", 6, "mean 'item'"
    ),
    "unknown_function": with_item(
        "type: template\nvalue_template: \"{{ state_atr('a.b', 'c') }}\"", 6, "mean 'state_attr'"
    ),
    "variable_in_script": with_item(
        "type: script\nsequence:\n- action: a.b\n  data: {x: '{{ itm }}'}", 8, "mean 'item'"
    ),
    "variable_in_query": with_item("type: sqlite\nquery: SELECT '{{ itm }}'", 6, "mean 'item'"),
    "variable_in_address": with_item("type: rest\nresource_template: http://a/{{ itm }}", 6, "mean 'item'"),
    "variable_in_header": with_item("type: rest\nresource: http://a/\nheaders: {x: '{{ itm }}'}", 7, "mean 'item'"),
    "variable_in_payload": with_item(
        "type: rest\nresource: http://a/\npayload_template: '{{ itm }}'", 7, "mean 'item'"
    ),
    "variable_of_answer": with_item(
        "type: rest\nresource: http://a/\nvalue_template: '{{ value_jsn.a }}'", 7, "mean 'value_json'"
    ),
    "variable_of_sensor": with_item(
        "type: scrape\nresource: http://a/\nvalue_template: '{{ prize }}'\nsensor: [{name: price, select: p}]",
        7,
        "mean 'price'",
    ),
    "variable_of_step": with_item(
        "type: composite\nsequence:\n- {type: template, value_template: a, response_variable: first}\n"
        "- {type: template, value_template: '{{ frist }}'}",
        8,
        "mean 'first'",
    ),
    "template_in_resource": with_item("type: rest\nresource: 'http://a/{{ item }}'", 6, "Use 'resource_template'"),
    "template_in_payload": with_item(
        "type: rest\nresource: http://a/\npayload: '{{ item }}'", 7, "Use 'payload_template'"
    ),
    "template_in_selector": with_item(
        "type: scrape\nresource: http://a/\nsensor:\n- select: 'p[x=\"{{ item }}\"]'", 8, "No template"
    ),
    "template_in_password": with_item(
        "type: rest\nresource: http://a/\nusername: a\npassword: '{{ item }}'", 8, "No template"
    ),
    "template_in_db_url": with_item("type: sqlite\ndb_url: '{{ item }}'", 6, "No template"),
    "single_braces": with_item("type: template\nvalue_template: 'Buy {item}'", 6, "is no template"),
    "dollar_braces": with_item("type: template\nvalue_template: 'Buy ${item}'", 6, "is no template"),
    "query_that_writes": with_item("type: sqlite\nquery: DELETE FROM states", 6, "must be a SELECT"),
    "sensor_key": with_item(
        "type: scrape\nresource: http://a/\nsensor:\n- select: p\n  atribute: href", 9, "mean 'attribute'"
    ),
    "macro_of_a_file": with_item(
        "type: template\nvalue_template: \"{% from 'tools.jinja' import m %}{{ m(item) }}\"", 6, "other files"
    ),
    "macro_of_a_file_with_any_argument": Broken(
        spec("{type: object, additionalProperties: true}")
        + "  type: template\n  value_template: \"{% import 'tools.jinja' as t %}{{ t.m() }}\"\n",
        6,
        "other files",
    ),
    "filter_that_is_left_out": with_item(
        "type: template\nvalue_template: '{{ item | regx_search(1) }}'", 6, "Nearest filters here: regex_search"
    ),
    "misspelled_type": with_item("type: templat\nvalue_template: a", 5, "mean 'template'"),
    "misspelled_setting": with_item("type: template\nvalue_template: a\nparse_resut: true", 7, "mean 'parse_result'"),
    "pattern_of_itself": parameters(
        "{properties: {x: {type: string, pattern: '(a(?R)?)+'}}}", "cannot be used|not JSON Schema"
    ),
    "patterns_of_names": parameters("{patternProperties: {'(a+)+$': {}}}", "not available"),
}
EVERY = {**YAML, **SHAPE, **SCHEMA, **SETTINGS, **SILENT}
