"""What goes wrong in the panel, in the user's language."""

from typing import ClassVar


class PanelError(Exception):
    """Something that a user is told; the class says which of the texts."""

    key: ClassVar[str]


class GoneError(PanelError):
    """What was meant is not there any more, or never was this user's: from outside, the two look the same."""

    key = "panel_gone"


class NotReadyError(PanelError):
    """No entry is loaded."""

    key = "panel_not_ready"
