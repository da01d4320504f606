"""The rule for secrets: a key by its name, a text by its content.

Plain Python without Home Assistant, so that the worker process can import it.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
import re
from typing import Any, Final

DEEPEST: Final = 40
"""The most levels of mappings and lists that are searched; deeper values are left out."""


def _words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


# Words are what stands between underscores, hyphens, spaces, digits and humps, so "spin_speed" holds no "pin".
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W\d_]+")

_SECRET_WORD: Final = re.compile(
    r".*(?:password|passwd|passphrase|passcode|secret|token|credential|cookie|apikey|authkey|usercode|pincode)s?"
    r"|pwd|psk|jwt|t?otp|authsig|bindkey|passkey|adbkey"
)
_ALONE: Final = frozenset({"authorization", "code", "codes", "pass", "userpass"})
"""Words that are a secret only as the whole name."""
_KEY_OF: Final = _words(
    "access account aes api app application auth authenticated authentication backbone ble bridge client control decryption "
    "device encryption legacy link local master network noise priv private prv sas secret security session shared signing "
    "ssh unauthenticated wep wifi wpa"
)
"""Words before `key` that make it a secret: private_key, but not public_key or translation_key."""
_CODE_OF: Final = _words(
    "access activation alarm arm auth authentication authorization backup default disarm door duress emergency entered entry "
    "fa factor garage gate guest install installer keypad lock master mfa otp pairing panel pass pin recovery secret security "
    "setup sms temporary unlock used user validation verification"
)
"""Words before `code` that make it a secret: alarm_code, but not postal_code or error_code."""
_NO_PIN: Final = frozenset({"gpio", "input", "io", "output"})
"""Words beside `pin` that make it an electrical pin."""
_COUNTED: Final = _words("cached completion input output prompt reasoning remaining thinking total used")
"""Words beside `tokens` that make them those of a language model."""
_ASKED: Final = frozenset({"has", "is", "max", "min", "needs", "requires"})
"""First words of names that say whether there is a secret or how many, as in has_password."""
_ABOUT: Final = _words(
    "age at available battery budget changed count counts date disabled enabled error exists expiration expired expires expiry "
    "format in index invalid length level lifetime limit limits low missing mode name needed protected required rule set slot state "
    "status strength supported time ttl type until usage valid"
)
"""Last words of names that describe a secret, as in code_format and token_count."""

# In addresses, which whoever has them can open: a signature, a token, or a user's name and password before the host.
_SECRET_TEXT: Final = re.compile(
    r"(?:token|auth_?sig|api_?key|passw(?:or)?d|client_?secret)(?:=|%3d)[^\s&]|://[^\s/?#@:]*:[^\s/?#@]+@",
    re.IGNORECASE,
)
_GONE: Final = object()
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""The types of most values, for a fast check: isinstance of Mapping is slower."""


@lru_cache(maxsize=8192)
def is_secret_key(name: str) -> bool:
    """Return whether a name is that of a credential, or of an address that contains one."""
    words = _WORD.findall(_HUMPS.sub("_", name).casefold())
    if words[:2] == ["entity", "picture"]:
        return True
    if not words or words[-1] in _ABOUT or words[0] in _ASKED:
        return False
    if len(words) == 1 and words[0] in _ALONE:
        return True
    return any(_is_secret_word(before, word) for before, word in zip(["", *words], words, strict=False))


def _is_secret_word(before: str, word: str) -> bool:
    """Return whether a word, with the one before it, names a secret."""
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
    """Return whether a text contains a credential, such as an address with a token."""
    return ("=" in text or "@" in text or "%" in text) and _SECRET_TEXT.search(text) is not None


def without_secrets(value: Any) -> Any:
    """Return a value without the secrets at any depth; None for a text that is a secret."""
    return sifted(value, lambda key: is_secret_key(key) or is_secret_text(key), _is_secret)


def sifted(value: Any, hides_key: Callable[[str], bool], hides: Callable[[Any], bool]) -> Any:
    """Return a value without some keys and without some scalars at any depth; None if nothing is left."""
    kept = _sifted(value, hides_key, hides, DEEPEST)
    return None if kept is _GONE else kept


def _is_secret(value: Any) -> bool:
    """Return whether a scalar is a secret."""
    return isinstance(value, str) and is_secret_text(value)


def _sifted(value: Any, hides_key: Callable[[str], bool], hides: Callable[[Any], bool], depth: int) -> Any:
    """Return a value as in sifted, or the marker for nothing."""
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
