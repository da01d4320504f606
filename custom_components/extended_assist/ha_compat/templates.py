"""Internals of Home Assistant's template engine, and of Python's parser of patterns."""

# Nothing public returns the parts of a pattern.
from re import _constants as pattern_constants, _parser as pattern_parser  # type: ignore[attr-defined]

from homeassistant.helpers.template import TemplateEnvironment, make_logging_undefined
from homeassistant.helpers.template.extensions import DateTimeExtension, EntityExtension
from homeassistant.helpers.template.render_info import RenderInfo, render_info_cv

__all__ = (
    "DateTimeExtension",
    "EntityExtension",
    "RenderInfo",
    "TemplateEnvironment",
    "make_logging_undefined",
    "pattern_constants",
    "pattern_parser",
    "render_info_cv",
)
