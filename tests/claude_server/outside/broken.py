"""For each rule the requests that break it, as changes of one that is fine; those that need answers first are in breaking.py."""

import base64
from io import BytesIO
from typing import Any

from PIL import Image

type Body = dict[str, Any]

SAID: Body = {"type": "text", "text": "Hello"}
CALLS: list[Body] = [{"type": "tool_use", "id": f"toolu_{n}", "name": "look", "input": {}} for n in (1, 2)]
RESULTS: list[Body] = [{"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "done"} for n in (1, 2)]
SEARCH: Body = {"type": "web_search_20250305", "name": "web_search"}
COMPUTER: Body = {"type": "computer_20251124", "name": "computer", "display_width_px": 9, "display_height_px": 9}
SEARCHED: Body = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND: Body = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
OPUS, SONNET, HAIKU, HAIKU_4 = "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5"
SONNET_4_6, NO_THINKING = "claude-sonnet-4-6", "claude-3-5-haiku-20241022"
MANUAL = {"type": "enabled", "budget_tokens": 1_024}


def user(*blocks: Body) -> Body:
    """A user message."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Body) -> Body:
    """An assistant message."""
    return {"role": "assistant", "content": list(blocks)}


def tool(schema: Body | None = None, **more: Any) -> Body:
    """A tool, by default one without arguments."""
    return {"name": "look", "input_schema": {"type": "object", "properties": {}} if schema is None else schema} | more


def fields(**properties: Body) -> Body:
    """A schema of an object."""
    return {"type": "object", "properties": properties}


def held(schema: Body) -> Body:
    """A request whose answer is to have a schema."""
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def strict(**properties: Body) -> Body:
    """A schema such as the service can hold the model to."""
    return fields(**properties) | {"required": list(properties), "additionalProperties": False}


def picture(width: int = 1, height: int = 1, kind: str = "PNG") -> str:
    """An image, encoded."""
    data = BytesIO()
    Image.new("1" if kind == "PNG" else "RGB", (width, height)).save(data, kind)
    return base64.b64encode(data.getvalue()).decode()


def image(data: str, media_type: str = "image/png") -> Body:
    """An image block."""
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def pdf(data: bytes) -> Body:
    """A document block."""
    encoded = base64.b64encode(data).decode()
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": encoded}}


def asking(*blocks: Body) -> Body:
    """A request with these blocks in front of the question."""
    return {"messages": [user(*blocks, SAID)]}


def said(*messages: Body) -> Body:
    """A request with these messages."""
    return {"messages": list(messages)}


_WIDE = picture(2_001)
_CALLED = (user(SAID), assistant(CALLS[0]))
_MARKED = SAID | {"cache_control": MARK}
_OPTIONAL = {f"f{n}": {"type": "string"} for n in range(25)}

OPTIONS: dict[str, list[Body]] = {
    "unknown_model": [{"model": "claude-none"}],
    "unknown_beta": [{"betas": "no-such-thing-2026-01-01"}],
    "field_without_its_beta": [
        {"context_management": {"edits": []}, "betas": "files-api-2025-04-14"},
        {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}},
    ],
    "max_tokens": [{"max_tokens": -1}, {"max_tokens": 128_001}],
    "user_id": [{"metadata": {"user_id": "x" * 513}}],
    "thinking_type": [
        {"model": HAIKU_4, "thinking": {"type": "adaptive"}},
        {"model": HAIKU, "thinking": MANUAL, "max_tokens": 2_000},
        {"model": OPUS, "thinking": {"type": "disabled"}},
        {"model": SONNET, "thinking": {"type": "disabled"}},
        {"model": HAIKU, "thinking": {"type": "between_tools"}},
    ],
    "small_budget": [{"model": HAIKU_4, "thinking": {"type": "enabled", "budget_tokens": 1_023}, "max_tokens": 2_000}],
    "display_without_thinking": [{"model": HAIKU, "thinking": {"type": "disabled", "display": "summarized"}}],
    "unknown_effort": [
        {"model": HAIKU_4, "output_config": {"effort": "low"}},
        {"model": SONNET_4_6, "output_config": {"effort": "xhigh"}},
    ],
    "effort_without_thinking": [{"thinking": {"type": "disabled"}, "output_config": {"effort": "xhigh"}}],
    "effort_between_tools": [
        {"model": SONNET, "thinking": {"type": "between_tools"}, "output_config": {"effort": "max"}}
    ],
    "forced_tool": [{"model": OPUS, "tools": [tool()], "tool_choice": {"type": "any"}}],
    "forced_tool_with_thinking": [
        {
            "model": HAIKU_4,
            "thinking": MANUAL,
            "max_tokens": 2_000,
            "tools": [tool()],
            "tool_choice": {"type": "tool", "name": "look"},
        }
    ],
    "sampling": [{"temperature": 0.5}, {"top_p": 1}, {"top_k": 5}],
    "sampling_with_thinking": [
        {"model": SONNET_4_6, "thinking": {"type": "adaptive"}} | more
        for more in ({"temperature": 0.5}, {"top_k": 5}, {"top_p": 0.9})
    ],
    "sampling_twice": [{"model": HAIKU_4, "temperature": 0.5, "top_p": 0.9}],
    "order_of_edits": [
        {
            "context_management": {
                "edits": [{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}]
            },
            "betas": "context-management-2025-06-27",
        }
    ],
    "thinking_budget": [{"model": HAIKU_4, "thinking": MANUAL, "max_tokens": 1_024}],
}

TOOLS: dict[str, list[Body]] = {
    "tool_name": [{"tools": [tool(name=name)]} for name in ("look.up", "Größe", "", "x" * 129)],
    "tool_names_twice": [{"tools": [tool(), tool()]}, {"tools": [SEARCH, tool(name="web_search")]}],
    "schema_type": [{"tools": [tool({"type": "array"})]}, {"tools": [tool({})]}],
    "schema_union": [{"tools": [tool(fields() | {key: [{}]})]} for key in ("oneOf", "anyOf", "allOf")],
    "property_key": [
        {"tools": [tool(fields(**{name: {"type": "string"}}))]} for name in ("Größe", "filter[app]", "a b", "x" * 65)
    ]
    + [
        {"tools": [tool(fields(a={"type": "array", "items": fields(Größe={})}))]},
        {"tools": [tool(fields(a={"anyOf": [{"type": "string"}, fields(Größe={})]}))]},
    ],
    "schema_form": [{"tools": [tool(fields(a={"type": "text"}))]}, {"tools": [tool(fields() | {"required": "a"})]}],
    "examples": [{"tools": [tool(fields(a={"type": "string"}), input_examples=[{"a": 1}])]}],
    "choice_without_tools": [{"tools": [], "tool_choice": {"type": "auto"}}],
    "choice_of_no_tool": [{"tools": [tool()], "tool_choice": {"type": "tool", "name": "gone"}}],
    "all_deferred": [{"tools": [tool(defer_loading=True)]}],
    "deferred_search": [
        {
            "model": SONNET,
            "tools": [
                tool(),
                {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25", "defer_loading": True},
            ],
        }
    ],
    "found_tool_gone": [
        {
            "tools": [tool()],
            "messages": [
                *_CALLED,
                user(RESULTS[0] | {"content": [{"type": "tool_reference", "tool_name": "gone"}]}),
            ],
        }
    ],
    "server_tool": [
        {"model": NO_THINKING, "tools": [SEARCH]},
        {"model": NO_THINKING, "tools": [{"type": "code_execution_20260521", "name": "code_execution"}]},
    ],
    "tool_search": [{"tools": [{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}]}],
    "filtering": [{"model": HAIKU_4, "tools": [{"type": "web_search_20260318", "name": "web_search"}]}],
    "domains_twice": [{"tools": [SEARCH | {"allowed_domains": ["a.example"], "blocked_domains": ["b.example"]}]}],
    "domain": [{"tools": [SEARCH | {"allowed_domains": [name]}]} for name in ("https://a.example", "*.example")],
    "user_location": [
        {"tools": [SEARCH | {"user_location": {"type": "approximate"} | more}]}
        for more in ({}, {"country": "Deutschland"})
    ],
    "first_code_execution": [{"tools": [{"type": "code_execution_20250522", "name": "code_execution"}]}],
    "computer_use": [{"model": OPUS, "tools": [COMPUTER]}],
}

STRUCTURED: dict[str, list[Body]] = {
    "structured_outputs": [
        {"model": NO_THINKING} | held(strict()),
        {"model": NO_THINKING, "tools": [tool(strict(), strict=True)]},
    ],
    "open_object": [held(fields()), {"tools": [tool(strict(a=fields()), strict=True)]}],
    "unsupported_keyword": [
        held(strict(a={"type": "integer", "minimum": 1})),
        held(strict(a={"type": "string", "maxLength": 3})),
        held(strict(a={"type": "array", "items": {"type": "string"}, "maxItems": 3})),
    ],
    "unsupported_count": [held(strict(a={"type": "array", "items": {"type": "string"}, "minItems": 2}))],
    "unsupported_format": [held(strict(a={"type": "string", "format": "lower"}))],
    "unsupported_pattern": [
        held(strict(a={"type": "string", "pattern": pattern})) for pattern in (r"(?=a)b", r"(a)\1", r"\bword\b")
    ],
    "complex_enum": [held(strict(a={"enum": [["a"], "b"]}))],
    "reference": [
        held(strict(a={"$ref": "#"})),
        held(strict(a={"$ref": "http://a.example/schema"})),
        held(strict(a={"$ref": "#/$defs/a"}) | {"$defs": {"a": strict(b={"$ref": "#/$defs/a"})}}),
        held(strict(a={"allOf": [{"$ref": "#/$defs/a"}]}) | {"$defs": {"a": {"type": "string"}}}),
    ],
    "strict_tools": [{"tools": [tool(strict(), name=f"t{n}", strict=True) for n in range(21)]}],
    "optional_fields": [
        held(fields(**_OPTIONAL) | {"additionalProperties": False}),
        {
            "tools": [
                tool(fields(**dict(part)) | {"additionalProperties": False}, name=f"t{n}", strict=True)
                for n, part in enumerate((list(_OPTIONAL.items())[:13], list(_OPTIONAL.items())[13:]))
            ]
        },
    ],
    "union_fields": [held(strict(**{f"f{n}": {"type": ["string", "null"]} for n in range(17)}))],
    "format_with_citations": [
        held(strict())
        | {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch", "citations": {"enabled": True}}]},
        held(strict()) | asking(pdf(b"%PDF-1.4") | {"citations": {"enabled": True}}),
    ],
    "format_with_prefill": [{"model": HAIKU_4} | held(strict()) | said(user(SAID), assistant(SAID))],
}

MARKS: dict[str, list[Body]] = {
    "too_many_marks": [
        {"tools": [tool(cache_control=MARK)], "system": [_MARKED]} | asking(_MARKED, _MARKED, _MARKED),
        {"cache_control": MARK} | asking(*[_MARKED] * 4),
    ],
    "short_before_long": [{"tools": [tool(cache_control=MARK)], "system": [SAID | {"cache_control": HOUR}]}],
    "marked_thinking": [
        said(
            user(SAID),
            assistant({"type": "thinking", "thinking": "", "signature": "x", "cache_control": MARK}, SAID),
            user(SAID),
        )
    ],
    "marked_empty_text": [asking(_MARKED | {"text": ""})],
    "marked_deferred_tool": [{"tools": [tool(), tool(name="b", defer_loading=True, cache_control=MARK)]}],
    "two_lifetimes_on_one_block": [{"cache_control": MARK} | said(user(SAID | {"cache_control": HOUR}))],
}

CONVERSATION: dict[str, list[Body]] = {
    "no_message": [said()],
    "many_messages": [said(*[{"role": "user", "content": "x"}] * 100_001)],
    "first_message": [said(assistant(SAID), user(SAID))],
    "empty_message": [said(user()), said(user(SAID), assistant(), user(SAID))],
    "empty_text": [
        asking(SAID | {"text": ""}),
        {"system": [SAID | {"text": ""}]},
        said(*_CALLED, user(RESULTS[0] | {"content": [SAID | {"text": ""}]})),
    ],
    "blank_text": [
        asking(SAID | {"text": " \n"}),
        said({"role": "user", "content": " "}),
        {"system": " "},
        said(*_CALLED, user(RESULTS[0] | {"content": " "})),
    ],
    "call_ids": [
        said(user(SAID), assistant(CALLS[0], CALLS[0]), user(RESULTS[0])),
        said(*_CALLED, user(RESULTS[0]), assistant(CALLS[0]), user(RESULTS[0])),
    ],
    "call_id_letters": [
        said(user(SAID), assistant(CALLS[0] | {"id": "call.1"}), user(RESULTS[0] | {"tool_use_id": "call.1"}))
    ],
    "call_name_letters": [said(user(SAID), assistant(CALLS[0] | {"name": "look up"}), user(RESULTS[0]))],
    "result_twice": [said(*_CALLED, user(RESULTS[0], RESULTS[0]))],
    "call_without_result": [
        said(user(SAID), assistant(*CALLS)),
        said(user(SAID), assistant(*CALLS), user(SAID)),
        said(user(SAID), assistant(*CALLS), user(RESULTS[0])),
        said(user(SAID), assistant(*CALLS), user(SAID, *RESULTS)),
        said(user(SAID), assistant(*CALLS), user(RESULTS[0], SAID, RESULTS[1])),
    ],
    "result_without_call": [
        said(user(SAID, RESULTS[0])),
        said(*_CALLED, user(*RESULTS)),
        said(*_CALLED, user(RESULTS[0]), assistant(SAID), user(RESULTS[0])),
        said(user(SAID), assistant(SEARCHED), user(RESULTS[0] | {"tool_use_id": "srvtoolu_1"})),
    ],
    "server_result_without_call": [said(user(SAID), assistant(FOUND, SEARCHED), user(SAID))],
    "continued_without_its_tool": [said(user(SAID), assistant(SEARCHED, CALLS[0]), user(RESULTS[0]))],
    "unfinished_server_call": [
        {"tools": [SEARCH]} | said(user(SAID), assistant(SEARCHED), user(SAID)),
        {"tools": [SEARCH, tool()]} | said(user(SAID), assistant(SEARCHED, CALLS[0]), user(RESULTS[0], SAID)),
    ],
    "prefill": [said(user(SAID), assistant(SAID))],
    "trailing_whitespace": [{"model": HAIKU_4} | said(user(SAID), assistant(SAID | {"text": "Well: "}))],
}

FILES: dict[str, list[Body]] = {
    "too_large": [asking(*[pdf(b"%PDF-" + b"x" * 8_000_000)] * 3)],
    "long_prompt": [{"model": HAIKU_4} | asking(SAID | {"text": "word " * 160_001})],
    "large_image": [asking(image("A" * (10 * 2**20 + 4)))],
    "broken_image": [asking(image("AAAA")), asking(image(picture(kind="BMP")))],
    "image_kind": [asking(image(picture(), "image/jpeg")), asking(image(picture(kind="GIF")))],
    "wide_image": [asking(image(picture(8_001))), asking(*[image(_WIDE)] * 21)],
    "many_images": [{"model": HAIKU_4} | asking(*[image(picture())] * 101), asking(*[image(picture())] * 601)],
    "broken_document": [asking(pdf(b"x")), asking(pdf(b"%PDF-1.4 /Encrypt"))],
    "many_pages": [
        {"model": HAIKU_4} | asking(pdf(b"%PDF-1.4" + b"/Type /Page " * 101)),
        asking(*[pdf(b"%PDF-1.4" + b"/Type /Page " * 400)] * 2),
    ],
    "unsupported_file": [{"model": "blind"} | asking(image(picture())), {"model": "blind"} | asking(pdf(b"%PDF-1.4"))],
}

BROKEN = OPTIONS | TOOLS | STRUCTURED | MARKS | CONVERSATION | FILES

FINE: list[Body] = [
    {},
    said(user(SAID), user(SAID), assistant(CALLS[0]), assistant(CALLS[1]), user(RESULTS[0] | {"content": ""}), user(RESULTS[1], SAID)),
    {"tools": [tool(name="x" * 128), tool(fields(**{"a.b-c_D": {"anyOf": [{"type": "string"}, {"type": "number"}]}}), name="b")]},
    {"tools": [tool(fields(properties={"type": "string"}))], "tool_choice": {"type": "any"}},
    {"model": HAIKU_4, "thinking": MANUAL, "max_tokens": 2_000, "tools": [tool()], "tool_choice": {"type": "none"}},
    {"model": HAIKU_4, "temperature": 0.5},
    {"model": HAIKU_4} | asking(SAID | {"text": "word " * 159_000}),
    {"max_tokens": 0, "metadata": {"user_id": "x" * 512}},
    {"tools": [{"type": "code_execution_20250522", "name": "code_execution"}], "betas": "code-execution-2025-05-22"},
    {"tools": [{"type": "code_execution_20260521", "name": "code_execution"}]},
    {"tools": [COMPUTER]},
    {"temperature": 1},
    {"model": HAIKU_4} | said(user(SAID), assistant(SAID)),
    {"model": SONNET, "thinking": {"type": "between_tools"}, "output_config": {"effort": "high"}},
    {"output_config": {"effort": "max"}},
    {"tools": [SEARCH | {"user_location": {"type": "approximate", "country": "NL"}, "allowed_domains": ["a.example/b/*"]}]},
    {"model": HAIKU_4, "tools": [{"type": "web_search_20260318", "name": "web_search", "allowed_callers": ["direct"]}]},
    {"tools": [SEARCH, tool()]} | said(user(SAID), assistant(SEARCHED, CALLS[0]), user(RESULTS[0])),
    {"tools": [SEARCH]} | said(user(SAID), assistant(SEARCHED, FOUND, SAID), user(SAID)),
    held(strict(**dict(list(_OPTIONAL.items())), n={"type": ["string", "null"]}, d={"type": "string", "format": "date"})),
    held(strict(a={"$ref": "#/$defs/a"}, b={"$ref": "#/$defs/a"}) | {"$defs": {"a": strict(c={"type": "string"})}}),
    {"tools": [tool(cache_control=HOUR)], "system": [SAID | {"cache_control": HOUR}]} | asking(_MARKED, _MARKED),
    asking(*[image(_WIDE)] * 20),
    asking(image(picture(kind="JPEG"), "image/jpeg"), pdf(b"%PDF-1.4" + b"/Type /Page " * 600)),
]  # fmt: skip
