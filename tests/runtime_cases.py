"""Layouts and calls of profiles in short."""

from __future__ import annotations

from pathlib import Path

from aoti_lint.analyzer import runtimes
from aoti_lint.analyzer.runtimes import Layout, resolve
from aoti_lint.analyzer.symbolic import const
from aoti_lint.analyzer.symbolic.assumptions import Ranges

NO = Ranges()
HERE = Path(runtimes.__file__).parent


def exprs(values):
    return tuple(v if not isinstance(v, int) else const(v) for v in values)


def layout(sizes, strides=None, offset=0, capacity=None, dtype="float32", device="mps", **more):
    if strides is None:
        strides, run = [], 1
        for s in reversed(sizes):
            strides.insert(0, run)
            run *= s
    return Layout(
        exprs(sizes), exprs(strides), const(offset), None if capacity is None else const(capacity), dtype,
        device, **more,
    )  # fmt: skip


def view(name, base, sizes, strides, offset=0, how="reinterpret", ranges=NO, dtype=None):
    offset = const(offset) if isinstance(offset, int) else offset
    return resolve(name).view(base, exprs(sizes), exprs(strides), offset, how, ranges, dtype)


def alloc(name, sizes, strides, dtype="float32", device="mps", ranges=NO):
    return resolve(name).alloc(exprs(sizes), exprs(strides), dtype, device, ranges)


def values(items):
    return tuple(x.value for x in items)


PARENT = layout((1, 128, 80, 80), (819200, 1, 10240, 128), capacity=819200)
