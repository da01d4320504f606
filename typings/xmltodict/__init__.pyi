"""The part of xmltodict that is used here."""

from typing import Any

def parse(xml_input: str) -> dict[str, Any]: ...
