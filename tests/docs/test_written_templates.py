"""The page on templates in what is written has the whole table of forms, and no more."""

import re

import pytest

from custom_components.extended_assist.templates import forms
from custom_components.extended_assist.templates.forms import Form

from .pages import prose, tables

PAGE = "docs/written-templates.md"


def parts(form: Form) -> frozenset[str]:
    """Return the parts that a name has, with those of its attributes."""
    attributes = form.parts.get("attributes")
    inside = {f"attributes.{name}" for name in attributes.parts} if attributes else set()
    return frozenset(form.parts.keys() - {"attributes"} | inside)


RUN = forms.run_names(forms.trigger_form(frozenset(), frozenset()))
TOLD = {
    "Functions of an entity": forms.ENTITY_FUNCTIONS,
    "Functions of an attribute": forms.ATTRIBUTE_FUNCTIONS,
    "Parts of a state": forms.STATE_PARTS,
    "Flat attributes": forms.FLAT_ATTRIBUTES,
    "any": forms.TRIGGER_PARTS,
    **{f"`{kind}`": names for kind, names in forms.TRIGGERS.items()},
    "with a target, such as `light.turned_on`": forms.DESCRIBED,
    **{f"`{name}`": parts(RUN[name]) for name in ("repeat", "this", "wait")},
    "`loop`": parts(forms.LOOP),
    "Constants": forms.CONSTANTS,
    "Functions": forms.FUNCTIONS,
    "Filters, also in `map`": forms.ITEM_FILTERS,
    "Other filters": forms.FILTERS - forms.ITEM_FILTERS,
    "Filters that name a filter, a test or an attribute, as a constant": forms.NAMING.keys(),
    "Tests": forms.TESTS,
    "Methods of values": forms.METHODS,
}


def test_table_of_forms() -> None:
    """Every row has what the code lets through."""
    rows = {row[0]: row[1] for table in tables(PAGE) for row in table[1:]}
    told = {name: set(re.findall(r"`([^`]+)`", rows[name])) for name in TOLD}
    assert told == {name: set(words) for name, words in TOLD.items()}
    assert rows.keys() - TOLD.keys() - {row[0] for row in [*tables(PAGE)][-1]} == {"Attributes"}


@pytest.mark.parametrize("names", [forms.ENTITY_OPTIONS, forms.RESPONSES, RUN["context"].parts])
def test_sentences(names: frozenset[str]) -> None:
    """What the text says besides is what the code has."""
    assert all(f"`{name}`" in prose(PAGE) for name in names)
