"""The machine of machine.hpp over numpy arrays, for kernels that are Python: same script, same answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = "npt.NDArray[np.int64]"

WRITTEN, STALE, FRESH, COPIED = 1, 2, 4, 8


@dataclass(slots=True)
class Storage:
    """Bytes and what is known of each; ``origin`` as in checked.hpp."""

    data: npt.NDArray[np.uint8]
    state: npt.NDArray[np.uint8]
    origin: Ints | None = None


@dataclass(slots=True)
class Arg:
    """Where a pointer points and what was touched through it. ``compiled``: by a kernel, whose indices are those of
    the tensor it was compiled for."""

    storage: Storage
    start: int
    item: int = 1
    compiled: bool = False
    ends: dict[str, tuple[int, int]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)

    def _touch(self, kind: str, elements: Ints) -> None:
        lo, hi = int(elements.min()), int(elements.max())
        old = self.ends.get(kind)
        self.ends[kind] = (lo, hi) if old is None else (min(lo, old[0]), max(hi, old[1]))

    def _count(self, kind: str, elements: Ints) -> None:
        if elements.size:
            self.counts[kind] = self.counts.get(kind, 0) + int(elements.size)
            self.first.setdefault(kind, int(elements.flat[0]))

    def _bytes(self, elements: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        at = self.start + elements * self.item
        return at, (at >= 0) & (at + self.item <= self.storage.data.size)

    def read(self, elements: Ints) -> npt.NDArray[np.uint8]:
        """The bytes of some elements, one row each; zeros outside of the storage."""
        out = np.zeros((elements.size, self.item), np.uint8)
        if not elements.size:
            return out
        self._touch("r", elements)
        at, inside = self._bytes(elements)
        self._count("bad_reads", elements[~inside])
        held = self.storage.state[at[inside]]
        self._count("unwritten", elements[inside][(held & WRITTEN) == 0])
        self._count("stale", elements[inside][(held & STALE) != 0])
        if self.compiled and (origin := self.storage.origin) is not None:
            place = at[inside] // self.item
            known = ((held & COPIED) != 0) & (place < origin.size)
            moved = known & (origin[np.minimum(place, origin.size - 1)] != place)
            self._count("misread", elements[inside][moved])
        out[inside] = self.storage.data[at[inside][:, None] + np.arange(self.item)]
        return out

    def write(self, elements: Ints, rows: npt.NDArray[np.uint8]) -> None:
        if not elements.size:
            return
        self._touch("w", elements)
        at, inside = self._bytes(elements)
        self._count("bad_writes", elements[~inside])
        where = at[inside][:, None] + np.arange(self.item)
        self.storage.data[where] = rows[inside]
        kept = 0 if self.compiled else self.storage.state[where] & COPIED
        self.storage.state[where] = WRITTEN | FRESH | kept

    def answer(self) -> dict[str, Any]:
        out: dict[str, Any] = {"start": self.start, "bytes": int(self.storage.data.size), **self.counts}
        for kind, (lo, hi) in self.ends.items():
            out[f"{kind}min"], out[f"{kind}max"] = lo, hi
        return out | {f"first_{k}": v for k, v in self.first.items()}


@dataclass(slots=True)
class View:
    """A view of the script: its elements counted from the first one, in order."""

    id: int
    byte: int
    item: int
    elements: Ints


#: Runs a kernel: its number and its arguments (pointers, integers and floats).
Launcher: TypeAlias = "Callable[[int, Sequence[Arg | int | float]], str]"


class Words:
    """The words of a line, one after another."""

    def __init__(self, line: str) -> None:
        self._words = iter(line.split())

    def word(self) -> str:
        return next(self._words)

    def int(self) -> int:
        return int(next(self._words))

    def view(self) -> View:
        key, byte, item, rank = (self.int() for _ in range(4))
        sizes = [self.int() for _ in range(rank)]
        strides = [self.int() for _ in range(rank)]
        elements = np.zeros(1, np.int64)
        for n, step in zip(sizes, strides, strict=True):
            elements = (elements[:, None] + np.arange(n, dtype=np.int64) * step).ravel()
        return View(key, byte, item, elements)


class NumpyMachine:
    """Runs a script."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._storages: dict[int, Storage] = {}
        self._copies: dict[int, View] = {}
        self._answers: list[dict[str, Any]] = []

    def run(self, lines: Sequence[str]) -> list[dict[str, Any]]:
        for line in lines:
            words = Words(line)
            getattr(self, f"_{words.word().lower()}")(words)
        return self._answers

    def _arg(self, v: View) -> Arg:
        return Arg(self._storages[v.id], v.byte, v.item)

    def _s(self, w: Words) -> None:
        key, size = w.int(), w.int()
        self._storages[key] = Storage(np.zeros(size, np.uint8), np.zeros(size, np.uint8))
        self._copies.pop(key, None)

    def _d(self, w: Words) -> None:
        key = w.int()
        self._storages[key] = Storage(np.zeros(0, np.uint8), np.zeros(0, np.uint8))
        self._copies.pop(key, None)

    def _put(self, v: View, kind: str, lo: int, hi: int, seed: int) -> None:
        random = np.random.default_rng(seed & 0xFFFFFFFFFFFF)
        n = v.elements.size
        if kind == "i":
            values: npt.NDArray[Any] = random.integers(lo, hi + 1, n).astype(f"i{v.item}")
        elif kind == "b":
            values = (random.random(n, np.float32).view(np.uint32) >> 16).astype(np.uint16)
        else:
            values = random.random(n).astype(f"f{v.item}") if v.item <= 8 else random.random(n).astype("c16")
        self._arg(v).write(v.elements, rows_of(values, v.item))
        self._settle([v.id])

    def _f(self, w: Words) -> None:
        v, kind = w.view(), w.word()
        self._put(v, kind, w.int(), w.int(), w.int())

    def _c(self, w: Words) -> None:
        to = w.view()
        self._copy(to, w.view())

    def _copy(self, to: View, source: View) -> None:
        r, s = self._arg(source), self._storages[source.id]
        at, inside = r._bytes(source.elements)
        states = np.zeros(at.size, np.uint8)
        states[inside] = s.state[at[inside]]
        rows = r.read(source.elements)
        held = (states & WRITTEN) != 0
        target = self._arg(to)
        target.write(to.elements[held], rows[held])
        where, inside = target._bytes(to.elements[held & ((states & STALE) != 0)])
        target.storage.state[where[inside][:, None] + np.arange(to.item)] |= STALE
        self._settle([to.id])

    def _m(self, w: Words) -> None:
        key, v = w.int(), w.view()
        self._copy(View(key, 0, v.item, np.arange(v.elements.size, dtype=np.int64)), v)
        copy = self._storages[key]
        copy.state |= COPIED
        copy.origin = v.elements
        self._copies[key] = v

    def _x(self, w: Words) -> None:
        args, mixed = [], 7
        for _ in range(w.int()):
            v = w.view()
            a = self._arg(v)
            mixed = hash((mixed, a.read(v.elements).tobytes()))
            args.append(a.answer())
        for i in range(w.int()):
            v, kind = w.view(), w.word()
            self._put(v, kind, 0, 1, mixed + i)
        self._answers.append({"args": args})

    def _l(self, w: Words) -> None:
        kernel = w.int()
        args: list[Arg | int | float] = []
        ids = []
        for _ in range(w.int()):
            kind = w.word()
            if kind == "p":
                ids.append(w.int())
                args.append(Arg(self._storages[ids[-1]], w.int(), compiled=True))
            else:
                args.append(w.int() if kind == "i" else float(w.word()))
        failed = self._launcher(kernel, args)
        self._settle(ids)
        self._answers.append({"args": [a.answer() for a in args if isinstance(a, Arg)], "failed": failed})

    def _o(self, w: Words) -> None:
        v = w.view()
        a = self._arg(v)
        digest = hash(a.read(v.elements).tobytes())
        self._answers.append({"hash": str(digest), "args": [a.answer()]})

    def _settle(self, ids: Sequence[int]) -> None:
        """What was written into a copy makes its place in the original out of date."""
        for key in ids:
            if (v := self._copies.get(key)) is not None:
                self._outdate(self._storages[key], v)
        for key in ids:
            self._storages[key].state &= np.uint8(~FRESH & 0xFF)

    def _outdate(self, copy: Storage, v: View) -> None:
        source = np.arange(v.elements.size) * v.item
        known = source < copy.state.size
        fresh = np.zeros(source.size, bool)
        fresh[known] = (copy.state[source[known]] & FRESH) != 0
        place = Arg(self._storages[v.id], v.byte, v.item)
        at, inside = place._bytes(v.elements[fresh])
        where = at[inside][:, None] + np.arange(v.item)
        state = place.storage.state
        state[where] |= np.where(state[where] & FRESH, 0, STALE).astype(np.uint8)


def rows_of(values: npt.NDArray[Any], item: int) -> npt.NDArray[np.uint8]:
    """The bytes of values, one row each."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1, item)
