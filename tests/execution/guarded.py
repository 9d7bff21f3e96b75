"""Run a package with its inputs between guard pages: an access outside of an input ends the process.

    python guarded.py MODEL.pt2 before|after|nowhere INPUTS.pt

``INPUTS.pt`` holds a list of tensors.  Each is moved into memory of its own that begins right after a page that
may not be touched (``before``), ends right before one (``after``), or lies among usable pages (``nowhere``).
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

PAGE = mmap.PAGESIZE
NONE, READ_WRITE, PRIVATE_ANONYMOUS = 0, 3, 0x22


def memory(size: int, where: str) -> int:
    """Address of ``size`` bytes."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    pages = -(-size // PAGE)
    base = libc.mmap(None, (pages + 2) * PAGE, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0)
    if where != "nowhere":
        for page in (base, base + (pages + 1) * PAGE):
            assert libc.mprotect(page, PAGE, NONE) == 0
    return int(base + PAGE + (0 if where == "before" else pages * PAGE - size))


def main(package: str, where: str, inputs: str) -> None:
    import torch

    def guarded(t: Any) -> Any:
        size = t.untyped_storage().nbytes()
        block = (ctypes.c_char * size).from_address(memory(size, where))
        return torch.frombuffer(block, dtype=t.dtype).as_strided(t.shape, t.stride()).copy_(t)

    model = torch._inductor.aoti_load_package(package)
    model(*(guarded(t) for t in torch.load(inputs)))


if __name__ == "__main__":
    main(*sys.argv[1:])
