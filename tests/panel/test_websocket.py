"""The commands behind the panel: administrators see all, others their own, and nobody answers for anybody else."""

import asyncio
from collections.abc import Awaitable, Callable
import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist import websocket
from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.confirmation import question
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.memory.store import async_get_memory
from custom_components.extended_assist.panel import manual_calls
from custom_components.extended_assist.panel.exposed_entities import MAX_ROWS
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.memory import RememberTool
from homeassistant.auth.const import GROUP_ID_READ_ONLY
from homeassistant.auth.models import User
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from tests.confirmation.test_phone_approval import Asked
from tests.conftest import ASSISTANT
from tests.helpers.acting import traces
from tests.helpers.one_home import in_one_home
from tests.scheduled.devices import AddPhone
from tests.scheduled.shown import async_set_up_home, make_task

from .conftest import As, Refused

pytestmark = pytest.mark.usefixtures("panel_home")

EVERYBODY = ("journal/list", "wishes/list", "questions/list")
ADMINISTRATORS = ("usage", "visible", "tools/list")

type Act = Callable[..., Awaitable[None]]


@pytest.fixture
def act(hass: HomeAssistant, panel_home: MockConfigEntry) -> Act:
    """Return a function that lets an assistant do something for a user."""

    async def perform(user: User | None, action: str, entity_id: str, **data: Any) -> None:
        options = ToolboxOptions.of(panel_home.options, panel_home.entry_id)
        context = llm.LLMContext(DOMAIN, Context(user_id=user.id if user else None), "en", "conversation", None)
        arguments = {"action": action, "target": {"entity_id": entity_id}, "data": data}
        tool = PerformActionTool(options)
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
        assert not result.error, result.data

    return perform


async def test_who_may(as_user: As, admin: User, anna: User) -> None:
    """What tells of others, or of the whole home, is for administrators."""
    send, own = await as_user(admin), await as_user(anna)
    for command in (*EVERYBODY, *ADMINISTRATORS):
        await send(command)
    for command in EVERYBODY:
        assert await own(command) == []
    for command in ADMINISTRATORS:
        with pytest.raises(Refused, match="unauthorized"):
            await own(command)
    with pytest.raises(Refused, match="unauthorized"):
        await own("tools/call", entry="any", tool="any", arguments={})


async def test_journal(hass: HomeAssistant, as_user: As, act: Act, admin: User, anna: User, ben: User) -> None:
    """Each change is told with who asked and what it was; others' changes are not there for a user."""
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    await act(ben, "input_number.set_value", "input_number.level", value=7)
    await act(None, "fan.turn_on", "fan.living_room_fan")
    fan, level, party = await (await as_user(admin))("journal/list")
    assert (fan["user"], level["user"], party["user"]) == (None, ben.name, anna.name)
    assert level["action"] == "Set input number value"
    (entity,) = party["entities"]
    assert (entity["entity_id"], entity["name"]) == ("input_boolean.party", "Party")
    assert entity["changes"] == [{"name": "state", "before": "off", "after": "on"}]
    own = await as_user(anna)
    assert [row["id"] for row in await own("journal/list")] == [party["id"]]
    # What is hidden since is not told, though it was done.
    async_expose_entity(hass, ASSISTANT, "input_boolean.party", should_expose=False)
    (hidden,) = await own("journal/list")
    assert (hidden["entities"], hidden["more"]) == ([], 1)


async def test_undo(hass: HomeAssistant, as_user: As, act: Act, admin: User, anna: User, ben: User) -> None:
    """Undo asks first, is done once at a yes, and only for those whose change it is."""
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    of_anna, of_ben = await as_user(anna), await as_user(ben)
    (change,) = await of_anna("journal/list")
    refused = await of_ben("journal/undo", change=change["id"])
    assert (refused["done"], "question" in refused) == (False, False)
    assert "not there any more" in refused["answer"]
    asked = await of_anna("journal/undo", change=change["id"])
    assert "Party" in asked["question"]["text"]
    assert hass.states.get("input_boolean.party").state == "on"
    wanted = asked["question"]["id"]
    # Not Ben, not even as the administrator, and not twice.
    for other in (of_ben, await as_user(admin)):
        assert await other("questions/list") == []
        with pytest.raises(Refused, match="panel_gone"):
            await other("questions/answer", question=wanted, agreed=True)
    assert [row["id"] for row in await of_anna("questions/list")] == [wanted]
    done = await of_anna("questions/answer", question=wanted, agreed=True)
    assert done["done"]
    assert hass.states.get("input_boolean.party").state == "off"
    with pytest.raises(Refused, match="panel_gone"):
        await of_anna("questions/answer", question=wanted, agreed=True)
    (change,) = await of_anna("journal/list")
    assert (change["undone"], change["can_undo"]) == (True, False)
    assert "question" not in await of_anna("journal/undo", change=change["id"])


async def test_no(hass: HomeAssistant, as_user: As, act: Act, admin: User, anna: User) -> None:
    """A no leaves everything as it is, and an administrator may undo for others."""
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    send = await as_user(admin)
    (change,) = await send("journal/list")
    asked = await send("journal/undo", change=change["id"])
    assert await send("questions/answer", question=asked["question"]["id"], agreed=False) == {"done": False}
    assert hass.states.get("input_boolean.party").state == "on"
    asked = await send("journal/undo", change=change["id"])
    assert (await send("questions/answer", question=asked["question"]["id"], agreed=True))["done"]
    assert hass.states.get("input_boolean.party").state == "off"


async def test_changed_since(hass: HomeAssistant, as_user: As, act: Act, anna: User) -> None:
    """A yes is to what was shown: where that is not so any more, it is asked anew."""
    await act(anna, "input_number.set_value", "input_number.level", value=7)
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    send = await as_user(anna)
    party, level = await send("journal/list")
    asked = await send("journal/undo", change=party["id"])
    async_expose_entity(hass, ASSISTANT, "input_boolean.party", should_expose=False)
    again = await send("questions/answer", question=asked["question"]["id"], agreed=True)
    assert not again["done"]
    assert hass.states.get("input_boolean.party").state == "on"
    # An older change can be undone by itself.
    asked = await send("journal/undo", change=level["id"])
    assert (await send("questions/answer", question=asked["question"]["id"], agreed=True))["done"]
    assert hass.states.get("input_number.level").state == "0.0"


async def test_wishes(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, admin: User, anna: User, ben: User
) -> None:
    """The household's tasks and the user's own are listed, and can be ended; ending is undone as any change."""
    tasks = await async_get_scheduled_tasks(hass)
    of_all, of_anna = make_task(panel_home, "Water the plants"), make_task(panel_home, "Call mother", user_id=anna.id)
    for one in (of_all, of_anna):
        await tasks.async_add(one)
    listed = await (await as_user(anna))("wishes/list")
    assert {(row["name"], row["user"], row["is_own"]) for row in listed} == {
        ("Water the plants", None, False),
        ("Call mother", anna.name, True),
    }
    other = await as_user(ben)
    assert [row["name"] for row in await other("wishes/list")] == ["Water the plants"]
    assert not (await other("wishes/cancel", wish=of_anna.id))["done"]
    assert of_anna.is_standing
    assert len(await (await as_user(admin))("wishes/list")) == 2
    assert (await other("wishes/cancel", wish=of_all.id))["done"]
    assert not of_all.is_standing
    (change,) = await other("journal/list")
    asked = await other("journal/undo", change=change["id"])
    assert (await other("questions/answer", question=asked["question"]["id"], agreed=True))["done"]
    assert tasks.find(of_all.id).is_standing


async def test_visible(as_user: As, admin: User) -> None:
    """Each entity is told with what reads it, or with why it is not found."""
    send = await as_user(admin)
    whole = await send("visible")
    assert 0 < whole["exposed"] < whole["found"]
    assert len(whole["rows"]) <= MAX_ROWS
    (party,) = (await send("visible", search="input_boolean.party"))["rows"]
    assert (party["exposed"], party["families"]) == (True, ["entities", "actions", "wishes"])
    assert party["reasons"] == ["not_recorded"]
    (hidden,) = (await send("visible", search="zebra LAMP"))["rows"]
    assert (hidden["exposed"], hidden["families"], hidden["reasons"]) == (False, [], ["not_exposed"])
    assert (await send("visible", search="no such thing"))["rows"] == []
    for wrong in ({"search": "x" * 1000}, {"offset": -1}, {"offset": "1"}):
        with pytest.raises(Refused, match="invalid_format"):
            await send("visible", **wrong)


async def test_why_not_found(hass: HomeAssistant, as_user: As, admin: User) -> None:
    """What is disabled, has no state, is unavailable or shares its name says so; automations and scripts have tools of their own."""
    registry = er.async_get(hass)
    for object_id, disabled_by in (("asleep", er.RegistryEntryDisabler.USER), ("lost", None)):
        registry.async_get_or_create(
            "light", "test", object_id, suggested_object_id=object_id, original_name="Sleeper", disabled_by=disabled_by
        )
    for entity_id, state in (("light.gone", "unavailable"), ("light.twin_one", "on"), ("light.twin_two", "on")):
        hass.states.async_set(entity_id, state, {"friendly_name": "Twin" if "twin" in entity_id else "Gone"})
        async_expose_entity(hass, ASSISTANT, entity_id, should_expose=True)
    send = await as_user(admin)

    async def row(entity_id: str) -> dict[str, Any]:
        (found,) = (await send("visible", search=entity_id))["rows"]
        return dict(found)

    assert (await row("light.asleep"))["reasons"] == ["disabled"]
    lost = await row("light.lost")
    assert (lost["name"], lost["reasons"], lost["families"]) == ("Sleeper", ["no_state"], [])
    assert "unavailable" in (await row("light.gone"))["reasons"]
    assert "same_name" in (await row("light.twin_one"))["reasons"]
    for entity_id in ("script.visible", "automation.visible"):
        assert (await row(entity_id))["exposed"]


async def test_try_a_tool(hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, admin: User) -> None:
    """A tool answers as it answers a model, is bounded by exposure, and asks where it would ask."""
    send = await as_user(admin)
    tools = {tool["name"]: tool for tool in await send("tools/list")}
    assert "extended_assist__get_entities" in tools
    assert "action" in tools["extended_assist__perform_action"]["parameters"]["properties"]

    async def call(tool: str, **arguments: Any) -> Any:
        return await send("tools/call", entry=panel_home.entry_id, tool=f"extended_assist__{tool}", arguments=arguments)

    answer = await call("get_entities", domain="light")
    assert answer["done"]
    assert answer["characters"] == len(answer["answer"])
    assert "Bed Light" in answer["answer"]
    assert not traces(answer["answer"], "")
    wrong = await call("get_entities", nonsense=1)
    assert not wrong["done"]
    assert "wrong arguments" in wrong["answer"]
    asked = await call("perform_action", action="lock.unlock", target={"entity_id": "lock.front_door"})
    assert "Front Door" in asked["question"]["text"]
    before = hass.states.get("lock.front_door").state
    assert before == "locked"
    assert (await send("questions/answer", question=asked["question"]["id"], agreed=True))["done"]
    await hass.async_block_till_done()
    assert hass.states.get("lock.front_door").state == "unlocked"
    for entry, tool in ((panel_home.entry_id, "no_such_tool"), ("no entry", "extended_assist__get_entities")):
        with pytest.raises(Refused, match="panel_gone"):
            await send("tools/call", entry=entry, tool=tool, arguments={})
    with pytest.raises(Refused, match="invalid_format"):
        await call("get_entities", domain="x" * websocket.MAX_ARGUMENTS)


async def test_answer_for_a_phone(hass: HomeAssistant, as_user: As, add_phone: AddPhone, anna: User, ben: User) -> None:
    """A question on somebody's phone is answered here by them, and by nobody else; once."""
    phone = await add_phone(anna, "Phone")
    asked = Asked(hass, phone)
    await asked.async_shown()
    own, other = await as_user(anna), await as_user(ben)
    (question,) = await own("questions/list")
    assert (question["kind"], question["text"]) == ("phone", asked.question)
    assert await other("questions/list") == []
    with pytest.raises(Refused, match="panel_gone"):
        await other("questions/answer", question=question["id"], agreed=True)
    assert await asked.async_is_open()
    assert await own("questions/answer", question=question["id"], agreed=True) == {"done": True, "taken": True}
    assert await asked.task
    with pytest.raises(Refused, match="panel_gone"):
        await own("questions/answer", question=question["id"], agreed=True)
    await hass.async_block_till_done()
    assert await own("questions/list") == []


@in_one_home("command", [*EVERYBODY, *ADMINISTRATORS, "journal/undo", "wishes/cancel"])
async def test_unloaded(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, admin: User, command: str
) -> None:
    """Without an entry, each command is refused in the user's language."""
    send = await as_user(admin)
    if panel_home.state is ConfigEntryState.LOADED:
        assert await hass.config_entries.async_unload(panel_home.entry_id)
    fields = {"journal/undo": {"change": "any"}, "wishes/cancel": {"wish": "any"}}.get(command, {})
    with pytest.raises(Refused, match="panel_not_ready"):
        await send(command, **fields)


async def test_who_may_only_look(hass: HomeAssistant, as_user: As, act: Act) -> None:
    """Who may only look at Home Assistant undoes nothing, because Home Assistant itself refuses the action."""
    group = await hass.auth.async_get_group(GROUP_ID_READ_ONLY)
    user = MockUser(name="Guest", groups=[group]).add_to_hass(hass)
    await act(None, "input_boolean.turn_on", "input_boolean.party")
    send = await as_user(user)
    assert await send("journal/list") == []
    assert json.dumps(await send("wishes/list")) == "[]"


async def test_a_large_home(hass: HomeAssistant, as_user: As, admin: User) -> None:
    """Thousands of entities are looked at in slices, with others' turns between them, and told in pages."""
    for number in range(5_000):
        hass.states.async_set(f"sensor.many_{number:04}", "1", {"friendly_name": f"Many {number}"})
    await hass.async_block_till_done()
    send = await as_user(admin)
    turns = 0
    is_over = False

    async def count() -> None:
        nonlocal turns
        while not is_over:
            turns += 1
            await asyncio.sleep(0)

    counting = hass.async_create_background_task(count(), "counts turns")
    found = await send("visible", search="many", offset=4_990)
    is_over = True
    await counting
    assert (found["found"], len(found["rows"])) == (5_000, 10)
    assert turns > 5_000 // 200
    seen = [
        row["entity_id"]
        for offset in range(0, 300, MAX_ROWS)
        for row in (await send("visible", search="many", offset=offset))["rows"]
    ]
    assert len(seen) == len({*seen}) == 300


async def test_undo_what_was_remembered(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, admin: User, anna: User
) -> None:
    """Also where another entry comes first that has no memory; what is somebody's own nobody else takes back."""
    # The entry of the house is loaded first; then its memory is turned off.
    second = await async_set_up_home(hass, {"families": ["memory"]}, title="Second")
    hass.config_entries.async_update_entry(panel_home, options={"families": ["actions"]})
    await hass.async_block_till_done()
    for whose in ("household", "me"):
        context = llm.LLMContext(DOMAIN, Context(user_id=anna.id), "en", "conversation", None)
        tool = RememberTool(ToolboxOptions.of(second.options | {"memory_elsewhere": True}))
        arguments = {"fact": f"It is {whose}.", "whose": whose}
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
        assert not result.error, result.data
    send, other = await as_user(anna), await as_user(admin)
    own, shared = await send("journal/list")
    assert [own["title"], shared["title"]] == ["It is me.", "It is household."]
    assert [row["title"] for row in await other("journal/list")] == ["", "It is household."]
    asked = await other("journal/undo", change=own["id"])
    assert "question" not in asked
    assert "It is me" not in asked["answer"]
    for change in (own, shared):
        asked = await send("journal/undo", change=change["id"])
        assert (await send("questions/answer", question=asked["question"]["id"], agreed=True))["done"]
    assert (await async_get_memory(hass)).held == []


async def test_told_in_portions(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too long to be shown at once is shown in portions, and an early yes asks for the rest of it."""
    monkeypatch.setattr(question, "MAX_READ", 120)
    send = await as_user(admin)
    locks = ["lock.front_door", "lock.openable_lock"]
    arguments = {"action": "lock.unlock", "target": {"entity_id": locks}, "data": {"code": "1 2 3 4 5 6 7 8 9 " * 12}}
    answer = await send(
        "tools/call", entry=panel_home.entry_id, tool="extended_assist__perform_action", arguments=arguments
    )
    told = []
    while "question" in answer:
        assert hass.states.get("lock.front_door").state == "locked"
        told.append(answer["question"]["text"])
        answer = await send("questions/answer", question=answer["question"]["id"], agreed=True)
        assert len(told) < 20
    await hass.async_block_till_done()
    assert len(told) > 1
    assert answer["done"]
    assert hass.states.get("lock.front_door").state == "unlocked"


async def test_many_questions(as_user: As, panel_home: MockConfigEntry, admin: User) -> None:
    """So many wait for an answer at the same time; the oldest go, and cannot be answered."""
    send = await as_user(admin)
    arguments = {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}}
    asked = [
        await send("tools/call", entry=panel_home.entry_id, tool="extended_assist__perform_action", arguments=arguments)
        for _ in range(manual_calls.MAX_WAITING + 2)
    ]
    ids = [one["question"]["id"] for one in asked]
    assert [row["id"] for row in await send("questions/list")] == ids[2:]
    with pytest.raises(Refused, match="panel_gone"):
        await send("questions/answer", question=ids[0], agreed=True)


async def test_too_late(
    hass: HomeAssistant, as_user: As, act: Act, anna: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After five minutes nothing is answered any more."""
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    send = await as_user(anna)
    (change,) = await send("journal/list")
    asked = await send("journal/undo", change=change["id"])
    monkeypatch.setattr(manual_calls, "ANSWER_TIME", 0.0)
    assert await send("questions/list") == []
    for wanted in (asked["question"]["id"], "nobody was asked this"):
        with pytest.raises(Refused, match="panel_gone"):
            await send("questions/answer", question=wanted, agreed=True)
    assert hass.states.get("input_boolean.party").state == "on"


async def test_tools_of_assist(hass: HomeAssistant, panel_home: MockConfigEntry, as_user: As, anna: User) -> None:
    """What one of Assist's own tools did is told by its one action, and without the tool's name where it did several."""
    await hass.services.async_call("input_boolean", "turn_off", {"entity_id": "input_boolean.party"}, blocking=True)
    context = llm.LLMContext(DOMAIN, Context(user_id=anna.id), "en", ASSISTANT, None)
    tools = (await llm.async_get_api(hass, api_id(panel_home.entry_id), context)).tools
    (tool,) = [one for one in tools if one.name == "intent__HassTurnOn"]
    done = await tool.async_call(hass, llm.ToolInput(tool.name, {"name": "Party"}), context)
    assert not done.error, done.data
    (change,) = (await async_get_journal(hass)).changes
    assert change.what == "input_boolean.turn_on"
    send = await as_user(anna)
    (row,) = await send("journal/list")
    assert row["action"] == "Turn on input boolean"
    change.what = tool.name
    (row,) = await send("journal/list")
    assert row["action"] == ""
