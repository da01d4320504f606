"""The part of jsonschema that is used here."""

from collections import deque
from collections.abc import Iterator
from typing import Any

class ValidationError(Exception):
    message: str
    absolute_path: deque[str | int]
    validator: str
    def __init__(self, message: str) -> None: ...

class SchemaError(Exception):
    message: str
    absolute_path: deque[str | int]

class Draft202012Validator:
    def __init__(self, schema: Any, *, registry: Any = ...) -> None: ...
    @classmethod
    def check_schema(cls, schema: Any) -> None: ...
    def iter_errors(self, instance: Any) -> Iterator[ValidationError]: ...
