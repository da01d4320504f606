"""A seccomp filter for the system calls that the worker may make; it binds root, too.

No library for this works in every installation: the bindings on PyPI load libseccomp, which Home Assistant's container does
not have. The kernel runs the filter's program for each system call:
https://docs.kernel.org/userspace-api/seccomp_filter.html.
"""

import ctypes
import errno
import os
import struct
import sys
from typing import Final, NamedTuple

# Constants of linux/prctl.h, linux/seccomp.h and linux/bpf_common.h.
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | errno.EPERM
_LOAD: Final = 0x20
_JUMP_IF_EQUAL: Final = 0x15
_RETURN: Final = 0x06
# Offsets in struct seccomp_data; the arguments begin with their lower half, since both architectures are little-endian.
_NUMBER: Final = 0
_ARCHITECTURE: Final = 4
_ARGUMENTS: Final = 16
# Arguments that are looked at: linux/fcntl.h, asm-generic/resource.h. The kernel itself reads 32 bits of each.
_AT_EMPTY_PATH: Final = 0x1000
_F_GETFD, _F_SETFD, _F_GETFL, _F_GETLK, _F_SETLK = 1, 2, 3, 5, 6
_THIS_PROCESS: Final = 0
_RLIMIT_CPU: Final = 0

_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH_* of linux/audit.h, by the machine names of uname."""


class _Call(NamedTuple):
    """A system call with its numbers in asm/unistd_64.h of x86_64 and in asm-generic/unistd.h, which aarch64 uses."""

    x86_64: int
    aarch64: int | None
    """None if aarch64 does not have it."""
    conditions: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Indexes of arguments with their allowed values."""


_WORK: Final = {
    "read": _Call(0, 63),
    "write": _Call(1, 64),
    "close": _Call(3, 57),
    "fstat": _Call(5, 80),
    "lseek": _Call(8, 62),
    "mmap": _Call(9, 222),
    "mprotect": _Call(10, 226),
    "munmap": _Call(11, 215),
    "brk": _Call(12, 214),
    "rt_sigaction": _Call(13, 134),
    "rt_sigprocmask": _Call(14, 135),
    "rt_sigreturn": _Call(15, 139),
    "pread64": _Call(17, 67),
    "pwrite64": _Call(18, 68),
    "readv": _Call(19, 65),
    "writev": _Call(20, 66),
    "sched_yield": _Call(24, 124),
    "mremap": _Call(25, 216),
    "madvise": _Call(28, 233),
    "nanosleep": _Call(35, 101),
    "setitimer": _Call(38, 103),
    "getpid": _Call(39, 172),
    "exit": _Call(60, 93),
    # With F_SETOWN and F_SETSIG, a file would send signals to other processes.
    "fcntl": _Call(72, 25, ((1, (_F_GETFD, _F_SETFD, _F_GETFL, _F_GETLK, _F_SETLK)),)),
    "fsync": _Call(74, 82),
    "fdatasync": _Call(75, 83),
    "ftruncate": _Call(77, 46),
    "gettimeofday": _Call(96, 169),
    "getrusage": _Call(98, 165),
    "sysinfo": _Call(99, 179),
    "getuid": _Call(102, 174),
    "getgid": _Call(104, 176),
    "geteuid": _Call(107, 175),
    "getegid": _Call(108, 177),
    "getppid": _Call(110, 173),
    "gettid": _Call(186, 178),
    "time": _Call(201, None),
    "futex": _Call(202, 98),
    "restart_syscall": _Call(219, 128),
    "clock_gettime": _Call(228, 113),
    "clock_nanosleep": _Call(230, 115),
    "exit_group": _Call(231, 94),
    # Older C libraries make fstat of it. A path beside the flag leads to what can be known about a file, never into it.
    "newfstatat": _Call(262, 79, ((3, (_AT_EMPTY_PATH,)),)),
    # Root may raise its other limits.
    "prlimit64": _Call(302, 261, ((0, (_THIS_PROCESS,)), (1, (_RLIMIT_CPU,)))),
    "getrandom": _Call(318, 278),
}
"""System calls for a query: memory, open files, the clock and exit."""
_FILES: Final = {
    "open": _Call(2, None),
    "stat": _Call(4, None),
    "lstat": _Call(6, None),
    "ioctl": _Call(16, 29),
    "access": _Call(21, None),
    "getcwd": _Call(79, 17),
    "unlink": _Call(87, None),
    "readlink": _Call(89, None),
    "fchmod": _Call(91, 52),
    "fchown": _Call(93, 55),
    "uname": _Call(63, 160),
    "prctl": _Call(157, 167, ((0, (_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS)),)),
    "getdents64": _Call(217, 61),
    "openat": _Call(257, 56),
    "newfstatat": _Call(262, 79),
    "unlinkat": _Call(263, 35),
    "readlinkat": _Call(267, 78),
    "faccessat": _Call(269, 48),
    "statx": _Call(332, 291),
    "faccessat2": _Call(439, 439),
}
"""More system calls for opening databases, importing modules and installing the second filter."""


def refuse_others(*, files: bool) -> None:
    """Deny all system calls except those for work and, with `files`, for opening files; this cannot be undone.

    Raises OSError if the kernel has no filters or the machine type is unknown.
    """
    # A Python of 32 bits would need the numbers of its own architecture.
    if (architecture := os.uname().machine) not in _ARCHITECTURES or sys.maxsize < 2**32:
        raise OSError(errno.ENOSYS, f"no filter of system calls for {architecture}")
    program = ctypes.create_string_buffer(code := _program(architecture, _WORK | _FILES if files else _WORK), len(code))
    instructions = len(code) // struct.calcsize("HBBI")
    # struct sock_fprog of linux/filter.h
    described = ctypes.create_string_buffer(struct.pack("@HP", instructions, ctypes.addressof(program)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
    address = ctypes.addressof(described)
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, address, 0, 0):
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def _program(architecture: str, calls: dict[str, _Call]) -> bytes:
    """Return the program that allows some system calls: an array of struct sock_filter, linux/filter.h."""
    # A 64-bit process can make calls of 32 bits, under other numbers.
    code = [_load(_ARCHITECTURE), _if_equal(_ARCHITECTURES[architecture], 1, 0), _end(_REFUSE), _load(_NUMBER)]
    for call in calls.values():
        if (number := call.x86_64 if architecture == "x86_64" else call.aarch64) is not None:
            allowed = [part for place, values in call.conditions for part in _one_of(place, values)] + [_end(_ALLOW)]
            code += [_if_equal(number, 0, len(allowed)), *allowed]
    return b"".join([*code, _end(_REFUSE)])


def _one_of(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Return the instructions that deny a call unless an argument has one of some values."""
    tests = [_if_equal(value, len(values) - index, 0) for index, value in enumerate(values)]
    return [_load(_ARGUMENTS + 8 * argument), *tests, _end(_REFUSE)]


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD, 0, 0, offset)


def _if_equal(value: int, then: int, otherwise: int) -> bytes:
    """Return the jump instruction that skips some instructions if the loaded value is equal, and others if not."""
    return struct.pack("=HBBI", _JUMP_IF_EQUAL, then, otherwise, value)


def _end(answer: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, answer)
