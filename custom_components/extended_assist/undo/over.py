"""The error for what can never be undone."""

from ..results import ToolError


class OverError(ToolError):
    """A change that can never be undone any more; the one before is the last one then."""
