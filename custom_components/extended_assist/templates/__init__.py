"""Templates over exposed entities only."""

from .plain_form import plain_form, read_form
from .reach import Reach, check_reach
from .render import Rendered, async_render, async_render_with_notes, nearest_known

__all__ = [
    "Reach",
    "Rendered",
    "async_render",
    "async_render_with_notes",
    "check_reach",
    "nearest_known",
    "plain_form",
    "read_form",
]
