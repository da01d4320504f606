"""Try to write where the disk is full: `python -m tests.automations.full FOLDER`."""

from functools import partial
from pathlib import Path
import sys

from custom_components.extended_assist.automations import edit, file
from custom_components.extended_assist.results import ToolError
from tests.automations.files import automation

path = Path(sys.argv[1]) / "automations.yaml"
before = path.read_bytes()
try:
    file.change(path, partial(edit.add, config=automation(7) | {"id": "new"}))
except ToolError as err:
    sys.stdout.write(str(err))
else:
    sys.exit("It was written")
assert path.read_bytes() == before
assert sorted(item.name for item in path.parent.iterdir()) == ["automations.yaml", "filler"]
