"""From runnable kernels to a program that runs scripts of launches."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .rewrite import Parameter, Runnable

INCLUDE = Path(__file__).parent / "include"
CXX = os.environ.get("CXX") or shutil.which("g++")
#: Wrapping integer arithmetic is what the emulated devices do; strict C++ would let the compiler assume it away.
FLAGS = ("-std=c++20", "-O1", "-w", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")


class NotBuilt(Exception):
    """The kernels don't compile under the stand-ins; the message is the compiler's first error."""


def program(kernels: Sequence[Runnable], dialect: str, vector_bytes: int = 64) -> Path:
    """The compiled program for some kernels, from the cache when it was built before. Raises NotBuilt."""
    header = _header(dialect, vector_bytes)
    source = _source(kernels)
    binary = header.parent / f"{header.stem}-{_key(source)}"
    if not binary.exists():
        _compile(source, binary, ["-include", str(header)])
    return binary


def _header(dialect: str, vector_bytes: int) -> Path:
    """The stand-ins of a dialect, compiled once. A folder per user: others must not swap the binaries."""
    folder = Path(tempfile.gettempdir()) / f"aoti-lint-execution-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    text = f'#define VECTOR_BYTES {vector_bytes}\n#include "{dialect}_kernel.hpp"\n#include "machine.hpp"\n'
    headers = "".join(p.read_text() for p in sorted(INCLUDE.glob("*.hpp")))
    header = folder / f"{_key(text + headers)}.hpp"
    made = header.with_suffix(".hpp.gch")
    if not made.exists():
        header.write_text(text)
        _compile(text, made, ["-x", "c++-header"])
    return header


def _key(text: str) -> str:
    return hashlib.sha256("\0".join((text, *FLAGS)).encode()).hexdigest()[:16]


def _compile(source: str, made: Path, options: Sequence[str]) -> None:
    """Compile a text to ``made``; another process may do the same at the same time. Raises NotBuilt."""
    text = made.with_name(f"{made.name}.{os.getpid()}.cpp")
    text.write_text(source)
    output = text.with_suffix(".out")
    command = [str(CXX), *FLAGS, f"-I{INCLUDE}", *options, str(text), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise NotBuilt(errors[0][:300] if errors else done.stderr[:300])
    text.unlink()
    output.replace(made)


def _source(kernels: Sequence[Runnable]) -> str:
    cases = "\n".join(f"    case {i}: {_case(k)} break;" for i, k in enumerate(kernels))
    bodies = "\n".join(k.code for k in kernels)
    return (
        f"{bodies}\n\n"
        f"static void launch(int kernel, run::Args& a) {{\n  switch (kernel) {{\n{cases}\n  }}\n}}\n"
        "int main() { return run::machine(launch); }\n"
    )


def _case(k: Runnable) -> str:
    args = [_argument(i, p) for i, p in enumerate(k.params)]
    if not k.positions:
        return f"{k.call}({', '.join(args)});"
    all_args = ", ".join([*args, *map(_position, k.positions)])
    return f"a.threads({len(args)}).each([&](run::Thread t) {{ {k.call}({all_args}); }});"


def _argument(i: int, p: Parameter) -> str:
    if p.pointer:
        return f"a.ptr<{'const ' * p.readonly}{p.type}>({i})"
    return f"a.num<{p.type}>({i})"


_PLACES = {
    "thread_position_in_grid": "t.grid",
    "thread_position_in_threadgroup": "t.group",
    "thread_index_in_threadgroup": "t.group",
}


def _position(position: tuple[str, str]) -> str:
    kind, attribute = position
    place = _PLACES[attribute]
    rank = int(kind[-1]) if kind[-1].isdigit() else 1
    values = ", ".join(f"{kind.rstrip('123')}({place}[{d}])" for d in range(rank))
    return f"{kind}{{{values}}}" if rank > 1 else values
