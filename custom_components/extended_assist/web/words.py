"""Whose words an address is made of: what leaves the house in it."""

import re

from yarl import URL

from homeassistant.components.conversation import ToolResultContent, UserContent
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.helpers.json import json_dumps

from ..policy import brings_outside_text

_LINK = re.compile(r"""https?://[^\s"'<>|\\^`{}()\[\]]+""", re.IGNORECASE)
_AROUND = "\"'<>()[]{},;:!?*_`“”„«»"


def may_carry_out(address: str) -> bool:
    """Return whether an address may hold what a stranger's text told the model to put into it.

    That is so when such text came up in this conversation, and the address is neither the user's own words nor a
    link that came with such a text, for a text cannot know what it wants to learn.
    """
    if (chat_log := current_chat_log.get()) is None:
        return False
    heard, known = False, set[str]()
    for content in chat_log.content:
        if isinstance(content, UserContent):
            words = (word.lstrip(_AROUND).rstrip(_AROUND + ".") for word in content.content.split())
            known |= {_plain(word if "://" in word else f"https://{word}") for word in words if "." in word}
        elif (
            isinstance(content, ToolResultContent)
            and brings_outside_text(chat_log, content.tool_name)
            # Questions and failures repeat the model's own words.
            and not (content.result.error or "would" in content.result.data)
        ):
            heard = True
            known |= {_plain(link.rstrip(_AROUND + ".")) for link in _LINK.findall(json_dumps(content.result.data))}
    return heard and _plain(address) not in known


def _plain(address: str) -> str:
    """Return an address without what makes no difference."""
    try:
        url = URL(address.strip()).with_fragment(None)
        return f"{(url.raw_host or '').lower()}:{url.explicit_port or ''}{url.raw_path_qs}"
    except ValueError:
        return ""
