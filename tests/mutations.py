"""Faults injected into the text of a wrapper or of its kernels, one a mutant.

Each kind is a function from a text to the possible edits: (start, end, replacement).  Which one is applied is up to a
random generator, so that a seed names a mutant.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.sources import WrapperSource
from explore import EXPLORE

WRAPPERS = Path(__file__).parent.parent / "fixtures" / "wrappers"
Edit: TypeAlias = "tuple[int, int, str]"
Edits: TypeAlias = "Callable[[str], Iterator[Edit]]"

_ARRAY = re.compile(r"\b(int_array_\d+)\[\] = \{([^}]*)\};")
_RESHAPED = re.compile(r"reinterpret_tensor_wrapper\((\w+), \d+, (\w+), (\w+), ([^()]*?)\)")
_CREATED = re.compile(r"empty_strided\(\d+, (\w+), (\w+), cached_torch_dtype_(\w+)")
_RESET = re.compile(r"^ +(\w+)\.reset\(\);\n", re.M)
_MOVED = re.compile(r"^ +auto (\w+) = std::move\((buf\w+|arg\d\w*)\);.*\n", re.M)
_METAL_ARG = re.compile(r"aoti_torch_mps_set_arg_tensor\(handle, \d+, ([^;]+)\);")
_CALLED = re.compile(r"^ +(?:call_\w+|cpp_fused\w*)\(.*\);\n", re.M)
_COMMAND = re.compile(r"^ +aoti_torch_mps_run_command_block\(.*\);\n", re.M)
_NUMBER = re.compile(r"\d+(?=L\b)")


def _body(text: str) -> int:
    """Where the model's own statements start."""
    return max(text.find("::run_impl("), 0)


def _numbers(text: str, names: set[str], step: int) -> Iterator[Edit]:
    """A number in the arrays of these names, changed by ``step``."""
    for m in _ARRAY.finditer(text, _body(text)):
        if m[1] in names:
            for n in _NUMBER.finditer(text, m.start(2), m.end(2)):
                if int(n[0]) + step > 0:
                    yield n.start(), n.end(), str(int(n[0]) + step)


def view_size(text: str) -> Iterator[Edit]:
    yield from _numbers(text, {m[2] for m in _RESHAPED.finditer(text)}, 1)


def view_stride(text: str) -> Iterator[Edit]:
    yield from _numbers(text, {m[3] for m in _RESHAPED.finditer(text)}, 1)


def view_offset(text: str) -> Iterator[Edit]:
    for m in _RESHAPED.finditer(text):
        yield m.start(4), m.end(4), f"{m[4]} + 3L"


def view_base(text: str) -> Iterator[Edit]:
    """A view of another tensor."""
    found = list(_RESHAPED.finditer(text))
    for m in found:
        for other in {o[1] for o in found if o.start() < m.start()} - {m[1]}:
            yield m.start(1), m.end(1), other


def allocation_size(text: str) -> Iterator[Edit]:
    yield from _numbers(text, {m[1] for m in _CREATED.finditer(text)}, -1)


def allocation_dtype(text: str) -> Iterator[Edit]:
    for m in _CREATED.finditer(text):
        if m[3] in ("float32", "int64", "int32"):
            yield m.start(3), m.end(3), "float16" if m[3] == "float32" else "int8"


def pool_offset(text: str) -> Iterator[Edit]:
    for m in re.finditer(r"_alloc_from_pool\(\w+, (\d+),", text):
        yield m.start(1), m.end(1), str(int(m[1]) + 64)


def _spans_of_arguments(line: str) -> list[tuple[int, int]]:
    """Names of tensors among the arguments of a call of a C++ or a Triton kernel."""
    pointers = [m.span(1) for m in re.finditer(r"\((\w+)\.data_ptr\(\)\)", line)]
    return pointers or [m.span(1) for m in re.finditer(r"[(,] ?((?:arg|buf)\w+)(?=,)", line)]


def arguments(text: str) -> Iterator[Edit]:
    """Two neighbouring tensor arguments of a launch swapped."""
    for call in _CALLED.finditer(text, _body(text)):
        spans = _spans_of_arguments(call[0])
        for (a, b), (c, d) in pairwise(spans):
            first, second = call[0][a:b], call[0][c:d]
            if first != second:
                at = call.start()
                yield at + a, at + d, second + call[0][b:c] + first
    args = list(_METAL_ARG.finditer(text, _body(text)))
    for x, y in pairwise(args):
        if x[1] != y[1] and not text[x.end() : y.start()].strip():
            yield x.start(1), y.end(1), y[1] + text[x.end(1) : y.start(1)] + x[1]


def launch_deleted(text: str) -> Iterator[Edit]:
    for pattern in (_CALLED, _COMMAND):
        for m in pattern.finditer(text, _body(text)):
            yield m.start(), m.end(), "\n"


def _earlier(text: str, statement: re.Match[str], name: str) -> Iterator[Edit]:
    """The statement moved above the line before it that mentions ``name``, unless that one made it."""
    start = text.rfind(name, _body(text), statement.start())
    if start < 0:
        return
    line = text.rfind("\n", 0, start) + 1
    if re.search(rf"\b{name}\b", text[line : statement.start()]) and not re.search(
        rf"(auto|Handle) {name}\b|{name}_handle|assert_size", text[line : text.find("\n", line)]
    ):
        yield line, statement.end(), statement[0] + text[line : statement.start()]


def reset_early(text: str) -> Iterator[Edit]:
    for m in _RESET.finditer(text, _body(text)):
        yield from _earlier(text, m, m[1])


def move_early(text: str) -> Iterator[Edit]:
    for m in _MOVED.finditer(text, _body(text)):
        yield from _earlier(text, m, m[2])


def move_twice(text: str) -> Iterator[Edit]:
    for m in _MOVED.finditer(text, _body(text)):
        if "inputs" not in m[0] and m[2].startswith("buf"):
            again = (
                m[0]
                .replace(f"auto {m[1]} ", f"auto {m[1]}_again ")
                .replace(f"auto {m[1]}=", f"auto {m[1]}_again=")
            )
            yield m.end(), m.end(), again


def threads(text: str) -> Iterator[Edit]:
    """One more (or fewer) thread in a dispatch, or size argument of a Triton launch."""
    for m in re.finditer(r"threads_array\[\] = \{(.*)\};", text):
        for n in _NUMBER.finditer(text, m.start(1), m.end(1)):
            for step in (1, -1):
                yield n.start(), n.end(), str(int(n[0]) + step)
    for call in re.finditer(r"^ +call_\w+\(.*\);", text, re.M):
        for n in re.finditer(r"(?<=, )\d+(?=L,)", call[0]):
            at = call.start()
            yield at + n.start(), at + n.end(), str(max(int(n[0]) - 1, 1))


def index_constant(text: str) -> Iterator[Edit]:
    """The index of an element in a kernel, off by seven."""
    for m in re.finditer(r"\b(?:in|out)\w*_ptr\d+\[(?=[^\]\n]*x)", text):
        yield m.end(), m.end(), "7 + "
    for m in re.finditer(r"\b(?:in|out)\w*_ptr\d+ \+ (?:static_cast<int64_t>)?\((?=[^\n]*x)", text):
        yield m.end(), m.end(), "7 + "


def index_scale(text: str) -> Iterator[Edit]:
    """A coefficient in the index of an element, one more."""
    for m in re.finditer(
        r"\b(?:in|out)\w*_ptr\d+(?:\[| \+ (?:static_cast<int64_t>)?\()[^;\n]*?\b(\d+)L?\*\(?[xy]\d", text
    ):
        yield m.start(1), m.end(1), str(int(m[1]) + 1)


def mask_dropped(text: str) -> Iterator[Edit]:
    for m in re.finditer(r"if \((tmp\w+)\) \{", text):
        yield m.start(1), m.end(1), "true"
    for m in re.finditer(r"tl\.(?:load|store)\(.*?\), (?:tmp\d+, )?(xmask(?: & ymask)?)", text):
        yield m.start(1), m.end(1), "None"


def loop_bound(text: str) -> Iterator[Edit]:
    """One more iteration of a loop, or one element more in the numel a Triton kernel masks with."""
    for m in re.finditer(r"for\(int64_t \w+=[^;]*; \w+<static_cast<int64_t>\((\d+)L\)", text):
        yield m.start(1), m.end(1), str(int(m[1]) + 1)
    for m in re.finditer(r"^ +[xyr]\w*numel = (\d+)$", text, re.M):
        yield m.start(1), m.end(1), str(int(m[1]) + 5)


WRAPPER_KINDS: tuple[Edits, ...] = (
    view_size, view_stride, view_offset, view_base, allocation_size, allocation_dtype, pool_offset, arguments,
    launch_deleted, reset_early, move_early, move_twice, threads,
)  # fmt: skip
#: These change kernels, which then have to be compiled again.
KERNEL_KINDS: tuple[Edits, ...] = (index_constant, index_scale, mask_dropped, loop_bound)


@dataclass(frozen=True, slots=True)
class Mutant:
    kind: str
    source: WrapperSource
    note: str


def mutant(source: WrapperSource, kind: Edits, seed: int) -> Mutant | None:
    """One edit of a kind; None where there is none to make."""
    in_kernels = kind in KERNEL_KINDS and bool(source.kernels)
    old = source.kernels[0] if in_kernels else source.wrapper
    edits = sorted(set(kind(old.text)))
    if not edits:
        return None
    place = "/".join(Path(old.path).parts[-2:])  # the same mutants in every checkout
    start, end, new = random.Random(f"{place} {kind.__name__} {seed}").choice(edits)
    text = replace(old, text=old.text[:start] + new + old.text[end:])
    changed = (
        replace(source, kernels=(text, *source.kernels[1:])) if in_kernels else replace(source, wrapper=text)
    )
    line = old.text.count("\n", 0, start) + 1
    return Mutant(kind.__name__, changed, f"line {line}: {old.text[start:end][:50]!r} -> {new[:50]!r}")


def halves(dialect: str) -> tuple[list[tuple[Path, Edits]], list[tuple[Path, Edits]]]:
    """Wrappers of a dialect that are not too large with a kind of edit each; both halves whole when exploring."""
    paths = [p for p in sorted((WRAPPERS / dialect).glob("*.wrapper.cpp")) if p.stat().st_size < 80_000]
    kinds = WRAPPER_KINDS + KERNEL_KINDS
    every = [(i + j, (path, kind)) for i, path in enumerate(paths) for j, kind in enumerate(kinds)]
    if EXPLORE:
        return [pair for _, pair in every], [pair for _, pair in every]
    return [pair for n, pair in every if n % 2 == 0], [pair for n, pair in every if n % 2]
