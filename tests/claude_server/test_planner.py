"""The offline planner: which tools it calls for a question, and that it says nothing the results do not."""

from base64 import b64encode
import json
from pathlib import Path
import re
from typing import Any

from anthropic import AsyncAnthropic
import pytest

from demo.custom_components.demo_home.const import FRONT_DOOR_FILE
from demo.front_door import draw_front_door
from tests.claude_server import LABEL, ClaudeServer, OfflinePlanner, planner_models, text, tool_use

LIST_OF_TEXTS = {"type": "array", "items": {"type": "string"}}
TOOLS: list[dict[str, Any]] = [
    {"name": name, "description": "…", "input_schema": {"type": "object", "properties": properties}}
    for name, properties in {
        "extended_assist__get_entities": {
            "name": {"type": "string"},
            "area": {"type": "string"},
            "domain": LIST_OF_TEXTS,
        },
        "extended_assist__get_history": {"entities": LIST_OF_TEXTS, "hours": {"type": "number"}},
        "extended_assist__get_energy": {"period": {"type": "string"}},
        "extended_assist__do_later": {"when": {"type": "object"}, "say": {}, "action": {}, "name": {}},
        "extended_assist__pending": {"cancel": {}, "snooze": {}},
        "intent__HassTurnOn": {"name": {"type": "string"}, "area": {"type": "string"}, "domain": LIST_OF_TEXTS},
        "intent__HassTurnOff": {"name": {"type": "string"}, "area": {"type": "string"}, "domain": LIST_OF_TEXTS},
        "homeassistant__GetLiveContext": {"area": {"type": "string"}, "domain": LIST_OF_TEXTS},
    }.items()
]
DOOR = {
    "start": "2026-10-21 10:00:00",
    "end": "2026-11-20 10:00:00",
    "entities": {
        "binary_sensor.front_door": {
            "name": "Front door",
            "now": "off",
            "changes": 4,
            "first_change": {"time": "2026-11-19 08:00:00", "state": "on"},
            "last_change": {"time": "2026-11-20 08:05:00", "state": "off"},
            "newest_changes": "time,state\n2026-11-20 08:05:00,off\n2026-11-20 08:01:00,on\n",
        }
    },
}
CLIMATE = {
    "entities": {
        "sensor.living_room": {
            "name": "Living room temperature",
            "unit": "°C",
            "newest_changes": "time,state\n2026-11-20 09:00:00,9.5\n2026-11-20 08:00:00,10.2\n2026-11-20 07:00:00,unavailable\n",
            "note": "3 older changes are not listed.",
        }
    }
}
ENTITIES = {
    "count": 3,
    "entities": "entity_id,name,area,state,unit\nlight.kitchen,Kitchen light,Kitchen,on,\nlight.lamp,Lamp,Living room,off,\n"
    "sensor.living_room,Living room temperature,Living room,20.1,°C\n",
}
LIVE = {
    "success": True,
    "result": "Live Context: An overview\n- names: Kitchen light\n  domain: light\n  state: 'on'\n  areas: Kitchen\n"
    "- names: Thermometer\n  domain: sensor\n  state: '21'\n  areas: Living room\n"
    "  attributes:\n    unit_of_measurement: °C\n",
}
TURNED = {"response_type": "action_done", "data": {"success": [{"name": "Lamp", "id": "light.lamp"}], "failed": []}}
HISTORY = "extended_assist__get_history"
LIST = "extended_assist__get_entities"
DO_LATER = "extended_assist__do_later"
HEADER = "entity_id,name,area,state,unit\n"
APPLIANCE = {"count": 1, "entities": f"{HEADER}sensor.washer_power,Washing machine power,Garage,480,W\n"}
KITCHEN = APPLIANCE | {
    "entities": f"{APPLIANCE['entities']}binary_sensor.fridge_door,Fridge door,Kitchen,off,\n",
}
WASHED = {"trigger": "numeric_state", "entity_id": "sensor.washer_power", "below": 5, "for": {"minutes": 2}}


def opening(entity_id: str) -> dict[str, Any]:
    """Return when something opens."""
    return {"triggers": [{"trigger": "state", "entity_id": entity_id, "to": "on"}]}


async def plan(question: str, *results: Any, tools: list[dict[str, Any]] = TOOLS) -> tuple[list[Any], str]:
    """Ask through the server, answer tool calls with the given results; gives the calls and the answer."""
    calls = []
    remaining = list(results)
    messages: list[Any] = [{"role": "user", "content": question}]
    async with (
        ClaudeServer(OfflinePlanner(), models=planner_models()) as server,
        AsyncAnthropic(base_url=server.url, api_key="test-key", _strict_response_validation=True) as client,
    ):
        while True:
            message: Any = await client.messages.create(
                model="claude-haiku-5-5", max_tokens=500, messages=messages, tools=tools
            )
            if message.stop_reason == "end_turn":
                assert not remaining
                return calls, message.content[0].text
            (call,) = message.content
            calls.append((call.name, call.input))
            result = remaining.pop(0)
            block = {"type": "tool_result", "tool_use_id": call.id, "content": json.dumps(result)}
            block["is_error"] = "error" in result
            messages += [
                {"role": "assistant", "content": [call.model_dump(exclude_none=True)]},
                {"role": "user", "content": [block]},
            ]


@pytest.mark.parametrize(
    ("question", "results", "calls", "answer"),
    [
        (
            "Remind me of the milk in 10 minutes.",
            [{"id": "f10t9x", "next": "Friday 2026-11-20 18:17:14", "what": "Say: milk"}],
            [("extended_assist__do_later", {"when": {"after": 600}, "say": "milk"})],
            "I will say 'milk' on Friday 2026-11-20 18:17:14.",
        ),
        (
            "Remind me to buy milk when the lamp opens",
            [ENTITIES, {"id": "f10t9x", "when": "when Lamp turns on", "what": "Say: buy milk"}],
            [
                (LIST, {"name": "lamp"}),
                (
                    "extended_assist__do_later",
                    {
                        "when": {
                            "triggers": [
                                {"trigger": "state", "entity_id": "light.kitchen", "to": ["on", "open", "unlocked"]}
                            ]
                        },
                        "say": "buy milk",
                    },
                ),
            ],
            "I will say 'buy milk' when Lamp turns on.",
        ),
        (
            "Remind me of the milk when the fridge opens.",
            [{"count": 0, "entities": "entity_id,name,area,state,unit\n"}],
            [(LIST, {"name": "fridge"})],
            "I found nothing named fridge.",
        ),
        (
            "Remind me of the milk when I next open the fridge.",
            [KITCHEN, {"id": "f10t9x", "when": "when Fridge door opens", "what": "Say: milk"}],
            [(LIST, {"name": "fridge"}), (DO_LATER, {"when": opening("binary_sensor.fridge_door"), "say": "milk"})],
            "I will say 'milk' when Fridge door opens.",
        ),
        (
            "Tell me when the washing machine is done.",
            [APPLIANCE, {"id": "f10t9x", "when": "when its power is below 5 W", "what": "Say: done"}],
            [
                (LIST, {"name": "washing machine"}),
                (DO_LATER, {"when": {"triggers": [WASHED]}, "say": "Washing machine: done"}),
            ],
            "I will say 'Washing machine: done' when its power is below 5 W.",
        ),
        (
            "Twenty minutes after the washing machine finishes, turn on the kitchen light.",
            [APPLIANCE, ENTITIES, {"id": "f10t9x", "when": "when it is over", "what": "Turn on"}],
            [
                (LIST, {"name": "washing machine"}),
                (LIST, {"name": "kitchen light"}),
                (
                    DO_LATER,
                    {
                        "when": {"triggers": [WASHED], "wait": 1200},
                        "action": {"action": "light.turn_on", "target": {"entity_id": "light.kitchen"}},
                    },
                ),
            ],
            "I will turn on kitchen light when it is over.",
        ),
        (
            "Tell us when the lamp closes",
            [APPLIANCE],
            [(LIST, {"name": "lamp"})],
            "I found nothing named lamp that does this.",
        ),
        (
            "Set a pasta timer for nine minutes.",
            [{"id": "f10t9x", "name": "pasta timer", "next": "Friday 2026-11-20 18:17:14"}],
            [(DO_LATER, {"when": {"after": 540}, "say": "The pasta timer is over", "name": "pasta timer"})],
            "I will say that the pasta timer is over on Friday 2026-11-20 18:17:14.",
        ),
        (
            "Wake me at seven on weekdays.",
            [{"id": "f10t9x", "next": "Monday 2026-11-23 07:00:00"}],
            [
                (
                    DO_LATER,
                    {
                        "when": {"at": "07:00", "repeat": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
                        "say": "Good morning",
                        "name": "Alarm",
                    },
                )
            ],
            "I will wake you on Monday 2026-11-23 07:00:00.",
        ),
        (
            "Wake us up at 6:30",
            [{"id": "f10t9x", "next": "Saturday 2026-11-21 06:30:00"}],
            [(DO_LATER, {"when": {"at": "06:30"}, "say": "Good morning", "name": "Alarm"})],
            "I will wake you on Saturday 2026-11-21 06:30:00.",
        ),
        (
            "What is still pending?",
            [{"pending": [], "timers": [{"name": "pasta", "left": "0:08:59"}]}],
            [("extended_assist__pending", {})],
            "In 0:08:59: pasta",
        ),
        (
            "Snooze.",
            [
                {"pending": [], "ended": [{"id": "f10t9x", "what": "Say: milk", "result": "said"}]},
                {"snoozed": "f10t9x", "next": "Friday 2026-11-20 18:27:14"},
            ],
            [
                ("extended_assist__pending", {}),
                ("extended_assist__pending", {"snooze": {"id": "f10t9x", "seconds": 600}}),
            ],
            "I will say it again on Friday 2026-11-20 18:27:14.",
        ),
        ("Snooze", [{"pending": []}], [("extended_assist__pending", {})], "I have said nothing yet."),
        (
            "What is still pending?",
            [{"pending": [{"id": "f10t9x", "next": "Friday 2026-11-20 18:17:14", "what": "Say: milk"}]}],
            [("extended_assist__pending", {})],
            "Friday 2026-11-20 18:17:14: Say: milk",
        ),
        ("What's pending?", [{"pending": []}], [("extended_assist__pending", {})], "Nothing is pending."),
        (
            "When did the front door last open?",
            [DOOR],
            [(HISTORY, {"entities": ["front door"], "hours": 720})],
            "Front door was last opened at 2026-11-20 08:01:00.",
        ),
        (
            "when was the front door last closed",
            [DOOR],
            [(HISTORY, {"entities": ["front door"], "hours": 720})],
            "Front door was last closed at 2026-11-20 08:05:00.",
        ),
        (
            "When did my front door change?",
            [DOOR],
            [(HISTORY, {"entities": ["front door"], "hours": 720})],
            "Front door last changed at 2026-11-20 08:05:00, to off.",
        ),
        (
            "When did the back door last open?",
            [{"start": "A", "end": "B", "entities": {"x": {"name": "Back door", "now": "off", "changes": 0}}}],
            [(HISTORY, {"entities": ["back door"], "hours": 720})],
            "Of Back door, no change is listed between A and B. It is off now.",
        ),
        (
            "How many times did the front door open today?",
            [DOOR],
            [(HISTORY, {"entities": ["front door"], "hours": 24})],
            (
                "Front door changed 4 times between 2026-10-21 10:00:00 and 2026-11-20 10:00:00, first at "
                "2026-11-19 08:00:00 and last at 2026-11-20 08:05:00."
            ),
        ),
        (
            "How warm was it in the living room last night?",
            [ENTITIES, CLIMATE],
            [
                (LIST, {"area": "living room", "domain": ["sensor"]}),
                (HISTORY, {"entities": ["sensor.living_room"], "hours": 24}),
            ],
            (
                "Living room temperature: lowest 9.5 °C at 2026-11-20 09:00:00, highest 10.2 °C at 2026-11-20 08:00:00, "
                "among the readings listed. (3 older changes are not listed.)"
            ),
        ),
        (
            "How cold is it in the living room right now?",
            [ENTITIES],
            [(LIST, {"area": "living room", "domain": ["sensor"]})],
            "Living room temperature: 20.1 °C.",
        ),
        ("Which lights are on?", [ENTITIES], [(LIST, {"domain": ["light"]})], "On: Kitchen light."),
        ("What lights are off?", [ENTITIES], [(LIST, {"domain": ["light"]})], "Off: Lamp."),
        ("Turn on the lamp.", [TURNED], [("intent__HassTurnOn", {"name": "lamp"})], "Turned on: Lamp."),
        (
            "please turn all the lights in the living room off",
            [TURNED],
            [("intent__HassTurnOff", {"area": "living room", "domain": ["light"]})],
            "Turned off: Lamp.",
        ),
        (
            "Switch off the heater",
            [{"error": "No entity named heater"}],
            [("intent__HassTurnOff", {"name": "heater"})],
            "That did not work. intent__HassTurnOff answered: No entity named heater",
        ),
        (
            "How much energy did we use yesterday?",
            [{"consumption": {"total": 12.3, "unit": "kWh"}}],
            [("extended_assist__get_energy", {"period": "yesterday"})],
            "consumption total: 12.3\nconsumption unit: kWh",
        ),
        (
            "What happened yesterday?",
            [],
            [],
            "I would need a tool named get_logbook, which is not among the tools I was given.",
        ),
    ],
)
async def test_answers(socket_enabled: None, question: str, results: list[Any], calls: list[Any], answer: str) -> None:
    """The calls and the answer; every number in the answer is from the results."""
    assert await plan(question, *results) == (calls, answer)
    known = json.dumps(results)
    assert all(number in known for number in re.findall(r"\d+(?:\.\d+)?", answer))


async def test_answers_with_the_call(socket_enabled: None) -> None:
    """Where a tool takes the answer in advance, a command comes with it; if that is not spoken, the results are told."""
    taker = {
        "name": "answer_when_done",
        "input_schema": {"type": "object", "properties": {"answer": {"type": "string"}}},
    }
    request: dict[str, Any] = {"messages": [{"role": "user", "content": "Turn on the lights in the hall."}]}
    turn = await OfflinePlanner().respond(request | {"tools": [*TOOLS, taker]})
    assert turn.content == [
        tool_use("intent__HassTurnOn", {"area": "hall", "domain": ["light"]}),
        tool_use("answer_when_done", {"answer": "Turned on: lights in the hall."}),
    ]
    calls = [block | {"id": f"toolu_{index}"} for index, block in enumerate(turn.content)]
    results = _result("toolu_0", TURNED)
    results["content"] += _result("toolu_1", {"spoken": False})["content"]
    request["messages"] += [{"role": "assistant", "content": calls}, results]
    turn = await OfflinePlanner().respond(request | {"tools": [*TOOLS, taker]})
    assert turn.content == [text("Turned on: Lamp.")]


@pytest.mark.parametrize(
    ("would", "asked"),
    [
        ("Toggle Lamp", "I would do this: Toggle Lamp. Shall I?"),
        (
            "Add 'A'\nLines (to be shown):\n```diff\n+alias: A\n```",
            "I would do this: Add 'A'.\n```diff\n+alias: A\n```\n\nShall I?",
        ),
    ],
)
async def test_asks_and_tells_what_was_done(socket_enabled: None, would: str, asked: str) -> None:
    """What waits for the user's word is told with its lines; then it is called again, and told in the result's words."""
    call = tool_use("execute_script", {"sequence": []}) | {"id": "toolu_1"}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Blink the lamp."},
        {"role": "assistant", "content": [call]},
        _result("toolu_1", {"done": False, "would": would}),
    ]
    tools = [{"name": "execute_script", "input_schema": {"type": "object"}}]
    turn = await OfflinePlanner().respond({"messages": messages, "tools": tools})
    assert turn.content == [text(asked)]
    said = {"role": "user", "content": [text("(Friday 2026-11-20 20:10)"), text("Yes, please do.")]}
    messages += [{"role": "assistant", "content": turn.content}, said]
    turn = await OfflinePlanner().respond({"messages": messages, "tools": tools})
    assert turn.content == [tool_use("execute_script", {"sequence": []})]
    again = {**turn.content[0], "id": "toolu_2"}
    messages += [{"role": "assistant", "content": [again]}, _result("toolu_2", {"what": "Blink"})]
    turn = await OfflinePlanner().respond({"messages": messages, "tools": tools})
    assert turn.content == [text("Done: Blink.")]


def _result(call_id: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the result of a call."""
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": call_id, "content": json.dumps(data)}],
    }


async def test_assist_alone_will_do(socket_enabled: None) -> None:
    """Without the toolbox the present is read with Assist's own tool, and the past is said to be out of reach."""
    assist = [tool for tool in TOOLS if not tool["name"].startswith("extended_assist")]
    calls, answer = await plan("Which lights are on?", LIVE, tools=assist)
    assert calls == [("homeassistant__GetLiveContext", {"domain": ["light"]})]
    assert answer == "On: Kitchen light."
    _, answer = await plan("How warm is it in the living room?", LIVE, tools=assist)
    assert answer == "Thermometer: 21 °C."
    _, answer = await plan("How warm was it in the living room?", LIVE, tools=assist)
    assert "no tool for the past" in answer


async def test_says_what_it_is(socket_enabled: None) -> None:
    """A question it has no rule for is answered with its label and with questions that it can answer."""
    calls, answer = await plan("What is the meaning of life?")
    assert not calls
    assert LABEL in answer
    for example in re.findall(r"^- (.*)$", answer, re.MULTILINE):
        turn = await OfflinePlanner().respond({"messages": [{"role": "user", "content": example}], "tools": TOOLS})
        assert LABEL not in turn.content[0].get("text", "")


async def test_asks_no_tool_when_told_not_to() -> None:
    """With the tool choice "none" there are no calls, as a model would be bound to."""
    request = {"messages": [{"role": "user", "content": "Which lights are on?"}], "tools": TOOLS}
    turn = await OfflinePlanner().respond(request | {"tool_choice": {"type": "none"}})
    assert turn.final_stop_reason == "end_turn"
    assert "which is not among the tools" in turn.content[0]["text"]


SYSTEM = (
    "Be kind.\n[Hall]\nbinary_sensor: Front door\nlight: Lamp = Lantern; Spot\n[Loft = Attic]\nsensor: Warmth\nThe end."
)
TOLD = "(Friday 2026-11-20 20:10)\nStates now:\n[Hall] Front door: off (closed); Lamp: on; Spot: off\n[Loft = Attic] Warmth: 20.5 °C"


@pytest.mark.parametrize(
    ("notes", "question", "answer"),
    [
        ([TOLD], "Is the front door open?", "No. Front door: off."),
        ([TOLD], "Which lights are on?", "On: Lamp."),
        ([TOLD], "How warm is it in the attic?", "Warmth: 20.5 °C."),
        ([TOLD, "States now, the rest as before:\n[Hall] Lamp: off"], "Which lights are on?", "No light is on."),
        ([TOLD, "States now: as before."], "Which lights are on?", "On: Lamp."),
        # What an earlier message told may not hold any more, and so does what is not told at all.
        ([TOLD, "(Friday 2026-11-20 20:11)"], "Which lights are on?", None),
        ([TOLD], "Is the back door open?", None),
        ([TOLD], "How warm was it in the attic?", None),
        ([TOLD], "When did the front door last open?", None),
        (["[Hall] Lamp: on"], "Which lights are on?", None),
    ],
)
async def test_the_present_is_read(notes: list[str], question: str, answer: str | None) -> None:
    """Where the newest message tells it, nothing is called; else a tool is, however much is known from before."""
    messages = [{"role": "user", "content": [text(note), text(question)]} for note in notes]
    turn = await OfflinePlanner().respond({"system": SYSTEM, "tools": TOOLS, "messages": messages})
    assert [block.get("text") for block in turn.content] == [answer]
    looked = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": json.dumps(ENTITIES)}]}
    call = {"role": "assistant", "content": [tool_use(LIST, {}) | {"id": "a"}]}
    turn = await OfflinePlanner().respond({"system": SYSTEM, "tools": TOOLS, "messages": [*messages, call, looked]})
    assert "Lamp: on" not in turn.content[0].get("text", "")


@pytest.mark.parametrize(
    ("parcel", "answer"), [(True, "Yes, .* Front door"), (False, "No, .* Front door"), (None, "I was shown no picture")]
)
async def test_what_is_seen(parcel: bool | None, answer: str, tmp_path: Path) -> None:
    """What is said of a picture comes from its pixels; that there was one, from nothing else."""
    told = [text('{"pictures": [{"name": "Front door"}]}')]
    if parcel is not None:
        draw_front_door(tmp_path, parcel=parcel)
        data = b64encode((tmp_path / FRONT_DOOR_FILE).read_bytes()).decode()
        source = {"type": "base64", "media_type": "image/png", "data": data}
        told += [text("Front door, 18:07:"), {"type": "image", "source": source}]
    call = tool_use("extended_assist__look", {"question": "Parcel?"}) | {"id": "toolu_1"}
    turn = await OfflinePlanner().respond(
        {
            "messages": [
                {"role": "user", "content": "Is there a parcel at the door?"},
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": told}]},
            ]
        }
    )
    assert re.match(answer, turn.content[0]["text"])
