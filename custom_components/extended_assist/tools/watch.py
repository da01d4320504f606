"""Watching: looking at cameras at an interval until something is to be seen."""

from collections.abc import Iterable
from math import ceil
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv, llm
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..actions.data import refuse_templates
from ..calls.call import ToolCall
from ..calls.change_recorder import Due
from ..calls.options import CAMERAS, WISHES
from ..calls.plan import Plan, Step
from ..calls.policy import Tier
from ..calls.visible_text import name_shown
from ..cameras.description import SightedTool
from ..cameras.snapshot import SOURCES, async_may_see
from ..claude.vision_model import check_vision_model, thought_of_look
from ..const import CONF_FAMILIES, DOMAIN
from ..exposure.entities import ExposedEntity
from ..results import ToolError, format_duration
from ..scheduled.camera_watch import tokens_of_look
from ..scheduled.creation import async_keep, owner_of
from ..scheduled.description import describe_audience
from ..scheduled.parser import async_read_audience
from ..scheduled.phrases import say
from ..scheduled.scheduled_task import MAX_WORDS, ScheduledTask, Watch, What, When
from .cameras import wanted_cameras
from .scheduled_answers import MAX_NAME, told

MAX_CAMERAS: Final = 4
MAX_LOOKS: Final = 300
MAX_TOKENS: Final = 150_000
"""Tokens of all looks of a watch, beyond which the user is asked first: one camera each minute for an hour is less."""
FIRST_LOOK: Final = 2.0
"""Seconds after which it is looked first: the answer comes before."""
_HOUR: Final = 3_600
_MAX_SEE: Final = 200


def _seconds(most: int) -> Any:
    """Return the validator of an interval or a span; whatever is no number lies outside of every range."""
    return vol.All(vol.Coerce(float), vol.Range(min=30, max=most))


class WatchTool(SightedTool):
    """Look again and again, and tell once something is to be seen."""

    name = "extended_assist__watch"
    title = "Watch"
    description = (
        "Look at cameras at an interval, and tell the user once something is to be seen, or at the end that it was not: 'Watch the "
        "oven and tell me when the pizza is brown'. Tell the user the cost. Listed and ended with pending."
    )
    annotations = llm.ToolAnnotations(read_only=False, destructive=False, idempotent=False, open_world=True)
    family = CAMERAS
    tier = Tier.CONTROL
    shows_success = True
    parameters = vol.Schema(
        {
            vol.Required("see", description="What will be so then, as it looks: 'the pizza is brown'."): cv.string,
            vol.Required("cameras", description=f"Names or entity ids, up to {MAX_CAMERAS}."): vol.All(
                cv.ensure_list, [cv.string], vol.Length(min=1)
            ),
            vol.Optional("every", default=60, description="Seconds between looks, 30 to 3600."): _seconds(_HOUR),
            vol.Optional("lasts", default=_HOUR, description="Seconds until it is given up."): _seconds(24 * _HOUR),
            vol.Optional("say", description="What is said then, if more than that it is so."): cv.string,
            vol.Optional("for", description="Who hears it, if not here: everyone, a person, an area."): cv.string,
        }
    )

    @property
    @override
    def is_told(self) -> bool:
        """Whether others may know of its calls: what somebody wants for later is told nowhere, each look is."""
        return False

    @override
    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether there is anything to look at."""
        return bool(hass.states.async_entity_ids_count(SOURCES))

    @override
    def asks_first(self, call: ToolCall) -> bool:
        """Ask before what costs much, beside what the options say."""
        each = _tokens(call, call.arguments["see"], _cameras(call))
        return each * _looks(call) > MAX_TOKENS or super().asks_first(call)

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Check and keep it; say what will happen, and what it costs."""
        task, watch, left_out = await _async_task(call)
        await async_keep(call, task)
        call.recording.is_complete = not left_out
        call.recording.due = Due(task.when.moment)
        answer: JsonObjectType = {"id": task.id} | told(call, task) | {"cost": _cost(call, watch, "en")}
        if left_out:
            answer["not_from_here"] = f"{left_out} more may not be looked at by whoever asks"
        return answer

    @override
    async def async_plan(self, call: ToolCall) -> Plan:
        """Return the plan of the watch, with its cost."""
        task, watch, _ = await _async_task(call)
        names = ", ".join(name_shown(entity) for entity in filter(None, map(call.exposure.entity, watch.entity_ids)))
        audience = describe_audience(call.hass, call.exposure, task.audience)
        words = (
            f"Look at {names} every {format_duration(watch.every)} for {format_duration(call.arguments['lasts'])}, and say"
            f"{f' (to {audience})' if audience else ''} once this is to be seen: {watch.see}"
        )
        words += f" (in the words: {task.what.say})" if task.what.say else ""
        # Beside several calls, on a phone and to other agents, nothing but the words of a step is told.
        cost = _cost(call, watch, call.caller.llm_context.language)
        words += f". {cost}" if words[-1].isalnum() else f" {cost}"
        data = {key: call.arguments[key] for key in ("every", "lasts")} | {
            "cost": cost,
            "see": watch.see,
            "say": task.what.say,
            "hearer": task.audience.hearer.value,
            "target": task.audience.target,
        }
        step = Step(f"{DOMAIN}.watch", tuple(watch.entity_ids), data, words)
        return Plan((step,), words)


WatchTool.seeing = WatchTool.telling = WatchTool


def _looks(call: ToolCall) -> int:
    """Return how many looks there are at most; raises ToolError for too many."""
    every, lasts = float(call.arguments["every"]), float(call.arguments["lasts"])
    if (looks := ceil(lasts / every)) > MAX_LOOKS:
        least = ceil(lasts / MAX_LOOKS)
        raise ToolError(
            f"These would be {looks} looks, and at most {MAX_LOOKS} are made. Give every: {least}, or less in lasts."
        )
    if looks == 1:
        raise ToolError(
            f"It would be looked once only. Give lasts: more than {every:g}, such as {min(2 * every, 24 * _HOUR):g}, or look now."
        )
    return looks


def _cameras(call: ToolCall) -> list[ExposedEntity]:
    """Return the cameras that are named, each once; raises ToolError."""
    if len(cameras := wanted_cameras(call)) > MAX_CAMERAS:
        names = ", ".join(f"{one.name} ({one.entity_id})" for one in cameras)
        raise ToolError(f"At most {MAX_CAMERAS} cameras are watched at once. Choose from: {names}.")
    return cameras


async def _async_task(call: ToolCall) -> tuple[ScheduledTask, Watch, int]:
    """Return the task that the arguments mean, its watch, and how many cameras may not be looked at from here."""
    given, owner = call.arguments, owner_of(call)
    entry = call.hass.config_entries.async_get_entry(owner.entry_id)
    if entry is not None and WISHES not in entry.options.get(CONF_FAMILIES, (WISHES,)):
        raise ToolError("Doing things later is turned off in the options of Extended Assist. Tell the user.")
    check_vision_model(call)
    see, words = " ".join(given["see"].split()).rstrip("."), " ".join(given.get("say", "").split())
    if not 0 < len(see) <= _MAX_SEE or len(words) > MAX_WORDS:
        raise ToolError(f"Give what is to be seen in up to {_MAX_SEE} characters, and say in up to {MAX_WORDS}.")
    refuse_templates(f"{see} {words}")
    looks, wanted = _looks(call), _cameras(call)
    entities = await async_may_see(call, wanted)
    if all(entity.state.state == STATE_UNAVAILABLE for entity in entities):
        raise ToolError(f"Not available now: {', '.join(entity.name for entity in entities)}. Tell the user.")
    begins = dt_util.utcnow().timestamp() + FIRST_LOOK
    watch = Watch(see, [entity.entity_id for entity in entities], begins, given["every"], looks, call.agent)
    task = ScheduledTask(
        name=see[:MAX_NAME],
        owner=owner,
        when=When(moment=begins + given["lasts"], watch=watch),
        what=What(say=words or None),
        audience=await async_read_audience(call, given),
    )
    return task, watch, len(wanted) - len(entities)


def _tokens(call: ToolCall, see: str, cameras: Iterable[ExposedEntity]) -> int:
    """Return the tokens of one look at most."""
    names = [camera.name for camera in cameras]
    return tokens_of_look(len(names), " ".join([see, *names]), thought_of_look(call))


def _cost(call: ToolCall, watch: Watch, language: str | None) -> str:
    """Return in a sentence what all looks of a watch cost."""
    each = _tokens(call, watch.see, filter(None, map(call.exposure.entity, watch.entity_ids)))
    return say("watch_cost", language, looks=watch.looks, each=f"{each:_}", all=f"{each * watch.looks:_}").replace(
        "_", " "
    )
