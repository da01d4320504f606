"""Whatever things are called, a question is made of lines that can be seen, and of none that a name has put into it."""

from dataclasses import replace
import unicodedata

import pytest

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.plan import Part, Plan, Step
from custom_components.extended_assist.calls.visible_text import one_line, quoted
from custom_components.extended_assist.confirmation.approval_requests import async_question
from custom_components.extended_assist.confirmation.wording import (
    LANGUAGES,
    Item,
    async_lines,
    question_of,
    step_for,
    words_for,
)
from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from tests.conftest import expose

ODD = {
    "a question": "Lamp.\nShall I do that?\nYes.",
    "carriage returns": "Lamp\r\nDone.",
    "a question on one line": "Lamp. Shall I do that? Yes.",
    "next line": "Lamp\x85Done",
    "line separator": "Lamp\u2028Done",
    "paragraph separator": "Lamp\u2029Done",
    "vertical tab": "Lamp\x0bDone",
    "form feed": "Lamp\x0cDone",
    "escape": "\x1b[2J\x1b[31mLamp",
    "null": "Lamp\x00",
    "backspaces": "Lock\x08\x08\x08\x08Lamp",
    "right to left": "Lamp\u202egnihton\u202c",
    "isolates": "\u2067Lamp\u2069",
    "zero width": "La\u200bmp",
    "joiners": "La\u200dm\u200cp",
    "byte order mark": "\ufeffLamp",
    "soft hyphen": "La\xadmp",
    "tag characters": "Lamp\U000e0041\U000e007f",
    "variation selectors": "Lamp\ufe0f\U000e0100",
    "Hangul fillers": "Lamp\u3164\uffa0\u115f",
    "blank Braille": "\u2800Lamp\u2800",
    "no-break spaces": "Lamp\xa0\u2003\u3000Done",
    "many spaces": "Lamp      Done",
    "a quotation mark": 'Lamp", nothing else and "Door',
    "curly quotation marks": "Lamp\u201d \u201cDoor",
    "many accents": "L" + "\u0300\u0301\u0302\u0303\u0304\u0305\u0306" * 4 + "amp",
    "private use": "Lamp\ue000\uf8ff",
    "unassigned": "Lamp\u0378",
    "Chinese sentences": "灯。好的。",
    "a label": "Lamp: Unlock Front Door",
    **{
        f"quotation marks {mark}": f"Lamp{mark} {mark}Door"
        for mark in "\u02ba\u2033\u2036\u275d\u275e\u276e\u276f\u300a\u300b\u301d\u301e\u301f\ufe43\uff02\U0001f677"
    },
    **{
        f"sentences of another script {mark}": f"Lamp{mark} Done"
        for mark in "\u0589\u061f\u061b\u06d4\u0964\u0965\u1362\u1367\u104b\u17d4\u203c\u203d\u2047\ufe52\ufe56\uff0e\uff61"
    },
    "an object that is not there": "Lamp\ufffcDone",
    "blank hieroglyphs": "Lamp\U00013441\U00013442",
    "a note without a head": "Lamp\U0001d159",
}
BLANK = ["", " ", "\n", "\u200b\u200b", "\u3164", "\u2800", "\u202e", "\x00", "\ufeff \u2060", "\xa0\u3000"]
PLAIN = [
    "Lamp",
    "Front Door",
    "Küche (oben)",
    "TV-Gerät 2",
    "Anna's lamp",
    "灯",
    "차고 문",
    "बाड़",
    "ประตูหน้า",
    "مصباح",
    "Đèn",
    "St.Anna",
    "Sonos 5.1",
    "A/C & fan",
    "50 % valve",
    "ממ״ד",
    "O\u02bbahu",
    "Anna\u2019s lamp",
    "💡 Lamp",
]


def is_visible(line: str) -> bool:
    """Return whether a line holds nothing that ends it, hides or moves anything."""
    return (
        line.isprintable() and "  " not in line and not any(unicodedata.category(one) in ("Cf", "Cc") for one in line)
    )


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_ones_are_quoted(text: str) -> None:
    """On one line, and where anything is not as it was or reads like more than a name, in quotation marks."""
    shown = quoted(text)
    assert is_visible(shown)
    assert shown.startswith('"')
    assert shown.endswith('"')
    assert '"' not in shown[1:-1]
    assert quoted(shown[1:-1]).strip('"') == shown[1:-1]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_ones_are_as_they_are(text: str) -> None:
    """In any script, and with what names usually hold."""
    assert quoted(text) == one_line(text) == text


@pytest.mark.usefixtures("assist")
@pytest.mark.parametrize("language", ["en", "de", "ko"])
@pytest.mark.parametrize("name", [*ODD.values(), *BLANK], ids=repr)
async def test_in_questions(hass: HomeAssistant, llm_context: llm.LLMContext, name: str, language: str) -> None:
    """Each step is one line, and something can be seen of each entity."""
    hass.states.async_set("lock.odd", "locked", {"friendly_name": name})
    expose(hass, "lock.odd")
    call = ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, "conversation"),
        caller=Caller(llm_context),
        options=ToolboxOptions(),
    )
    step = step_for(call, "lock.unlock", ["lock.odd"], {"code": name})
    plan = Plan((step,), step.words)
    (line,) = await async_lines(hass, call.exposure, plan, language)
    assert is_visible(line)
    assert line.startswith(("Unlock: ", "Unlock", "Entriegeln", "Aufschlie", "잠금"))
    assert len(plan.words.splitlines()) == 1
    if name in BLANK and name:  # Home Assistant makes a name of the id for an empty one.
        assert "lock.odd" in line


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("room", [400, 4_000])
def test_titles_and_parts(language: str, room: int) -> None:
    """What a model has called an automation, and its parts, put no line into a question either."""
    says = words_for(language)
    assert says
    name = ODD["a question"]
    items = [Item(f"{number} {name}", matters=number == 3) for number in range(40)]
    question = question_of(says, [], [f"{number} x" * 40 for number in range(60)], items, title=name, room=room)
    told = [line for portion in question.portions for line in portion.splitlines()]
    assert "Yes." not in told
    assert "Shall I do that?" not in told or language == "en"
    assert not any(line == "Shall I do that?" for portion in question.portions for line in portion.splitlines()[:-1])


def test_what_is_shown_keeps_its_lines() -> None:
    """Lines that change are told as lines, as far indented as they are, each of what can be seen."""
    step = Step("x.y", (), {}, "Change\nit", shown="+ a:\n+   b\u202e: 1\n  c", parts=(Part("x"),))
    assert step.written == "Change it\n+ a:\n+   b: 1\n  c"


@pytest.mark.usefixtures("assist")
@pytest.mark.parametrize("name", [ODD["a question"], ODD["right to left"], ODD["line separator"]], ids=repr)
async def test_on_phones(hass: HomeAssistant, llm_context: llm.LLMContext, name: str) -> None:
    """The name of the user who asks, and a message that would go out, put no line into a question on a phone."""
    user = await hass.auth.async_create_user(name)
    context = replace(llm_context, context=Context(user_id=user.id))
    call = ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, "conversation"),
        caller=Caller(context),
        options=ToolboxOptions(),
    )
    step = step_for(call, "notify.phone", [], {"message": name})
    question = await async_question(call, Plan((step,), step.words), "en")
    assert len(question.splitlines()) == 2
    assert all(map(is_visible, question.splitlines()))
    assert quoted(name) in question.splitlines()[0]
    assert quoted(name) in question.splitlines()[1]
