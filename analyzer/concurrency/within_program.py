"""What one lane of a Triton program stores and another lane of it loads, with no barrier in between.

A program's statements act on whole blocks, but global memory is not: each of its warps goes on by itself, and
a load may come before another warp's store that stands above it.
"""

from __future__ import annotations

from ..memory.trace import Verdict
from ..model.kernel import Var
from ..symbolic import const, sym
from ..symbolic.assumptions import Ranges
from ..symbolic.sampling import sizes_to_try
from .conflicts import DIFFERENT_WARPS, Meeting, absolute, disjoint
from .pairs import points

#: Lanes of a warp: they go on together.
_WARP = 32


def exchange(store: Verdict, load: Verdict, ranges: Ranges) -> list[Meeting]:
    """A store and a later load of one program that reach one element from lanes of different warps.

    Only for two blocks of one shape, each with one position of its own beside the program's: a loop over blocks, or the lanes.
    """
    kernel = store.launch.kernel
    if kernel is None or kernel.dialect != "triton" or store.access.barriers != load.access.barriers:
        return []
    pair = _positions(store), _positions(load)
    if None in pair or disjoint(store, load, ranges):
        return []
    (mine, grid), (theirs, other) = pair  # type: ignore[misc]
    block = _block(store, mine)
    if block is None or mine.extent != theirs.extent or grid != other:
        return []
    if store.index is None or load.index is None or block <= _WARP:
        return []
    if store.index.substitute({mine.name: sym(theirs.name)}) + store.start == load.index + load.start:
        return []
    return _search(store, load, (mine, theirs), [v.name for v in grid], block, ranges)


def _positions(v: Verdict) -> tuple[Var, list[Var]] | None:
    own = [x for x in v.vars if x.kind in ("loop", "lane")]
    grid = [x for x in v.vars if x.kind == "grid"]
    return (own[0], grid) if len(own) == 1 and len(own) + len(grid) == len(v.vars) else None


def _block(v: Verdict, position: Var) -> int | None:
    """Lanes of a block along its own position; None when the launch does not say."""
    if position.kind == "lane":
        return None if position.extent is None else position.extent.value
    sizes = [e.value for n, e in v.launch.scalars.items() if n.startswith("R") and n.endswith("BLOCK")]
    return sizes[0] if len(sizes) == 1 else None


def _search(
    store: Verdict, load: Verdict, positions: tuple[Var, Var], grid: list[str], block: int, ranges: Ranges
) -> list[Meeting]:
    mine, theirs = positions
    for env in sizes_to_try(ranges):
        fixed = {n: const(0) for n in grid}  # every program does the same
        p, q = (
            points(
                index.substitute(fixed),
                [v for v in variables if v.name not in fixed],
                guard.substitute(fixed),
                env,
                [own.name],
            )
            for (index, variables, guard), own in ((absolute(store), mine), (absolute(load), theirs))
        )
        if p is None or q is None:
            return []
        writer = {int(e): int(x) for e, x in zip(p.element, p.at[mine.name], strict=True)}
        for element, place in zip(q.element.tolist(), q.at[theirs.name].tolist(), strict=True):
            lane = writer.get(element)
            if lane is not None and lane % block // _WARP != place % block // _WARP:
                zero = dict.fromkeys(grid, 0)
                first, second = {**zero, theirs.name: place}, {**zero, mine.name: lane}
                return [Meeting(first, second, element, env, True, DIFFERENT_WARPS)]
    return []
