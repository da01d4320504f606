"""Decide whether the user must confirm a request: its address can send data to a stranger."""

import re

from yarl import URL

from homeassistant.components.conversation import ChatLog, ToolResultContent, UserContent
from homeassistant.helpers.json import json_dumps

from ..calls.call import ToolCall
from ..calls.caller import Caller
from ..confirmation.untrusted_text import brings_outside_text, marks, was_heard
from .guard import Guard

_LINK = re.compile(r"""https?://[^\s"'<>|\\^`{}()\[\]]+""", re.IGNORECASE)
_AROUND = "\"'<>()[]{},;:!?*_`“”„«»"


def needs_confirmation(call: ToolCall, guard: Guard, address: str) -> bool:
    """Return whether the user must agree to a request because untrusted text may have told the model to make it.

    That is the case after any untrusted text, except for an address in the user's own words, the address that was read last,
    and a public link in such a text to a host that the user named. A link to any other host could send data by the choice
    of one link among many.
    """
    caller = call.caller
    if (chat_log := caller.chat_log) is None:
        return was_heard(call.hass, caller) and not call.options.policy.allow_without_chat
    if not marks(chat_log) or _plain(address) in _said(chat_log):
        return False
    if _plain(address) == _read_last(chat_log):
        return False
    url = guard.check_url(address)
    return guard.lists(url.raw_host or "", url.port or 0) or link_host(caller, address) is None


def link_host(caller: Caller, address: str) -> str | None:
    """Return the host to which a request is limited that follows a link of an untrusted text without a question."""
    if (chat_log := caller.chat_log) is None or not marks(chat_log) or _plain(address) in _said(chat_log):
        return None
    links = {
        _plain(link.rstrip(_AROUND + "."))
        for content in chat_log.content
        if isinstance(content, ToolResultContent)
        and brings_outside_text(chat_log, content)
        # Failures repeat the model's own words.
        and not content.result.error
        for link in _LINK.findall(json_dumps(content.result.data))
    }
    plain = _plain(address)
    host = plain.partition(":")[0]
    named = {word.partition(":")[0] for word in _said(chat_log)}
    return host if plain in links and host in named else None


def _said(chat_log: ChatLog) -> set[str]:
    """Return the addresses in the user's words."""
    words = (
        word.lstrip(_AROUND).rstrip(_AROUND + ".")
        for content in chat_log.content
        if isinstance(content, UserContent)
        for word in content.content.split()
    )
    return {_plain(word if "://" in word else f"https://{word}") for word in words if "." in word} - {""}


def _read_last(chat_log: ChatLog) -> str:
    """Return the address that was read last, or an empty text."""
    for content in reversed(chat_log.content):
        if isinstance(content, ToolResultContent) and "address" in content.result.data:
            return _plain(str(content.result.data["address"]))
    return ""


def _plain(address: str) -> str:
    """Return an address in a form that is equal for equivalent addresses."""
    try:
        url = URL(address.strip()).with_fragment(None)
        return f"{(url.raw_host or '').lower()}:{url.explicit_port or ''}{url.raw_path_qs}"
    except ValueError:
        return ""
