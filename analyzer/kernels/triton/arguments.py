"""What a launcher hands to its kernel: ``kernel_args_[]`` as it is written, against the kernel's signature."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...model.dtypes import ITEMSIZE
from ...model.kernel import Access, Kernel, Param, each_alternative
from ...model.record import field, record, replace
from ...symbolic import Expr, sym
from .host import host_expression
from .source import LauncherText
from .values import Unsupported

_POINTER = re.compile(r"reinterpret_cast<CUdeviceptr>\s*\(\s*(\w+)\.data_ptr\(\)\s*\)\s*(?:\+\s*(.+))?", re.S)
_SCRATCH = re.compile(r"\w*scratch\w*")
_WIDTH = {
    "int8_t": 1, "uint8_t": 1, "bool": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int": 4,
    "unsigned": 4, "float": 4, "int64_t": 8, "uint64_t": 8, "double": 8,
}  # fmt: skip


@record(frozen=True)
class Arguments:
    """How the kernel's parameters follow from the launcher's.

    ``tensors``: (kernel parameter, launcher parameter) of pointers.  ``scalars``: values over the launcher's integers,
    None where it is not known.  ``shifts``: bytes added to a pointer, None where that is not a number.
    """

    tensors: tuple[tuple[str, str], ...] = ()
    scalars: tuple[tuple[str, Expr | None], ...] = ()
    shifts: tuple[tuple[str, int | None], ...] = field(default=())


def read_arguments(text: LauncherText, params: tuple[Param, ...]) -> Arguments | None:
    """Arguments that are not just the launcher's parameters in order; None where all are.

    Raises Unsupported where the array does not fit the signature.
    """
    if text.arguments is None:
        return None
    host = dict(text.host)
    given = [a for a in text.arguments if not _SCRATCH.fullmatch(a)]
    if len(given) != len(params):
        raise Unsupported(f"{len(given)} arguments for {len(params)} parameters of the kernel")
    env: dict[str, Expr] = {p: sym(p) for p in text.params}
    for name, value in text.host:
        try:
            env[name] = host_expression(value, env)
        except Unsupported:
            env.pop(name, None)
    types = dict(text.types)
    tensors: list[tuple[str, str]] = []
    shifts: list[tuple[str, int | None]] = []
    scalars: list[tuple[str, Expr | None]] = []
    for p, name in zip(params, given, strict=True):
        if p.pointer:
            tensor, shift = _pointer(name, host, env)
            tensors.append((p.name, tensor))
            shifts.append((p.name, shift))
        elif name in env and _fits(p, types.get(name)):
            scalars.append((p.name, env[name]))
        elif p.dtype is None or p.dtype.startswith(("int", "uint")):
            scalars.append((p.name, None))
    return _unless_plain(tensors, scalars, shifts, text.params)


def _unless_plain(
    tensors: list[tuple[str, str]],
    scalars: list[tuple[str, Expr | None]],
    shifts: list[tuple[str, int | None]],
    launcher: tuple[str, ...],
) -> Arguments | None:
    plain = all(a == b for a, b in tensors) and all(e == sym(n) for n, e in scalars)
    if plain and all(s == 0 for _, s in shifts):
        return None
    if any(b not in launcher for _, b in tensors):
        raise Unsupported("an argument of the kernel is no argument of its launcher")
    return Arguments(tuple(tensors), tuple(scalars), tuple(shifts))


def _pointer(name: str, host: Mapping[str, str], env: Mapping[str, Expr]) -> tuple[str, int | None]:
    """(launcher parameter, bytes after its start) of a pointer argument."""
    m = _POINTER.fullmatch(host.get(name, ""))
    if m is None:
        raise Unsupported(f"argument {name}: {host.get(name, '')[:60]}")
    if m.group(2) is None:
        return m.group(1), 0
    try:
        return m.group(1), host_expression(m.group(2), env).value
    except Unsupported:
        return m.group(1), None


def _fits(p: Param, declared: str | None) -> bool:
    """Whether the variable has the bytes the kernel reads through its address."""
    return declared is None or p.dtype is None or _WIDTH.get(declared) == ITEMSIZE.get(p.dtype)


def shifted(kernel: Kernel, arguments: Arguments) -> Kernel:
    """The kernel with its accesses counted from the tensors' own starts."""
    shifts = dict(arguments.shifts)
    sizes = {p.name: ITEMSIZE.get(p.dtype or "") for p in kernel.params}
    return replace(
        kernel, accesses=tuple(_shifted(a, shifts.get(a.param, 0), sizes) for a in kernel.accesses)
    )


def _shifted(a: Access, by: int | None, sizes: Mapping[str, int | None]) -> Access:
    if a.alternatives:
        a = replace(a, alternatives=each_alternative(a, lambda other: _shifted(other, by, sizes)))
    if by == 0 or a.index is None:
        return a
    size = sizes.get(a.param)
    if by is None or not size or by % size:
        return replace(a, index=None, reason="the launcher moves the pointer by a part that is not followed")
    return replace(a, index=a.index + by // size)
