"""Keeping a kernel's iteration variables apart from the wrapper's size symbols of the same name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..model.kernel import Access, Kernel, Var, each_alternative
from ..model.record import replace
from ..symbolic import sym


def apart(kernel: Kernel, taken: Collection[str]) -> Kernel:
    """The kernel with its variables renamed where a size symbol has their name: a launch puts sizes into it."""
    if not any(v.name in taken for a in kernel.accesses for v in _variables(a)):
        return kernel
    return replace(kernel, accesses=tuple(_renamed(a, taken) for a in kernel.accesses))


def _variables(a: Access) -> Iterator[Var]:
    yield from a.vars
    for n in a.taken:
        yield from n.vars
    for other in a.alternatives:
        if other.access is not None:
            yield from _variables(other.access)


def _renamed(a: Access, taken: Collection[str]) -> Access:
    new = {v.name: f"{v.name}'" for v in _variables(a) if v.name in taken}
    if not new:
        return a
    env = {old: sym(name) for old, name in new.items()}
    return replace(
        a,
        index=None if a.index is None else a.index.substitute(env),
        vars=_vars(a.vars, new),
        guard=a.guard.substitute(env),
        names=tuple((n, e.substitute(env)) for n, e in a.names),
        value_vars=None if a.value_vars is None else frozenset(new.get(n, n) for n in a.value_vars),
        used=a.used.substitute(env),
        taken=tuple(
            replace(n, value=n.value.substitute(env), path=n.path.substitute(env), vars=_vars(n.vars, new))
            for n in a.taken
        ),
        alternatives=each_alternative(a, lambda other: _renamed(other, taken)),
    )


def _vars(vars_: tuple[Var, ...], new: Mapping[str, str]) -> tuple[Var, ...]:
    env = {old: sym(name) for old, name in new.items()}
    return tuple(
        replace(
            v, name=new.get(v.name, v.name), extent=None if v.extent is None else v.extent.substitute(env)
        )
        for v in vars_
    )
