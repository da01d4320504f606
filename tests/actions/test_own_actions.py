"""Tests of targets that a template chooses."""

import pytest

from custom_components.extended_assist.actions.automation_context import constant_choices


@pytest.mark.parametrize(
    ("template", "choices"),
    [
        ("light.one", ["light.one"]),
        ("light.one, light.two", ["light.one", "light.two"]),
        ("{{ 'light.one' }}", ["light.one"]),
        ("{{ 'light.one' if is_day else ['light.two', 'light.three'] }}", ["light.one", "light.two", "light.three"]),
        (
            "{% if is_day %}light.one{% elif is_dark %}{{ 'light.two' }}{% else %}light.three{% endif %}",
            ["light.one", "light.two", "light.three"],
        ),
        ("{% if is_day %}light.one{% endif %}", []),
        ("{{ states('sensor.which') }}", []),
        ("{{ 'light.one' if is_day }}", []),
        ("{{ ['light.one', which] }}", []),
        ("light.{{ which }}", []),
        ("{% for one in many %}{{ one }}{% endfor %}", []),
        ("{{ 'no entity' }}", []),
        ("{{ broken", []),
        ("{{ 7 }}", []),
    ],
)
def test_constant_choices(template: str, choices: list[str]) -> None:
    """Only what is sure to name entities that are written there is a choice among them."""
    assert constant_choices(template) == choices
