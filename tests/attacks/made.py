"""What templates make that would mean something hidden to Home Assistant, in every way to write and to make it."""

from collections.abc import Iterator
from typing import Any

from .actions import HIDDEN_DEVICE, REGISTRY_ID

# What comes out is read as Python where it looks like it, so that a text becomes a list.
SPELLINGS: tuple[str, ...] = (
    "light.zebra",
    "LIGHT.ZEBRA",
    " light.zebra ",
    "['light.zebra']",
    "('light.zebra',)",
    "[['light.zebra']]",
    "{'light.zebra'}",
    "b'light.zebra'",
    "{'light.zebra': 1}",
    "['light.bed_light', 'light.zebra']",
    "light.bed_light, light.zebra",
    "light.bed_light,light.zebra",
    "Zebra lamp",
    "['Zebra lamp']",
    "group.zebra",
    "scene.zebra",
    REGISTRY_ID,
    f"['{REGISTRY_ID}']",
    f"light.bed_light, {REGISTRY_ID}",
)
"""Of an entity; `all` is not among them: it means what is exposed."""
PLACES: tuple[tuple[str, str], ...] = (
    ("area_id", "axolotl_room"),
    ("area_id", "['axolotl_room']"),
    ("label_id", "axolotl_label"),
    ("device_id", HIDDEN_DEVICE),
    ("device_id", f"['{HIDDEN_DEVICE}']"),
)


def ways(text: str) -> Iterator[tuple[list[dict[str, Any]], str]]:
    """Yield the steps that come before, and a template that makes a text."""
    half = len(text) // 2
    yield [], f'{{{{ "{text[:half]}" ~ "{text[half:]}" }}}}'
    yield [{"variables": {"made": f'{{{{ "{text[:half]}" ~ "{text[half:]}" }}}}'}}], "{{ made }}"
    yield [{"variables": {"made": [f'{{{{ "{text[:half]}" ~ "{text[half:]}" }}}}']}}], "{{ made | first }}"


def sequences() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield sequences that would act on what is hidden, with names."""
    for text in SPELLINGS:
        for number, (before, template) in enumerate(ways(text)):
            name = f"{text} {number}"
            yield f"{name} target", [*before, {"action": "light.turn_on", "target": {"entity_id": template}}]
            yield f"{name} item", [*before, {"action": "light.turn_on", "target": {"entity_id": [template]}}]
            yield f"{name} beside", [*before, {"action": "light.turn_on", "entity_id": template}]
            yield f"{name} data", [*before, {"action": "light.turn_on", "data": {"entity_id": template}}]
            yield f"{name} any", [*before, {"action": "homeassistant.turn_on", "data": {"entity_id": template}}]
            yield f"{name} field", [*before, {"action": "script.visible", "data": {"lamp": template}}]
    for key, text in PLACES:
        for number, (before, template) in enumerate(ways(text)):
            yield f"{text} {number} {key}", [*before, {"action": "light.turn_on", "target": {key: template}}]
            yield f"{text} {number} {key} data", [*before, {"action": "light.turn_on", "data": {key: template}}]


FULL: tuple[str, ...] = (
    "{{ states('light.zebra') }}",
    "{{ states.light | map(attribute='entity_id') | list }}",
    "{{ ['light.zebra'] | map('states') | list }}",
    "{{ state_attr('light.zebra', 'friendly_name') }}",
    "{{ state_attr('group.mixed', 'entity_id') }}",
    "{{ area_entities('axolotl_room') }}",
    "{{ integration_entities('demo') }}",
    "{{ config_entry_id('light.zebra') }}",
    "{{ state_attr('media_player.kitchen', 'entity_picture') }}",
)
"""What Home Assistant's full environment tells of what is hidden."""
