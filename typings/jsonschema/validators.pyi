from collections.abc import Callable, Mapping
from typing import Any

from . import Draft202012Validator

def extend(
    validator: type[Draft202012Validator], validators: Mapping[str, Callable[..., Any]] = ...
) -> type[Draft202012Validator]: ...
