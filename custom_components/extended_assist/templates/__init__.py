"""Templates over exposed entities only."""

from .reach import Reach, check_reach
from .render import Rendered, async_render, async_render_with_notes, nearest_known
from .written import plain_form, read_form

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
