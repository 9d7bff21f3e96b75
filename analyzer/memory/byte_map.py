"""One byte for each element of a storage, set and searched by exact sets of elements.

Strided sets are slices of a byte array, which needs no numpy; sets that would be very many slices, and
enumerated ones, use numpy on the same bytes.  Sizes, positions and strides are in elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from ..bounds.footprint import Box, Elements

if TYPE_CHECKING:
    import numpy as np

#: Slices one strided set may be taken apart into.
_SLICES = 1 << 14


def those(*values: int) -> bytes:
    """A table for :meth:`Cells.ends`: the given values of a cell count."""
    return bytes(v in values for v in range(256))


def above(value: int) -> bytes:
    """A table for :meth:`Cells.ends`: values greater than ``value`` count."""
    return bytes(v > value for v in range(256))


class Cells:
    """``size`` cells that hold a number below 256 each; all the same one until a part is set."""

    def __init__(self, size: int, value: int = 0) -> None:
        self.size = size
        self._value = value
        self._data: bytearray | None = None

    def _bytes(self) -> bytearray:
        if self._data is None:
            self._data = bytearray([self._value]) * self.size
        return self._data

    def __getitem__(self, element: int) -> int:
        return self._value if self._data is None else self._data[element]

    def at(self, index: np.ndarray) -> np.ndarray:
        """The values of the cells at an array of elements. All must be inside."""
        import numpy as np

        return np.full(index.shape, self._value) if self._data is None else self._array()[index]

    def set(self, elements: Elements, value: int) -> None:
        """Give the cells of a set a value. The set must fit."""
        for b in elements.boxes:
            if b.start == 0 and b.dims == ((self.size, 1),):
                self._value, self._data = value, None
            elif self._data is None and self._value == value:
                continue
            elif (slices := _slices(b)) is None:
                self._view(b)[...] = value
            else:
                data, one = self._bytes(), bytes([value])
                for at, n in slices:
                    data[at] = one * n
        for p in elements.points:
            self._array()[p] = value

    def ends(self, elements: Elements, table: bytes) -> tuple[int, int] | None:
        """First and last element of a set whose cell's value counts by a table; None when there is none."""
        if self._data is None:
            return elements.ends if table[self._value] and not elements.empty else None
        found: list[int] = []
        for b in elements.boxes:
            slices = _slices(b)
            if slices is None:
                found += self._ends_among(b, table)
                continue
            for at, _ in slices:
                hits = self._data[at].translate(table)
                first = hits.find(1)
                if first >= 0:
                    found += (at.start + first * at.step, at.start + hits.rfind(1) * at.step)
        for p in elements.points:
            import numpy as np

            hit = p[np.frombuffer(table, dtype=bool)[self._array()[p]]]
            if hit.size:
                found += (int(hit.min()), int(hit.max()))
        return (min(found), max(found)) if found else None

    def gather(self, sizes: Sequence[int], strides: Sequence[int], start: int) -> Cells:
        """The cells of a strided view, packed in row-major order. The view must fit."""
        out = Cells(prod(sizes), self._value)
        if self._data is None or not out.size:
            return out
        if prod(sizes[:-1]) > _SLICES:
            import numpy as np

            out._data = bytearray(np.ascontiguousarray(self._strided(start, sizes, strides)).tobytes())
            return out
        n, step = (sizes[-1], strides[-1]) if sizes else (1, 1)
        rows = []
        for at in product(*map(range, sizes[:-1])):
            first = start + sum(i * s for i, s in zip(at, strides, strict=False))
            rows.append(
                self._data[first : first + (n - 1) * step + 1 : step]
                if step
                else self._data[first : first + 1] * n
            )
        out._data = bytearray().join(rows)
        return out

    def join(self, other: Cells) -> None:
        """Every cell becomes the union of the bits of both."""
        if other._data is None and not other._value:
            return
        both = int.from_bytes(self._bytes(), "little") | int.from_bytes(other._bytes(), "little")
        self._data = bytearray(both.to_bytes(self.size, "little"))

    def _ends_among(self, b: Box, table: bytes) -> tuple[int, ...]:
        import numpy as np

        at = np.argwhere(np.frombuffer(table, dtype=bool)[self._view(b)])
        index = b.start + at @ np.array([s for _, s in b.dims], dtype=np.int64)
        return (int(index.min()), int(index.max())) if index.size else ()

    def _array(self) -> np.ndarray:
        import numpy as np

        return np.frombuffer(self._bytes(), dtype=np.uint8)

    def _view(self, b: Box) -> np.ndarray:
        return self._strided(b.start, [n for n, _ in b.dims], [s for _, s in b.dims])

    def _strided(self, start: int, sizes: Sequence[int], strides: Sequence[int]) -> np.ndarray:
        from numpy.lib.stride_tricks import as_strided

        return as_strided(self._array()[start:], tuple(sizes), tuple(strides))


def _slices(b: Box) -> Iterator[tuple[slice, int]] | None:
    """Slices that make up a box, each with its length; None when they are too many."""
    longest = max(range(len(b.dims)), key=lambda i: b.dims[i][0])
    n, step = b.dims[longest]
    outer = b.dims[:longest] + b.dims[longest + 1 :]
    if prod(m for m, _ in outer) > _SLICES:
        return None
    reach = (n - 1) * step + 1
    starts = (b.start + sum(at) for at in product(*(range(0, m * s, s) for m, s in outer)))
    return ((slice(s, s + reach, step), n) for s in starts)
