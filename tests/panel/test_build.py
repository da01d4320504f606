"""What browsers load is what the sources make, with what is pinned, and nothing more than it has to be."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import subprocess

import pytest

from tests.publishing.files import CHECKOUT, INTEGRATION, read_json

SOURCES = CHECKOUT / "frontend"
BUILT = INTEGRATION / "panel" / "built"
MAX_LINES = 1_300
"""Lines of all sources: no framework of our own."""
MAX_ON_EVERY_PAGE = 2_000
"""Bytes that every page of the frontend loads because of the card."""


@pytest.fixture(autouse=True)
def _custom_integrations() -> None:
    """Make no Home Assistant, as the tests beside this one want it."""


@pytest.mark.timeout(300)
def test_built_from_the_sources(tmp_path: Path) -> None:
    """The same files come out, byte for byte, also for several who build at once; their types are right."""
    folders = [tmp_path / "one", tmp_path / "two"]
    committed = {path.name: path.read_bytes() for path in BUILT.iterdir()}
    with ThreadPoolExecutor() as pool:
        for folder, done in zip(folders, pool.map(build, folders), strict=True):
            assert done.returncode == 0, done.stdout + done.stderr
            made = {path.name: path.read_bytes() for path in folder.iterdir()}
            assert made.keys() == committed.keys()
            assert [name for name in made if made[name] != committed[name]] == [], "run script/frontend"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build into a folder."""
    return subprocess.run([CHECKOUT / "script" / "frontend", folder], capture_output=True, text=True, check=False)


def test_pinned() -> None:
    """Each package has one version and a checksum, and comes from wherever this machine gets its packages."""
    wanted = read_json(SOURCES / "package.json")["devDependencies"]
    assert all(version[0].isdigit() for version in wanted.values()), wanted
    text = (SOURCES / "package-lock.json").read_text("utf-8")
    assert "resolved" not in text
    packages = {name: package for name, package in read_json(SOURCES / "package-lock.json")["packages"].items() if name}
    assert {name.removeprefix("node_modules/") for name in packages} >= wanted.keys()
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())


def test_small() -> None:
    """The sources can be read, and what every page loads is next to nothing."""
    assert sum(len(path.read_text("utf-8").splitlines()) for path in SOURCES.rglob("src/**/*.ts")) < MAX_LINES
    assert (BUILT / "card.js").stat().st_size < MAX_ON_EVERY_PAGE
