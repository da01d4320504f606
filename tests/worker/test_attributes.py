"""Tests of what is visible of attributes."""

import pytest

from custom_components.extended_assist.worker import private_database as module
from custom_components.extended_assist.worker.messages import TooMuchToCopyError
from custom_components.extended_assist.worker.private_database import Attributes


def make(kept: dict[int, str]) -> Attributes:
    """Return the attributes of a home with a hidden kitchen light."""
    return Attributes({"light.kitchen"}, kept.__setitem__, kept.get)


@pytest.mark.parametrize(
    ("attributes", "visible"),
    [
        ('{"a":1,"b":null,"c":true,"d":1.5,"e":"x y."}', '{"a":1,"b":null,"c":true,"d":1.5,"e":"x y."}'),
        ('{"a":"light.hall","v":"1.2.3","host":"example.com"}', '{"a":"light.hall","v":"1.2.3","host":"example.com"}'),
        (
            '{"a":"light.kitchen","b":["x","Light.Kitchen"],"c":{"light.kitchen":1},"light.kitchen":2}',
            '{"b":["x"],"c":{}}',
        ),
        ('{"a":"at light.kitchen!","b":[["light.kitchen"]],"c":"12.5"}', '{"b":[[]],"c":"12.5"}'),
        ('{"access_token":1,"my_password":2,"api_key":3,"entity_picture_local":4,"ok":5}', '{"ok":5}'),
        ('{"deep":[{"er":{"client_secret":"x","name":"°"}}]}', '{"deep":[{"er":{"name":"°"}}]}'),
        ('{"url":"http://x/?token=abc","b":1}', '{"b":1}'),
        ('{"a":"light\\u002ekitchen","\\u0074oken":1}', "{}"),
        ('{"quote\\"d":"va\\\\lue"}', '{"quote\\"d":"va\\\\lue"}'),
        ('{"a":"{{ states.light.kitchen.state }}","b":"1.light.kitchen"}', "{}"),
        ('{"a":"x",":token":"y"," :pin":1}', '{"a":"x"}'),
        ("{}", "{}"),
        ("no json", None),
        ("[1]", None),
        ("{light.kitchen", None),
    ],
)
def test_visible(attributes: str, visible: str | None) -> None:
    """Secrets and what names a hidden entity are left out, however deep and however written."""
    assert make({}).visible(attributes) == visible


def test_numbers() -> None:
    """What looks the same has one number; numbers tell nothing of those in between."""
    kept: dict[int, str] = {}
    attributes = make(kept)
    assert attributes.add(70, '{"a":1,"token":"x"}') == 1
    assert attributes.add(9, '{"a":1,"token":"y"}') == 1
    assert attributes.add(8, '{"a":2}') == 2
    assert attributes.add(7, None) is None
    assert (attributes.number(9), attributes.number(7), attributes.number(None), attributes.number(6)) == (
        1,
        None,
        None,
        None,
    )
    assert kept == {1: '{"a":1}', 2: '{"a":2}'}


def test_texts_of_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two texts are one only when they are the same."""
    monkeypatch.setattr(module, "hash", lambda _: 5, raising=False)
    kept: dict[int, str] = {}
    attributes = make(kept)
    assert [attributes.add(number, f'{{"a":{number}}}') for number in (1, 2)] == [1, 2]
    assert kept == {1: '{"a":1}', 2: '{"a":2}'}


def test_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tells attributes apart is held in memory, so there is a bound."""
    monkeypatch.setattr(module, "MOST", 2)
    attributes = make({})
    attributes.add(1, "{}")
    attributes.add(2, "{}")
    with pytest.raises(TooMuchToCopyError, match="more than 2 different attributes"):
        attributes.add(3, "{}")
