"""Whether the user must confirm a request: an address can carry out what a stranger's text wants to know."""

import re

from yarl import URL

from homeassistant.components.conversation import ToolResultContent, UserContent
from homeassistant.helpers.json import json_dumps

from ..toolbox.caller import Caller
from ..toolbox.outside import brings_outside_text
from .guard import Guard

_LINK = re.compile(r"""https?://[^\s"'<>|\\^`{}()\[\]]+""", re.IGNORECASE)
_AROUND = "\"'<>()[]{},;:!?*_`“”„«»"


def needs_confirmation(caller: Caller, guard: Guard, address: str) -> bool:
    """Return whether the user must agree to a request, because a stranger's text may have told the model to make it.

    That is so when such text came up in this conversation, and the address is neither in the user's own words nor, where
    it is public, a link that came with such a text: a text that wants to learn something cannot know it already.
    """
    if (chat_log := caller.chat_log) is None:
        return False
    heard, known, links = False, set[str](), set[str]()
    for content in chat_log.content:
        if isinstance(content, UserContent):
            words = (word.lstrip(_AROUND).rstrip(_AROUND + ".") for word in content.content.split())
            known |= {_plain(word if "://" in word else f"https://{word}") for word in words if "." in word}
        elif (
            isinstance(content, ToolResultContent)
            and brings_outside_text(chat_log, content)
            # Questions and failures repeat the model's own words.
            and not (content.result.error or "would" in content.result.data)
        ):
            heard = True
            links |= {_plain(link.rstrip(_AROUND + ".")) for link in _LINK.findall(json_dumps(content.result.data))}
    if not heard or _plain(address) in known:
        return False
    url = guard.check_url(address)
    return guard.lists(url.raw_host or "", url.port or 0) or _plain(address) not in links


def _plain(address: str) -> str:
    """Return an address without what makes no difference."""
    try:
        url = URL(address.strip()).with_fragment(None)
        return f"{(url.raw_host or '').lower()}:{url.explicit_port or ''}{url.raw_path_qs}"
    except ValueError:
        return ""
