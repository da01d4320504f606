"""Tests of the actions: everyone sees and changes the household's facts and their own, and nobody else's."""

from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.memory.editing import MAX_FILE
from custom_components.extended_assist.memory.fact import Fact
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import area_registry as ar
from homeassistant.util.yaml import parse_yaml
from tests.helpers.one_home import in_one_home

from .home import OFF, ON, act, async_set_up_home
from .people import async_memory

pytestmark = pytest.mark.usefixtures("assist", "hass_storage", "no_deprecations")


@pytest.fixture
def anna(hass: HomeAssistant) -> str:
    """Return the id of somebody who lives here."""
    return MockUser(name="Anna").add_to_hass(hass).id


@pytest.fixture
async def home(assist: None, hass: HomeAssistant) -> MockConfigEntry:
    """Return an entry in which memory is on."""
    return await async_set_up_home(hass)


async def refused(hass: HomeAssistant, action: str, user_id: str | None, **data: Any) -> str:
    """Return the key of the refusal of an action."""
    with pytest.raises(ServiceValidationError) as error:
        await act(hass, action, user_id, **data)
    return str(error.value.translation_key)


async def words(hass: HomeAssistant, user_id: str | None) -> list[str]:
    """Return what somebody sees."""
    return [fact["words"] for fact in (await act(hass, "get_facts", user_id))["facts"]]


async def test_own_and_the_households(hass: HomeAssistant, home: MockConfigEntry, anna: str) -> None:
    """One's own facts are written, seen, changed and deleted by oneself alone."""
    ben = MockUser(name="Ben").add_to_hass(hass).id
    kept = await act(hass, "remember", anna, words="Only hers", whose="me", until="2099-01-01 00:00:00")
    assert kept["until"] == "2099-01-01 00:00:00"
    await act(hass, "remember", anna, words="Everyone's")
    assert await words(hass, anna) == ["Only hers", "Everyone's"]
    assert await words(hass, ben) == await words(hass, None) == ["Everyone's"]
    assert await refused(hass, "remember", ben, words="x", id=kept["id"]) == "fact_unreadable"
    assert await refused(hass, "forget", ben, ids=kept["id"]) == "fact_unreadable"
    assert (await act(hass, "forget", ben, all_own=True)) == {"forgotten": 0}
    await act(hass, "remember", anna, words="Only hers, still", whose="me", id=kept["id"])
    assert await words(hass, anna) == ["Everyone's", "Only hers, still"]
    memory = await async_memory(hass)
    assert (await act(hass, "forget", anna, ids=[kept["id"]])) == {"forgotten": 1}
    assert memory.find(kept["id"]) is not None
    assert (await act(hass, "forget", anna, all_own=True)) == {"forgotten": 0}
    assert memory.find(kept["id"]) is None
    (other,) = memory.held
    assert (await act(hass, "forget", anna, ids=[other.id], for_good=True)) == {"forgotten": 1}
    assert memory.find(other.id) is None


async def test_nobody(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """Automations change nothing unless the options allow it, never anybody's own; where memory is off, nobody does."""
    assert await refused(hass, "remember", None, words="x") == "fact_not_allowed"
    assert await refused(hass, "forget", None, all_own=True) == "fact_not_allowed"
    assert await refused(hass, "import_facts", None, facts="- fact: x") == "fact_not_allowed"
    hass.config_entries.async_update_entry(home, options=ON | {"memory_automations": True})
    await hass.async_block_till_done()
    await act(hass, "remember", None, words="By an automation")
    assert await refused(hass, "remember", None, words="x", whose="me") == "fact_not_allowed"
    assert await refused(hass, "forget", None, all_own=True) == "fact_not_allowed"
    assert await refused(hass, "import_facts", None, facts="- {fact: x, whose: me}") == "fact_not_allowed"
    assert await words(hass, None) == ["By an automation"]
    hass.config_entries.async_update_entry(home, options=OFF)
    await hass.async_block_till_done()
    for action, data in (
        ("get_facts", {}),
        ("remember", {"words": "x"}),
        ("forget", {}),
        ("import_facts", {"facts": ""}),
    ):
        assert await refused(hass, action, None, **data) == "memory_off"


async def test_export_and_import(
    hass: HomeAssistant, home: MockConfigEntry, anna: str, freezer: FrozenDateTimeFactory
) -> None:
    """What is exported comes back whole, once, in another home too; what is not there is not about it."""
    freezer.move_to("2026-03-02T12:00:00+00:00")
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Reading lamp"})
    hall = ar.async_get(hass).async_create("Hall")
    facts = [
        Fact("Yes: it's 'on' & #1", said_by=anna, entities=["light.lamp", "light.gone"], areas=[hall.id]),
        Fact("12:30", anna, anna, until=4_102_444_800.0),
        Fact("Müll, 垃圾"),
    ]
    memory = await async_memory(hass, *facts)
    exported = (await act(hass, "get_facts", anna))["yaml"]
    assert len(parse_yaml(exported)) == 3
    assert (await act(hass, "import_facts", anna, facts=exported)) == {"imported": 0}
    await memory.async_delete(lambda _: True)
    freezer.tick(3600)
    assert (await act(hass, "import_facts", anna, facts=exported)) == {"imported": 3}
    found = {fact.words: fact for fact in memory.held}
    assert found.keys() == {fact.words for fact in facts}
    for fact in facts:
        other = found[fact.words]
        assert (other.user_id, other.until, other.said) == (fact.user_id, fact.until, pytest.approx(fact.said, abs=1))
    assert (found[facts[0].words].entities, found[facts[0].words].areas) == (["light.lamp"], [hall.id])


WRONG = {
    "no YAML": ("- fact: 'x\n- y", "line"),
    "no list": ("fact: x", "…"),
    "no fact": ("- fact: x\n- words: y", "fact 2"),
    "too long": ("- fact: x\n- fact: " + "y" * 501, "fact 2"),
    "no time": ("- {fact: x, until: soon}", "fact 1"),
    "a file": ("- fact: !include secrets.yaml", "line 1"),
    "a secret": ("- fact: !secret password", "line 1"),
    "code": ("- fact: !!python/object/apply:os.system [x]", "line 1"),
    "deep": ("[" * 5_000, "line 2"),
    "no number": ("- fact: !!int ''", "…"),
    "no truth": ("- fact: !!bool maybe", "…"),
    "no date": ("- fact: !!timestamp soon", "…"),
    "before all time": ("- {fact: x, said: '0001-01-01T00:00:00+14:00'}", "fact 1"),
    "about too much": ("- {fact: x, about: [" + "light.a," * 101 + "]}", "fact 1"),
    "too many": ("\n".join(f"- fact: n{number}" for number in range(1_001)), "fact 1001"),
    "too large": ("#" * (MAX_FILE + 1), "…"),
}


@in_one_home("case", WRONG)
async def test_wrong_files(hass: HomeAssistant, home: MockConfigEntry, anna: str, case: str) -> None:
    """Nothing of a file that is wrong anywhere is remembered, and the place is told."""
    text, place = WRONG[case]
    with pytest.raises(ServiceValidationError) as error:
        await act(hass, "import_facts", anna, facts=text)
    assert error.value.translation_key == "fact_unreadable"
    assert place in str((error.value.translation_placeholders or {})["place"])
    assert (await async_memory(hass)).held == []


@in_one_home("length", range(60, 90))
async def test_exported_words(hass: HomeAssistant, home: MockConfigEntry, anna: str, length: int) -> None:
    """Words are written to a file as they are, wherever its lines break."""
    said = f"{'x' * length}: null: null : null , ~ && {'y' * length}: null - then: null"
    memory = await async_memory(hass, Fact(said))
    exported = (await act(hass, "get_facts", anna))["yaml"]
    await memory.async_delete(lambda _: True)
    await act(hass, "import_facts", anna, facts=exported)
    assert [fact.words for fact in memory.held] == [said]
    await memory.async_delete(lambda _: True)


async def test_wrong_facts(hass: HomeAssistant, home: MockConfigEntry, anna: str) -> None:
    """What is over, empty, or a password is refused; what is over in a file is left out."""
    assert await refused(hass, "remember", anna, words="x", until="2020-01-01 00:00:00") == "fact_over"
    assert await refused(hass, "remember", anna, words=" \n ") == "fact_unreadable"
    imported = await act(hass, "import_facts", anna, facts="- {fact: x, until: '2020-01-01 00:00:00'}\n- fact: y")
    assert imported == {"imported": 1}
    assert (await act(hass, "import_facts", anna, facts="")) == {"imported": 0}
