"""Cases of a test that share one home, since a home takes longer than they do."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
import functools
import inspect
from typing import Any

import pytest

type _Test = Callable[..., Awaitable[None]]


def in_one_home(names: str | Sequence[str], cases: Iterable[Any], *, ids: Iterable[str] | None = None) -> Any:
    """Run a test for each case in one home; taken like `pytest.mark.parametrize`, which makes a home for each case.

    For cases that change nothing, or that cannot pass by what the one before changed. What a case patches is undone after it,
    and it does not see what was logged before. Each is a subtest, told by its id.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values, named = _read(list(cases), len(arguments))
    named = named if ids is None else list(ids)

    def decorate(test: _Test) -> _Test:
        parameters = inspect.signature(test).parameters
        assert parameters.keys() >= set(arguments), arguments

        @functools.wraps(test)
        async def test_all(subtests: pytest.Subtests, **fixtures: Any) -> None:
            if "subtests" in parameters:
                fixtures["subtests"] = subtests
            for name, case in zip(named, values, strict=True):
                with subtests.test(name), ExitStack() as stack:
                    await test(**_fresh(fixtures, stack), **dict(zip(arguments, case, strict=True)))

        fixtures = [each for name, each in parameters.items() if name not in {*arguments, "subtests"}]
        fixtures.append(inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD))
        vars(test_all)["__signature__"] = inspect.Signature(fixtures)
        return test_all

    return decorate


def _read(cases: list[Any], number: int) -> tuple[list[Sequence[Any]], list[str]]:
    """Return the values of each case, and what it is told by: its id, or the beginning of its values."""
    assert cases, "there is no case"
    values, named = [], []
    for index, case in enumerate(cases):
        if isinstance(case, tuple) and hasattr(case, "marks"):
            assert not case.marks, "a case cannot be marked by itself"
            values.append(case.values)
            named.append(case.id or f"{index}: {case.values!r:.60}")
        else:
            values.append(case if number > 1 else (case,))
            named.append(f"{index}: {case!r:.60}")
    return values, named


def _fresh(fixtures: Mapping[str, Any], stack: ExitStack) -> dict[str, Any]:
    """Return the fixtures of one case: nothing is logged yet, and what it patches is undone with it."""
    fresh = dict(fixtures)
    if "caplog" in fresh:
        fresh["caplog"].clear()
    if "monkeypatch" in fresh:
        fresh["monkeypatch"] = stack.enter_context(fresh["monkeypatch"].context())
    return fresh
