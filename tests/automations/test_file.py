"""Tests of replacing the file: killed writers, full disks, and others who write too."""

from collections.abc import Iterator
from functools import partial
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import tempfile

import pytest

from custom_components.extended_assist.automations import edit, file
from custom_components.extended_assist.calls.journal import MAX_CHANGES
from custom_components.extended_assist.results import ToolError
from tests.automations.files import GOOD, automation
from tests.e2e.instance import CHECKOUT

NEW = automation(7) | {"id": "new"}
ADD_NEW = partial(edit.add, config=NEW)
MEMORY = Path("/dev/shm")  # noqa: S108 - folders of its own are made there
SMALL_DISK = """
mount -t tmpfs -o size=64k none {folder} && cd {folder} || exit 77
cp {source} automations.yaml && dd if=/dev/zero of=filler bs=1k count=52 2>/dev/null
exec {python} -m tests.automations.full {folder}
"""


@pytest.fixture
def fast_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory where there is such a thing: hundreds of rounds need not wait for a disk."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else tmp_path))
    yield folder
    shutil.rmtree(folder)


def test_killed_at_any_step(fast_folder: Path) -> None:
    """Killed before a line, or at any moment, a writer leaves one of the two versions; the next leaves nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.automations.kill", fast_folder], cwd=CHECKOUT, capture_output=True, check=True
    )
    found = json.loads(done.stdout)
    assert sum(found.values()) > 100
    assert min(found[f"line: {what}"] for what in ("old", "new", "left over")) > 5
    assert min(found[f"time: {what}"] for what in ("old", "new")) > 5
    assert found["beside the file at the end"] == 0
    assert found["copies"] <= MAX_CHANGES


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_permissions_and_links_stay(tmp_path: Path, mode: int) -> None:
    """The file keeps who may read it, and a link stays a link."""
    real = tmp_path / "elsewhere" / "real.yaml"
    real.parent.mkdir()
    real.write_text(GOOD["one"])
    real.chmod(mode)
    link = tmp_path / "automations.yaml"
    link.symlink_to(real)
    written = file.change(link, ADD_NEW)
    assert link.is_symlink()
    assert real.read_bytes() == written.after
    assert real.stat().st_mode & 0o777 == mode


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is an empty one."""
    path = tmp_path / "automations.yaml"
    assert file.change(path, ADD_NEW).before == b""
    assert path.read_text().startswith("- id: new")


def test_mark_at_the_beginning(tmp_path: Path) -> None:
    """A byte order mark stays where it is."""
    path = tmp_path / "automations.yaml"
    path.write_bytes(b"\xef\xbb\xbf- id: '1'\n  alias: A\n")
    file.change(path, ADD_NEW)
    file.change(path, partial(edit.update, automation_id="1", changes={"alias": "B"}))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf- id: '1'\n  alias: B\n- id: new\n")


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (b"- id: '1'\n", 0o444, "it is marked as read-only"),
        (b"- id: \xff\xfe\n", 0o644, "not in UTF-8"),
        (b"#" * (file.MAX_BYTES + 1), 0o644, "too many"),
    ],
    ids=["read-only", "not UTF-8", "too large"],
)
def test_refused(tmp_path: Path, content: bytes, mode: int, reason: str) -> None:
    """What cannot be written is left as it is, with a reason."""
    path = tmp_path / "automations.yaml"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(ToolError, match=reason):
        file.change(path, ADD_NEW)
    assert path.read_bytes() == content
    assert [item.name for item in tmp_path.iterdir()] == ["automations.yaml"]


def test_unreadable(tmp_path: Path) -> None:
    """What cannot be read is said, in the words of the system."""
    path = tmp_path / "automations.yaml"
    path.mkdir()
    with pytest.raises(ToolError, match=r"cannot be read: Is a directory\. Tell the user\."):
        file.change(path, ADD_NEW)


def test_full_disk(tmp_path: Path) -> None:
    """On a full disk nothing changes, and nothing is left."""
    source = tmp_path / "source.yaml"
    source.write_text(GOOD["hand-written"] + "# filler\n" * 700)
    (tmp_path / "disk").mkdir()
    script = SMALL_DISK.format(folder=tmp_path / "disk", source=source, python=sys.executable)
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", script],  # noqa: S607 - a tool of every Linux
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this machine does not let a process mount a small disk of its own")
    assert done.returncode == 0, done.stderr
    assert "No space left on device. Nothing was changed" in done.stdout


def test_others_write_too(tmp_path: Path) -> None:
    """What others save between our reading and our renaming is never lost: the change is made anew."""
    path = tmp_path / "automations.yaml"
    path.write_text("[]\n")
    seen = []

    def make(text: str) -> edit.Edit:
        seen.append(text)
        if len(seen) < 4:
            path.write_text(edit.add(path.read_text(), automation(len(seen))).text)
        return edit.add(text, NEW)

    written = file.change(path, make)
    assert len(seen) == 4
    assert path.read_bytes() == written.after
    assert path.read_text().count("alias: Automation") == 4


def test_others_write_all_the_time(tmp_path: Path) -> None:
    """After many attempts it is said, and theirs stays."""
    path = tmp_path / "automations.yaml"
    path.write_text("[]\n")

    def make(text: str) -> edit.Edit:
        path.write_text(f"{text}# again\n")
        return edit.add(text, NEW)

    with pytest.raises(ToolError, match="again and again"):
        file.change(path, make)
    assert path.read_text() == "[]\n" + "# again\n" * file.ATTEMPTS


def test_copies(tmp_path: Path) -> None:
    """The last copies are kept, readable for their owner only; what is gone or broken is nothing."""
    for number in range(MAX_CHANGES + 5):
        file.keep_copy(tmp_path, f"{number:04}", f"content {number}".encode())
    assert len(list(tmp_path.iterdir())) == MAX_CHANGES
    assert file.read_copy(tmp_path, "0004") is None
    assert file.read_copy(tmp_path, "0054") == b"content 54"
    broken = tmp_path / "0054.yaml.gz"
    assert broken.stat().st_mode & 0o777 == 0o600
    broken.write_bytes(broken.read_bytes()[:-12])
    assert file.read_copy(tmp_path, "0054") is None
