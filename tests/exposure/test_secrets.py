"""The one rule for what is a secret."""

from pathlib import Path
import re
import subprocess
import sys
from types import MappingProxyType
from typing import Any

import pytest

from custom_components.extended_assist.exposure import secrets as secret_rule
from custom_components.extended_assist.exposure.entities import (
    Exposure,
    is_secret_key,
    is_secret_text,
    without_secrets,
)
from custom_components.extended_assist.exposure.secrets import DEEPEST
import homeassistant
from homeassistant.core import HomeAssistant

from ..conftest import ASSISTANT, expose


def _listed(names: str) -> list[str]:
    """Return names as a list."""
    return names.split()


SECRET = _listed("""
    access_token code credential_data credentials entity_picture entity_picture_local install_code jwt label_or_pin
    live_activity_token password pin pushToken push_token refresh_token start_live_activity_token token vapid_prv_key
    cameraStreamNeedAuthToken
""")
"""Names of attributes and of fields of actions and events in Home Assistant that hold a credential."""

HONEST = _listed("""
    StateCode area_mapping atcocode auth authentication author balancing_authority bypass_proxy bypass_state bypassed
    changed_by_keypad channel_picture code_arm_required code_format country_code credential_index credential_rule
    credential_slot credential_type discovery_hash error_code event_code idempotency_key inline_keyboard key key_name
    keyboard keypad keypad_id keypad_name keypress keys keyword last_code last_error_code last_keypress
    manufacturer_code max_credentials_per_user max_pin_users one_time_keyboard paramset_key passive picture1 pin_name
    pin_pad_low_battery postcode private property_key property_key_name qr_code resize_keyboard session_number
    signature station_code update_key vapid_pub_key weather_code zip_code zone_bypassed
""")
"""Such names that sound like one and hold none."""

_SUSPICIOUS = re.compile(
    "token|pass|secret|key|pin|code|auth|cred|picture|cookie|signat|private|session|psk|jwt|bearer|hash|otp|nonce",
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", SECRET)
def test_names_of_secrets(name: str) -> None:
    """What holds a credential is known by its name."""
    assert is_secret_key(name)


@pytest.mark.parametrize("name", HONEST)
def test_honest_names(name: str) -> None:
    """What only sounds like one is shown."""
    assert not is_secret_key(name)


def test_every_suspicious_name_of_home_assistant_is_decided() -> None:
    """Names of attributes that a new version brings are put into one of the two lists."""
    named = re.compile(r"""^ATTR_\w+(?:: Final(?:\[str\])?)? *= *["']([\w -]+)["']""", re.MULTILINE)
    root = Path(homeassistant.__file__).parent
    files = [root / "const.py", *root.glob("components/*/const.py"), *root.glob("components/*/__init__.py")]
    found = {name for file in files for name in named.findall(file.read_text())}
    assert len(found) > 1000
    assert sorted(name for name in found if _SUSPICIOUS.search(name) and name not in {*SECRET, *HONEST}) == []


@pytest.mark.parametrize(
    "name",
    _listed("""
    passwd wifi_password PASSWORD admin-password password2 password_hash userPassword current-password passphrase pwd
    api_key apikey apiKey API_KEY X-Api-Key api_keys client_secret clientSecret secret secrets secret_value totp_secret
    accessToken ACCESS_TOKEN refresh_tokens tokens token_value authSig auth_sig Authorization cookie Set-Cookie
    user_pin sim_pin pin_code pincode pin1 door_code alarm_code lock_code user_code usercode usercodes codes
    one_time_password otp_code private_key encryption_key network_key local_key noise_psk bindkey entity_picture_small
    """),
)
def test_names_of_secrets_elsewhere(name: str) -> None:
    """Names that integrations and users give are known however they are written."""
    assert is_secret_key(name)


@pytest.mark.parametrize(
    "name",
    _listed("""
    code_format code_arm_required token_count max_tokens input_tokens output_tokens total_tokens postal_code zip_code
    language_code qr_code barcode status_code wind_code spin_speed opinion ping shopping pinned gpio_pin passenger
    passive_mode bypass monkey keyboard public_key translation_key secretary has_password password_changed
    password_last_changed token_expires_at pin_required tokenized encode encoder codec compass decode unicode username
    """),
)
def test_honest_names_elsewhere(name: str) -> None:
    """A part of a word makes no secret, nor does what is told about one."""
    assert not is_secret_key(name)


@pytest.mark.parametrize(
    "text",
    [
        "/api/media_player_proxy/x?token=1",
        "https://site.test/?a=1&access_token=1",
        "/local/song.mp3?authSig=abc",
        "https://site.test/?API_KEY=1",
        "x?token%3D1",
        "rtsp://admin:hunter2@camera.local/stream",
        "see http://:hunter2@camera.local",
    ],
)
def test_texts_that_are_secrets(text: str) -> None:
    """An address that opens what is behind it is a secret wherever it stands."""
    assert is_secret_text(text)
    assert without_secrets(text) is None
    assert without_secrets({"a": [text, 1], text: 2, "b": {"c": text}}) == {"a": [1], "b": {}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the token is out",
        "token=",
        "token= ",
        "a=b",
        "http://site.test:8123/x@y",
        "https://site.test/?q=1:2@3",
        "user@site.test",
        "mailto:me@site.test",
        "19:30 @ home",
    ],
)
def test_honest_texts(text: str) -> None:
    """Other texts stay."""
    assert not is_secret_text(text)


def test_long_texts_are_read_at_once() -> None:
    """No text makes the search slow."""
    for part in ("a:", "://", "://a:", "token", "://a", "=", "a"):
        assert not is_secret_text("=://" + part * 200_000)


def test_nested() -> None:
    """Secrets go however deep they are; everything else stays what it is."""
    value: dict[str, Any] = {
        "name": "Door",
        "none": None,
        "config": MappingProxyType({"wifi": [{"ssid": "home", "password": "x"}, ({"pin": 1, "n": 2.5},)]}),
        "tags": {"a", "?token=1"},
        1: True,
    }
    assert without_secrets(value) == {
        "name": "Door",
        "none": None,
        "config": {"wifi": [{"ssid": "home"}, ({"n": 2.5},)]},
        "tags": {"a"},
        1: True,
    }
    assert "password" in value["config"]["wifi"][0]


@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: (inner,)])
def test_depth_is_bounded(make: Any) -> None:
    """What lies too deep to be looked into is left out."""
    value: Any = {"password": "narwhal"}
    for _ in range(DEEPEST * 100):
        value = make(value)
    assert "narwhal" not in str(without_secrets(value))
    value = "kept"
    for _ in range(DEEPEST):
        value = make(value)
    assert "kept" in str(without_secrets(value))


def test_loads_without_home_assistant() -> None:
    """A small process can load the file alone."""
    source = (
        "import importlib.util, sys\n"
        "spec = importlib.util.spec_from_file_location('secret_rule', sys.argv[1])\n"
        "rule = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(rule)\n"
        "print(rule.without_secrets({'pin': 1, 'a': 2}), 'homeassistant' in sys.modules)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", source, str(secret_rule.__file__)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "{'a': 2} False\n"


@pytest.mark.usefixtures("assist")
async def test_exposure_follows_the_rule(hass: HomeAssistant) -> None:
    """Attributes, one attribute, and values of any origin come without secrets."""
    attributes = {
        "code_format": "number",
        "api_key": "narwhal",
        "source": "rtsp://admin:narwhal@camera.local",
        "users": [{"name": "Anna", "user_code": "narwhal"}],
    }
    hass.states.async_set("lock.door", "locked", attributes)
    expose(hass, "lock.door")
    exposure = Exposure(hass, ASSISTANT)
    state = hass.states.get("lock.door")
    assert state
    shown = {"code_format": "number", "users": [{"name": "Anna"}]}
    assert exposure.visible_attributes(state) == shown
    assert exposure.visible_value(attributes) == shown
    assert {name: exposure.visible_attribute(state, name) for name in attributes} == shown | {
        "api_key": None,
        "source": None,
    }
