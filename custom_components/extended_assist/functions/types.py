"""The types of functions, by the name that a function's `type` gives."""

from collections.abc import Mapping
from typing import Final

from .base import FunctionType
from .composite import CompositeType
from .native import NativeType
from .rest import RestType
from .scrape import ScrapeType
from .script import ScriptType
from .sqlite import SqliteType
from .template import TemplateType


def _function_types() -> Mapping[str, FunctionType]:
    """Make each type once; the steps of a composite function are of any of them."""
    types: dict[str, FunctionType] = {}
    native = NativeType()
    types |= {
        "composite": CompositeType(types),
        "native": native,
        "predefined": native,
        "rest": RestType(),
        "scrape": ScrapeType(),
        "script": ScriptType(),
        "sqlite": SqliteType(),
        "template": TemplateType(),
    }
    return types


FUNCTION_TYPES: Final = _function_types()
