"""What a recorder under test is spared: it takes ten times as long as a home, and its tables longest of all."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
import threading
from typing import Any
from unittest.mock import MagicMock, patch

from sqlalchemy import Engine, event, inspect

_AT_ONCE = 100
"""Rows that a recorder under test commits together at most."""
_RECORDER = "homeassistant.components.recorder."


@contextmanager
def quick_recorder() -> Iterator[None]:
    """Let recorders be quick for the time of a test."""
    from pytest_homeassistant_custom_component import plugins  # noqa: PLC0415 - soaks have no plugin

    with tables_made_as_before(), rows_committed_together(), patch.object(plugins, "patch", _Patches()):
        yield


class _Uncommitted(threading.local):
    """What the recorder of a thread has written and not committed."""

    rows = 0
    more_follow = False


@contextmanager
def rows_committed_together() -> Iterator[None]:
    """Let a recorder under test, which commits row by row, do so when no more are queued.

    Whatever is queued after rows finds them committed, as it would otherwise.
    """
    # Imported late: Home Assistant's test harness must patch the recorder before anything loads it.
    from homeassistant.components.recorder import Recorder  # noqa: PLC0415
    from homeassistant.components.recorder.tasks import RecorderTask  # noqa: PLC0415

    process, commit = Recorder._process_one_event, Recorder._commit_event_session_or_retry
    uncommitted = _Uncommitted()

    def processed(recorder: Recorder, event: Any) -> None:
        uncommitted.rows += 1
        uncommitted.more_follow = uncommitted.rows < _AT_ONCE and not recorder._queue.empty()
        try:
            process(recorder, event)
        finally:
            uncommitted.more_follow = False
        if not recorder.enabled:
            committed(recorder)

    def committed(recorder: Recorder) -> None:
        if not uncommitted.more_follow:
            uncommitted.rows = 0
            commit(recorder)

    with ExitStack() as stack:
        stack.enter_context(patch.object(Recorder, "_process_one_event", processed))
        stack.enter_context(patch.object(Recorder, "_commit_event_session_or_retry", committed))
        for task in RecorderTask.__subclasses__():
            stack.enter_context(patch.object(task, "commit_before", True))
        yield


_STATEMENTS: dict[str, list[str]] = {}
"""The statements that make the recorder's tables, for each kind of database."""


@contextmanager
def tables_made_as_before() -> Iterator[None]:
    """Let the recorder's tables be made by the statements that made them first: to put these together takes longest."""
    from homeassistant.components.recorder.db_schema import Base  # noqa: PLC0415 - as above

    create_all = Base.metadata.create_all

    def create(engine: Engine) -> None:
        if inspect(engine).has_table("states"):
            create_all(engine)
        elif engine.dialect.name in _STATEMENTS:
            with engine.begin() as connection:
                if engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("BEGIN")  # Else each of them is written to the disk by itself.
                for statement in _STATEMENTS[engine.dialect.name]:
                    connection.exec_driver_sql(statement)
        else:
            with _heard(engine) as statements:
                create_all(engine)
            _STATEMENTS[engine.dialect.name] = [each for each in statements if each.lstrip().startswith("CREATE")]

    with patch.object(Base.metadata, "create_all", create):
        yield


@contextmanager
def _heard(engine: Engine) -> Iterator[list[str]]:
    """Yield the statements that are executed meanwhile."""
    statements: list[str] = []

    def hear(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", hear)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", hear)


class _Patches:
    """Patches as the plugin makes them, but where it mocks a function of the recorder, a plain one takes its place.

    To make such a mock takes longer than what the test does with it.
    """

    def __getattr__(self, name: str) -> Any:
        """Return a kind of patch."""
        return getattr(patch, name)

    def __call__(self, target: str, *arguments: Any, **named: Any) -> Any:
        """Return the patch of a target."""
        if target.startswith(_RECORDER) and not arguments and named.keys() == {"side_effect", "autospec"}:
            return patch(target, _plain(named["side_effect"]))
        return patch(target, *arguments, **named)


def _plain(effect: Any) -> Callable[..., Any]:
    """Return a function that does what a mock does with a side effect: a function, what it gives one after the other, none."""
    if callable(effect):
        # A method is bound to its object, a class would not be.
        def call(*arguments: Any, **named: Any) -> Any:
            return effect(*arguments, **named)

        return call
    if effect is None:
        return lambda *_, **__: MagicMock()
    return lambda *_, **__: next(effect)
