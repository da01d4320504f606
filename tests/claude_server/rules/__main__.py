"""Print the table."""

import sys

from . import RULES

for _rule in RULES:
    _words = _rule.words or "(the service's words are not known)"
    _copied = _rule.page.copied or "day of the copy unknown"
    if not _rule.page.read:
        _copied = "no copy could be read"
    _kind = "" if _rule.page.documented else ", reported by users"
    _switch = "" if _rule.enforced else " NOT ENFORCED"
    sys.stdout.write(
        f"{_rule.name}{_switch}\n  {_rule.refuses}\n  {_rule.status} {_words}\n  {_rule.page.address} ({_copied}{_kind})\n"
    )
