"""The numbers of system calls are those of the kernel's own headers; the other architecture's cannot be tried here."""

from pathlib import Path
import re

import pytest

from custom_components.extended_assist.worker import system_calls

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
OTHER_NAMES = {"newfstatat": "fstatat"}
"""The names in the generic table, where each architecture gives them its own."""


@pytest.mark.parametrize("architecture", HEADERS)
def test_numbers(architecture: str) -> None:
    """All of both tables."""
    if not HEADERS[architecture].is_file():
        pytest.skip("the kernel's headers are not installed")
    text = HEADERS[architecture].read_text(encoding="utf-8")
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    for name, call in [*system_calls._WORK.items(), *system_calls._FILES.items()]:
        expected = numbers.get(name, numbers.get(OTHER_NAMES.get(name, "")))
        assert getattr(call, architecture) == expected, name


def test_programs() -> None:
    """Both architectures have a program that the kernel takes, in which every jump ends inside of it."""
    for architecture in HEADERS:
        code = system_calls._program(architecture, system_calls._WORK | system_calls._FILES)
        parts = [code[start : start + 8] for start in range(0, len(code), 8)]
        assert len(parts) < 4096
        for index, part in enumerate(parts):
            if part[0] == system_calls._JUMP_IF_EQUAL:
                assert index + 1 + max(part[2], part[3]) < len(parts)
        assert parts[-1][0] == system_calls._RETURN
