"""Keeping a kernel's iteration variables apart from the wrapper's size symbols of the same name."""

from __future__ import annotations

from collections.abc import Collection

from ..model.kernel import Access, Kernel
from ..model.record import replace
from ..symbolic import sym


def apart(kernel: Kernel, taken: Collection[str]) -> Kernel:
    """The kernel with its variables renamed where a size symbol has their name: a launch puts sizes into it."""
    if not any(v.name in taken for a in kernel.accesses for v in a.vars):
        return kernel
    return replace(kernel, accesses=tuple(_renamed(a, taken) for a in kernel.accesses))


def _renamed(a: Access, taken: Collection[str]) -> Access:
    new = {v.name: f"{v.name}'" for v in a.vars if v.name in taken}
    if not new:
        return a
    env = {old: sym(name) for old, name in new.items()}
    return replace(
        a,
        index=None if a.index is None else a.index.substitute(env),
        vars=tuple(
            replace(
                v, name=new.get(v.name, v.name), extent=None if v.extent is None else v.extent.substitute(env)
            )
            for v in a.vars
        ),
        guard=a.guard.substitute(env),
        names=tuple((n, e.substitute(env)) for n, e in a.names),
        value_vars=None if a.value_vars is None else frozenset(new.get(n, n) for n in a.value_vars),
        used=a.used.substitute(env),
    )
