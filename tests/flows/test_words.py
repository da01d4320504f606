"""Every choice that a form offers has its words."""

from collections.abc import Iterator
import json
from typing import Any

import pytest
import voluptuous as vol

from custom_components.extended_assist.claude.client import ANTHROPIC_URL
from custom_components.extended_assist.claude.models import Abilities
from custom_components.extended_assist.flows import function, options
from custom_components.extended_assist.flows.model import model_schema
from homeassistant.helpers.selector import SelectSelector
from tests.claude_server.models import EFFORTS, THINKING_TYPES
from tests.test_init import PACKAGE

WORDS = json.loads((PACKAGE / "strings.json").read_text())["selector"]
ALL = Abilities(listed=True, thinking=THINKING_TYPES, effort=EFFORTS, web=True, tool_search=True)
FORMS = {
    "options": options._BASIC_SCHEMA,
    "policy": options._POLICY_SCHEMA,
    "model": model_schema(ALL, ANTHROPIC_URL),
    "function": function._EDIT_SCHEMA,
    "try": function._TRY_SCHEMA,
}


def selectors(form: Any) -> Iterator[SelectSelector]:
    """Find the selectors whose options are translated."""
    for field in form.schema.values():
        for part in field.validators if isinstance(field, vol.All) else (field,):
            if isinstance(part, SelectSelector) and part.config.get("translation_key"):
                yield part


@pytest.mark.parametrize("name", FORMS)
def test_every_choice_has_its_words(name: str) -> None:
    """What has none would be shown as it is written in the code."""
    found = list(selectors(FORMS[name]))
    assert found
    for selector in found:
        assert set(selector.config["options"]) <= WORDS[selector.config["translation_key"]]["options"].keys()
