"""script/release: what is in the zip file, and that a wrong version is refused."""

import hashlib
from pathlib import Path
import subprocess
from zipfile import ZipFile

import pytest

from .files import CHECKOUT, INTEGRATION, manifest, read_json


def release(
    folder: Path, *arguments: str, script: Path = CHECKOUT / "script" / "release"
) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    return subprocess.run([script, *arguments, "--folder", folder], check=False, capture_output=True, text=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what was built."""
    folder = tmp_path_factory.mktemp("release")
    result = release(folder, f"v{manifest()['version']}")
    assert result.returncode == 0, result.stderr
    return folder


def test_zip(built: Path) -> None:
    """The zip file has the name that HACS looks for, and holds every file of the integration and no cache."""
    with ZipFile(built / read_json(CHECKOUT / "hacs.json")["filename"]) as archive:
        assert archive.testzip() is None
        packed = {name: archive.read(name) for name in archive.namelist()}
    there = {
        path.relative_to(INTEGRATION).as_posix(): path.read_bytes()
        for path in INTEGRATION.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == there
    assert {"__init__.py", "manifest.json", "translations/en.json", "brand/icon.png"} <= packed.keys()


def test_same_bytes(built: Path, tmp_path: Path) -> None:
    """The same files give the same zip file."""
    assert release(tmp_path).returncode == 0
    first, second = (
        hashlib.sha256((folder / "extended_assist.zip").read_bytes()).hexdigest() for folder in (built, tmp_path)
    )
    assert first == second


def test_notes(built: Path) -> None:
    """The notes are what the changelog says of this version, without its head and its links."""
    notes = (built / "notes.md").read_text()
    assert "### Added\n\n- " in notes
    assert "## [" not in notes
    assert "releases/tag" not in notes


def test_wrong_tag(tmp_path: Path) -> None:
    """A tag of another version builds nothing."""
    result = release(tmp_path, "v0.0.1")
    assert result.returncode == 1
    assert f"it should be v{manifest()['version']}" in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changes", "message"),
    [("## [9.9.9] - 2030-01-01\n", "CHANGELOG.md begins with 9.9.9"), ("Nothing.\n", "has no line")],
)
def test_wrong_changelog(tmp_path: Path, changes: str, message: str) -> None:
    """A changelog that does not begin with this version builds nothing."""
    script = tmp_path / "script" / "release"
    script.parent.mkdir()
    script.write_bytes((CHECKOUT / "script" / "release").read_bytes())
    script.chmod(0o755)
    integration = tmp_path / "custom_components" / "extended_assist"
    integration.mkdir(parents=True)
    (integration / "manifest.json").write_bytes((INTEGRATION / "manifest.json").read_bytes())
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{changes}")
    result = release(tmp_path / "built", script=script)
    assert result.returncode == 1
    assert message in result.stderr
    assert not (tmp_path / "built").exists()
