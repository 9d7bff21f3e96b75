"""The grid of a Triton launch, from what a kernel's metadata says about it, in terms of the launch's arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model.record import record

#: Programs along the second axis that a launch may have; the rest goes along the third.
MAX_Y = 65_535


@record(frozen=True)
class GridText:
    """``host``: (variable, expression) in order; ``grid``: the three sizes. ``extra``: arguments after the kernel's."""

    host: tuple[tuple[str, str], ...]
    grid: tuple[str, str, str] | None
    extra: tuple[str, ...] = ()


_THREE = ("grid_0", "grid_1", "grid_2")


def grid_text(meta: Mapping[object, object], params: Sequence[str], blocks: Sequence[str]) -> GridText:
    """The grid for an ``inductor_meta``; ``blocks`` are the block sizes the kernel has. None where it isn't stated."""
    kind = str(meta.get("grid_type", ""))
    extra = tuple(str(x) for x in _tuple(meta.get("extra_launcher_args")))
    sizes: tuple[tuple[str, str], ...] | None = None
    if kind == "FixedGrid":
        fixed = [str(x) for x in _tuple(meta.get("fixed_grid"))]
        sizes = _named(*fixed) if len(fixed) == 3 else None
    elif kind == "PrecomputedGrid":
        sizes = _precomputed(meta)
    elif kind in _KINDS:
        sizes = _KINDS[kind](params, blocks)
    elif kind.endswith("ComboKernelGrid"):
        sizes = _combo(meta, kind)
    if sizes is None:
        return GridText((), None, extra)
    return GridText(sizes, _THREE, extra)


def _tuple(x: object) -> tuple[object, ...]:
    return x if isinstance(x, tuple) else ()


def _named(x: str, y: str = "1", z: str = "1") -> tuple[tuple[str, str], ...]:
    return (("grid_0", x), ("grid_1", y), ("grid_2", z))


def _blocks(numel: str, block: str) -> str:
    """Blocks that hold ``numel``; the block size is chosen by tuning, and named as such."""
    size = f"launch_result.{block}blocks[0]"
    return f"(({numel} + ({size} - 1)) / ({size}))"


def _along(axis: str, params: Sequence[str], blocks: Sequence[str]) -> str:
    """Blocks along an axis; all of it where the kernel has no block size for it."""
    numel = f"{axis}numel"
    return _blocks(numel, axis) if f"{axis.upper()}BLOCK" in blocks else numel


def _grid1d(params: Sequence[str], blocks: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return _named(_along("x", params, blocks))


def _grid2d(params: Sequence[str], blocks: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return _named(_along("x", params, blocks), _along("y", params, blocks))


def _grid3d(params: Sequence[str], blocks: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return _named(*(_along(a, params, blocks) for a in "xyz"))


def _overflow(params: Sequence[str], blocks: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return (
        ("grid_0", _along("x", params, blocks)),
        ("y_grid_raw_", _along("y", params, blocks)),
        ("y_grid_div_", f"((y_grid_raw_ + ({MAX_Y} - 1)) / ({MAX_Y}))"),
        ("grid_1", "((y_grid_raw_ + (y_grid_div_ - 1)) / (y_grid_div_))"),
        ("grid_2", "y_grid_div_"),
    )


def _split_scan(params: Sequence[str], blocks: Sequence[str]) -> tuple[tuple[str, str], ...]:
    rest = next((p for p in ("r0_numel", "rnumel") if p in params), "r0_numel")
    return _named(_blocks(rest, "r0"), "xnumel")


_KINDS = {
    "Grid1D": _grid1d, "Grid2D": _grid2d, "Grid3D": _grid3d, "Grid2DWithYZOverflow": _overflow,
    "SplitScanGrid": _split_scan,
}  # fmt: skip


def _precomputed(meta: Mapping[object, object]) -> tuple[tuple[str, str], ...] | None:
    """The grid that every configuration has; None where they differ, as which one runs is not in the text."""
    grids = {
        tuple(str(x) for x in _tuple(e.get("python")) or _tuple(e.get("cpp")))
        for e in _tuple(meta.get("precomputed_grids"))
        if isinstance(e, dict)
    }
    if len(grids) != 1:
        return None
    (grid,) = grids
    return _named(*(g.replace("//", "/") for g in grid)) if len(grid) == 3 else None


def _combo(meta: Mapping[object, object], kind: str) -> tuple[tuple[str, str], ...] | None:
    """Several kernels in one launch: their blocks one after the other, or in turns."""
    combo = meta.get("combo_grid_meta")
    count = combo.get("num_kernels") if isinstance(combo, dict) else None
    if not isinstance(combo, dict) or not isinstance(count, int) or not 0 < count < 1000:
        return None
    xs: list[str] = []
    ys: list[str] = []
    for i in range(count):
        x = str(combo.get(f"xnumel_{i}") or f"xnumel_{i}")
        xs.append(x if combo.get(f"no_x_dim_{i}") else _blocks(x, "x"))
        if f"ynumel_{i}" in combo:
            ys.append(str(combo.get(f"ynumel_{i}") or f"ynumel_{i}"))
    if kind.startswith("Sequential"):
        x = " + ".join(xs)
    elif kind.startswith("RoundRobin"):
        x = f"max({', '.join(xs)}) * {count}" if count > 1 else xs[0]
    else:
        return None
    y = "1"
    if ys:
        y = _blocks(ys[0] if len(ys) == 1 else f"max({', '.join(ys)})", "y")
    return _named(x, y)
