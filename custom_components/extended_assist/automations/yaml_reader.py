"""Read YAML piece by piece: at once, libyaml would let no other thread run until all of a text is read. Everything here blocks."""

import yaml
from yaml.composer import Composer

AT_ONCE = 50_000
"""Characters that are parsed without a pause."""


class _EventLoader(Composer, yaml.CSafeLoader):
    """Makes nodes of libyaml's events one by one."""

    def __init__(self, text: str) -> None:
        """Take the text."""
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)


def compose(text: str) -> yaml.Node | None:
    """Return the root of a text, None for an empty one; raises YAMLError."""
    try:
        return _EventLoader(text).get_single_node()
    except RecursionError as err:
        raise yaml.YAMLError from err


def parse(text: str) -> None:
    """Parse a text to its end; raises YAMLError."""
    if len(text) <= AT_ONCE:
        yaml.CSafeLoader(text).raw_parse()
        return
    for _ in yaml.parse(text, Loader=yaml.CSafeLoader):
        pass
