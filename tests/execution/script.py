"""Tensors on emulated storages and the lines that the machine reads (the format is in machine.hpp)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aoti_lint.analyzer.model.dtypes import ITEMSIZE
from aoti_lint.analyzer.model.record import replace


@dataclass(frozen=True, slots=True)
class Place:
    """A tensor: ``byte`` is where it starts in its storage, sizes and strides in elements."""

    storage: int
    byte: int
    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def item(self) -> int:
        return ITEMSIZE[self.dtype]

    @property
    def text(self) -> str:
        return " ".join(
            map(str, (self.storage, self.byte, self.item, len(self.sizes), *self.sizes, *self.strides))
        )

    @property
    def kind(self) -> str:
        """Which values fill it: f float, b bfloat16, i integer."""
        if self.dtype == "bfloat16":
            return "b"
        return "f" if self.dtype.startswith(("float", "complex")) and self.item > 1 else "i"


def numel(sizes: Sequence[int]) -> int:
    n = 1
    for s in sizes:
        n *= s
    return n


def extent(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last a layout reaches."""
    if 0 in sizes:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))


def row_major(sizes: Sequence[int]) -> tuple[int, ...]:
    out: list[int] = []
    step = 1
    for n in reversed(sizes):
        out.append(step)
        step *= max(n, 1)
    return tuple(reversed(out))


@dataclass(slots=True)
class Script:
    """Lines for the machine; ``bytes`` is what all live storages take, ``sizes`` by storage."""

    lines: list[str] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    live: int = 0
    peak: int = 0

    def storage(self, size: int) -> int:
        key = len(self.sizes)
        self.sizes[key] = size
        self.live += size
        self.peak = max(self.peak, self.live)
        self.lines.append(f"S {key} {size}")
        return key

    def tensor(self, sizes: Sequence[int], strides: Sequence[int], dtype: str, elements: int) -> Place:
        """A tensor at the start of a new storage of so many elements."""
        return Place(self.storage(elements * ITEMSIZE[dtype]), 0, dtype, tuple(sizes), tuple(strides))

    def drop(self, storage: int) -> None:
        self.live -= self.sizes[storage]
        self.lines.append(f"D {storage}")

    def fill(self, at: Place, hi: int, seed: int) -> None:
        top = 1 if at.dtype == "bool" else hi
        self.lines.append(f"F {at.text} {at.kind} 0 {top} {seed}")

    def copy(self, to: Place, source: Place) -> None:
        self.lines.append(f"C {to.text} {source.text}")

    def call(self, operands: Sequence[Place], results: Sequence[Place]) -> None:
        reads = " ".join(p.text for p in operands)
        writes = " ".join(f"{p.text} {p.kind}" for p in results)
        self.lines.append(f"X {len(operands)} {reads} {len(results)} {writes}")

    def launch(self, kernel: int, args: Sequence[Place | int | float]) -> None:
        words = [
            f"p {a.storage} {a.byte}"
            if isinstance(a, Place)
            else f"i {a}"
            if isinstance(a, int)
            else f"f {a}"
            for a in args
        ]
        self.lines.append(f"L {kernel} {len(words)} {' '.join(words)}")

    def output(self, at: Place) -> None:
        self.lines.append(f"O {at.text}")


@dataclass(frozen=True, slots=True)
class Memory:
    """What a runtime gives for an allocation and for a view. ``copies``: views that are not packed are copied."""

    name: str
    copies: bool

    def allocate(self, script: Script, sizes: Sequence[int], strides: Sequence[int], dtype: str) -> Place:
        elements = numel(sizes) if self.copies else extent(sizes, strides)
        return script.tensor(sizes, strides, dtype, elements)

    def view(self, script: Script, meant: Place) -> Place:
        n = numel(meant.sizes)
        if not self.copies or n <= 1 or extent(meant.sizes, meant.strides) == n:
            return meant
        copy = script.tensor(meant.sizes, row_major(meant.sizes), meant.dtype, n)
        script.lines.append(f"M {copy.storage} {meant.text}")
        return copy


ALIASES = Memory("libtorch", False)
COPIES = Memory("executorch-metal", True)


def shifted(at: Place, elements: int, sizes: Sequence[int], strides: Sequence[int]) -> Place:
    return replace(at, byte=at.byte + elements * at.item, sizes=tuple(sizes), strides=tuple(strides))
