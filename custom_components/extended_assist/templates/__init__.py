"""Templates over exposed entities only."""

from .references import References, async_validate, check_references, referenced
from .render import Rendered, async_render, async_render_with_notes, nearest_known

__all__ = [
    "References",
    "Rendered",
    "async_render",
    "async_render_with_notes",
    "async_validate",
    "check_references",
    "nearest_known",
    "referenced",
]
