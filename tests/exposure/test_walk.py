"""The one walker for texts in data."""

from types import MappingProxyType

from custom_components.extended_assist.results import place_of, texts_in

DATA = {"a": ["x", ("y", 1), {"b": None, "c": "z"}], 2: MappingProxyType({"d": "w"}), "e": True}


def test_texts_with_their_way() -> None:
    """Every text is found in order, with the way to it."""
    assert list(texts_in(DATA)) == [
        ("x", ("a", 0)),
        ("y", ("a", 1, 0)),
        ("z", ("a", 2, "c")),
        ("w", (2, "d")),
    ]
    assert list(texts_in("x")) == [("x", ())]
    assert list(texts_in(None)) == []


def test_keys_too() -> None:
    """Names of keys come before what is under them, with the way to their dict."""
    assert list(texts_in({"a": [{"b": "x"}], 2: 1}, keys=True)) == [
        ("a", ()),
        ("b", ("a", 0)),
        ("x", ("a", 0, "b")),
        ("2", ()),
    ]


def test_places() -> None:
    """A way is written as in an error."""
    assert place_of("actions", (0, "data", "message")) == "actions[0].data.message"
    assert place_of("data", ()) == "data"
