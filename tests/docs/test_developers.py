"""The Python in docs/developers.md, and the tool in CONTRIBUTING.md: run, checked by types, and used as it says."""

from contextlib import suppress
from enum import Enum
import fcntl
from pathlib import Path
import subprocess
import sys
import time
from typing import Annotated, Any, Literal

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.registry import FunctionTool
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm

from .pages import ROOT, blocks, tables

CONTRIBUTING, DEVELOPERS = "CONTRIBUTING.md", "docs/developers.md"
LONGEST_WAIT = 60
"""Seconds to wait for script/types."""
HEADER = '''from typing import Annotated, override

import voluptuous as vol

from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm


class CountSheepTool(llm.Tool):
    """A tool of the integration that the page is for."""

    name = "count_sheep"
    description = "Counts sheep."
    parameters = vol.Schema({})
    integration = "pasture"
    annotations = llm.ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=False)

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Count."""
        return llm.ToolResult({"sheep": 3})


hass: HomeAssistant
'''
"""What an integration has besides; two ways of one tool stand beside each other only on a page."""


def test_blocks() -> None:
    """What the other tests here take each block for."""
    assert [block.heading for block in blocks(DEVELOPERS, "python")] == [
        "For developers of integrations",
        *["Three ways"] * 3,
    ]


def programs() -> list[str]:
    """Return each way to register a tool as a module, and the tool in CONTRIBUTING.md."""
    imports, *ways = (block.text for block in blocks(DEVELOPERS, "python"))
    tool = blocks(CONTRIBUTING, "python")[0].text.replace("from ..", "from custom_components.extended_assist.")
    return [*(f"{imports}\n{HEADER}\n{_complete(way)}" for way in ways), tool]


def _complete(text: str) -> str:
    """Give functions a body where the page leaves it out."""
    lines = text.splitlines()
    for index, line in reversed([*enumerate(lines)]):
        if line.startswith('    """'):
            returned = "{}" if "-> dict" in lines[index - 1] else "3"
            lines.insert(index + 1, f"    return {returned}")
    return "\n".join(lines) + "\n"


def test_types(tmp_path: Path) -> None:
    """mypy, as strict as for the integration itself, finds nothing in them."""
    files = []
    for number, text in enumerate(programs()):
        file = tmp_path / f"way_{number}.py"
        file.write_text(text, encoding="utf-8")
        files.append(str(file))
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *files]
    # With what script/types has learnt of Home Assistant, where that is over in time; else it takes longer.
    with (ROOT / ".cache" / "mypy.lock").open("w") as lock:
        for _ in range(LONGEST_WAIT):
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(1)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


async def tools_of(hass: HomeAssistant, entry: MockConfigEntry, context: llm.LLMContext) -> dict[str, llm.Tool]:
    """Return the toolbox's tools by name."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), context)
    return {tool.name: tool for tool in instance.tools}


@pytest.mark.parametrize("way", [0, 1, 2])
async def test_ways_to_register(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, way: int
) -> None:
    """Each brings the tool into the next conversation; what removes it, removes it."""
    names: dict[str, Any] = {"hass": hass, "__name__": "custom_components.pasture.tools"}
    source = programs()[way].replace("hass: HomeAssistant\n\n", "").replace("...\n", "there = True\n")
    before, _, after = source.partition("there = True\n")
    exec(compile(before, f"way {way}", "exec"), names)  # noqa: S102 - our own documentation
    tool = (await tools_of(hass, entry, llm_context))["count_sheep"]
    assert tool.description in ("Counts sheep.", "Count the sheep on a pasture.")
    if way == 1:
        schema = tool.parameters.schema
        assert {str(key): key.description for key in schema} == {"pasture": "Name of the pasture.", "only_black": None}
    if after:
        exec(compile(after, "removal", "exec"), names)  # noqa: S102 - our own documentation
        assert "count_sheep" not in await tools_of(hass, entry, llm_context)


def test_parameters() -> None:
    """The annotations that are listed are taken, and another one is refused by the parameter's name."""

    class Colour(Enum):
        RED = "red"

    listed = [row[0] for table in tables(DEVELOPERS, "Parameters") for row in table[1:]]
    assert len(listed) == 6
    for kind in (str, int, float, bool, list, dict, list[str], dict[str, int], Literal["a", "b"], Colour, str | None):

        @callback
        def takes(value: Any) -> None:
            """Take it."""

        for annotation in (kind, Annotated[kind, "A text."]):
            takes.__annotations__["value"] = annotation
            assert FunctionTool(takes).parameters.schema
    takes.__annotations__["value"] = bytes
    with pytest.raises(TypeError, match="value"):
        FunctionTool(takes)
