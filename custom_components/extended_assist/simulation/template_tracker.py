"""A template that is rendered again whenever something that it looked at changes, or a minute begins."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template

from ..templates.historical import parsed
from .historical_state import PastChange
from .replay import Remove, Replay

_NONE: Final = object()


class TemplateTracker:
    """Tells of every result that differs from the one that was told before; what it is at first is not told."""

    def __init__(
        self,
        replay: Replay,
        template: Template,
        variables: Mapping[str, Any],
        listener: Callable[[PastChange | None, Any], None],
    ) -> None:
        """Begin; the listener is called with the change that was the reason, if one was, and the result or the error."""
        self._replay = replay
        self._template = template
        self._variables = variables
        self._listener = listener
        self._last: Any = _NONE
        self._asked: frozenset[str] = frozenset()
        self._untrack: Remove | None = None
        self._clock: Remove | None = None
        self._render()

    def _render(self) -> Any:
        """Return the result, or the error; and follow what it depends on."""
        home = self._replay.home()
        result: Any
        try:
            result = parsed(self._replay.hass, self._replay.text(self._template, self._variables, home))
        except TemplateError as err:
            result = err
        self._follow(frozenset(home.asked), has_time=home.has_time)
        return result

    def refresh(self, change: PastChange | None) -> None:
        """Render it, and tell what is new."""
        result = self._render()
        was_error = isinstance(self._last, TemplateError)
        if (isinstance(result, TemplateError) and was_error) or (self._last is not _NONE and result == self._last):
            return
        self._last = result
        self._listener(change, result)

    def _follow(self, asked: frozenset[str], *, has_time: bool) -> None:
        """Follow what the template looked at, and the clock where it read it."""
        if asked != self._asked:
            if self._untrack:
                self._untrack()
            self._asked, self._untrack = asked, self._replay.track(asked, self.refresh)
        if has_time and self._clock is None:
            self._clock = self._replay.call_daily((None, None, 0), lambda: self.refresh(None), local=False)
        elif not has_time and self._clock is not None:
            self._clock()
            self._clock = None

    def remove(self) -> None:
        """Render it no more."""
        if self._untrack:
            self._untrack()
        if self._clock:
            self._clock()
