"""Templates over exposed entities only."""

from .later_templates import plain_form, read_form
from .render import Rendered, async_render, async_render_with_notes, nearest_known
from .states import Reach, check_reach

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
