"""The one rule for what is a secret: a key by its name, a text by what it carries.

Plain Python without Home Assistant, so that a small process can load this file by itself; `exposure.py` hands it on.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
import re
from typing import Any, Final

DEEPEST: Final = 40
"""Levels of dicts and lists that are looked into; what lies deeper is left out."""


def _words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


# Words are what stands between underscores, hyphens, spaces, digits and humps, so "spin_speed" holds no "pin".
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W\d_]+")

_SECRET_WORD: Final = re.compile(
    r".*(?:password|passwd|passphrase|passcode|secret|token|credential|cookie|apikey|authkey|usercode|pincode)s?"
    r"|pwd|psk|jwt|t?otp|authsig|bindkey|passkey|adbkey"
)
_ALONE: Final = frozenset({"authorization", "code", "codes", "pass", "userpass"})
"""What is a secret only where it is the whole name."""
_KEY_OF: Final = _words(
    "access account aes api app application auth authenticated authentication backbone ble bridge client control decryption "
    "device encryption legacy link local master network noise priv private prv sas secret security session shared signing "
    "ssh unauthenticated wep wifi wpa"
)
"""Words that make a key one that opens something: private_key, but not public_key or translation_key."""
_CODE_OF: Final = _words(
    "access activation alarm arm auth authentication authorization backup default disarm door duress emergency entered entry "
    "fa factor garage gate guest install installer keypad lock master mfa otp pairing panel pass pin recovery secret security "
    "setup sms temporary unlock used user validation verification"
)
"""Words that make a code one that opens something: alarm_code, but not postal_code or error_code."""
_NO_PIN: Final = frozenset({"gpio", "input", "io", "output"})
"""Words that make a pin one of a circuit."""
_COUNTED: Final = _words("cached completion input output prompt reasoning remaining thinking total used")
"""Words that make tokens those of a language model."""
_ASKED: Final = frozenset({"has", "is", "max", "min", "needs", "requires"})
"""First words of names that tell whether there is a secret or how many may be, not which."""
_ABOUT: Final = _words(
    "age at available battery budget changed count counts date disabled enabled error exists expiration expired expires expiry "
    "format in index invalid length level lifetime limit limits low missing mode name needed protected required rule set slot state "
    "status strength supported time ttl type until usage valid"
)
"""Last words of names that tell something about a secret, as in code_format and token_count."""

# In addresses, which whoever has them can open: a signature, a token, or a user's name and password before the host.
_SECRET_TEXT: Final = re.compile(
    r"(?:token|auth_?sig|api_?key|passw(?:or)?d|client_?secret)(?:=|%3d)[^\s&]|://[^\s/?#@:]*:[^\s/?#@]+@",
    re.IGNORECASE,
)
_GONE: Final = object()
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""The types of most values, known at once: whether something is a mapping takes longer to ask."""


@lru_cache(maxsize=8192)
def is_secret_key(name: str) -> bool:
    """Whether what has this name is a credential, or an address that carries one."""
    words = _WORD.findall(_HUMPS.sub("_", name).casefold())
    if words[:2] == ["entity", "picture"]:
        return True
    if not words or words[-1] in _ABOUT or words[0] in _ASKED:
        return False
    if len(words) == 1 and words[0] in _ALONE:
        return True
    return any(_is_secret_word(before, word) for before, word in zip(["", *words], words, strict=False))


def _is_secret_word(before: str, word: str) -> bool:
    """Whether a word, with the one before it, names a secret."""
    match word.removesuffix("s"):
        case "token":
            return before not in _COUNTED
        case "pin":
            return before not in _NO_PIN
        case "key":
            return before in _KEY_OF
        case "code":
            return before in _CODE_OF
        case "sig":
            return before == "auth"
    return _SECRET_WORD.fullmatch(word) is not None


def is_secret_text(text: str) -> bool:
    """Whether a text carries a credential, such as an address with a token."""
    return ("=" in text or "@" in text or "%" in text) and _SECRET_TEXT.search(text) is not None


def without_secrets(value: Any) -> Any:
    """The value without secrets, however deep in dicts and lists they are; None for a text that is one itself."""
    return sifted(value, lambda key: is_secret_key(key) or is_secret_text(key), _is_secret)


def sifted(value: Any, hides_key: Callable[[str], bool], hides: Callable[[Any], bool]) -> Any:
    """The value without what is behind some keys and without some texts, numbers and the like; None for no value at all."""
    kept = _sifted(value, hides_key, hides, DEEPEST)
    return None if kept is _GONE else kept


def _is_secret(value: Any) -> bool:
    """Whether a text, number or the like is a secret."""
    return isinstance(value, str) and is_secret_text(value)


def _sifted(value: Any, hides_key: Callable[[str], bool], hides: Callable[[Any], bool], depth: int) -> Any:
    """The value as in sifted, or the mark that nothing is left."""
    if type(value) in _PLAIN:
        return _GONE if hides(value) else value
    if isinstance(value, Mapping):
        return (
            {
                key: kept
                for key, item in value.items()
                if not (isinstance(key, str) and hides_key(key))
                and (kept := _sifted(item, hides_key, hides, depth - 1)) is not _GONE
            }
            if depth
            else _GONE
        )
    if isinstance(value, list | tuple | set | frozenset):
        if not depth:
            return _GONE
        items = [kept for item in value if (kept := _sifted(item, hides_key, hides, depth - 1)) is not _GONE]
        return items if isinstance(value, list) else tuple(items) if isinstance(value, tuple) else type(value)(items)
    return _GONE if hides(value) else value
