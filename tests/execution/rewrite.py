"""Kernel text made ready to run: pointer parameters become checked pointers, their elements get() and put()."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: C++ spellings of element types, as kernels write them, to the spelling used when running.
_TYPES = {"bool": "bool", "half": "at::Half", "bfloat16": "at::BFloat16"}
_CPP_KERNEL = re.compile(
    r'extern "C"\s+(?:[\w()]+\s+){0,6}?void\s+(?:[\w()]+\s+){0,6}?(\w+)\s*\(([^()]*)\)\s*(?=\{)'
)
_METAL_KERNEL = re.compile(r"kernel void generated_kernel\(([^{]*)\)\s*(?=\{)")
_METAL_SOURCE = re.compile(r'\b(mps_lib_\d+)(?:_source)?\s*(?:=\s*)?\(R"MTL\((.*?)\)MTL"\)', re.DOTALL)
_ATOMIC_CAST = re.compile(r"reinterpret_cast<device (?:c10::metal::)?AtomicType<\w+>::type\s*\*>\((\w+)\)")
_RESTRICT = re.compile(r"(const )?([\w:]+)\s*\*\s*__restrict__\s*(\w+)")
#: In a single file the runtime's interface and the model stand before the kernels; these lines end them.
_NO_KERNELS = re.compile(r'^\} // (?:extern "C"|namespace torch::aot_inductor)$', re.MULTILINE)
#: Ends in the operator that takes an address: ``atomic_add(&`` or ``gemm(&(``.
_ADDRESS = re.compile(r"[(,=]\s*(&(\(?))\Z")
_ALIAS = re.compile(r"\bauto (\w+) = (\w+);")


@dataclass(frozen=True, slots=True)
class Parameter:
    """``type`` is the element type of a pointer, or the type of a scalar."""

    name: str
    type: str
    pointer: bool
    readonly: bool = False

    @property
    def declared(self) -> str:
        return (
            f"run::Ptr<{'const ' * self.readonly}{self.type}> {self.name}"
            if self.pointer
            else f"{self.type} {self.name}"
        )


@dataclass(frozen=True, slots=True)
class Runnable:
    """A kernel as C++ text. ``call`` is the C++ name to call; Metal kernels also take their thread position."""

    name: str
    params: tuple[Parameter, ...]
    code: str
    call: str
    positions: tuple[tuple[str, str], ...] = ()


def cpp_runnables(text: str) -> list[Runnable]:
    """Every ``extern "C"`` kernel of a file, each with the helper functions before it."""
    text = re.sub(r"^[ \t]*#[ \t]*(include|pragma).*$", "", text, flags=re.MULTILINE)
    text = text.partition("\n// Compile cmd")[0]
    found = []
    done = 0
    for m in _CPP_KERNEL.finditer(text):
        end = _closing(text, m.end()) + 1
        params = tuple(_cpp_parameter(p) for p in _split(m[2]))
        signature = f"void {m[1]}({', '.join(p.declared for p in params)})\n"
        helpers = _helpers(text[done : m.start()])
        code = helpers + signature + elements(text[m.end() : end], [p.name for p in params if p.pointer])
        found.append(Runnable(m[1], params, code, m[1]))
        done = end
    return found


def _helpers(text: str) -> str:
    """Functions between two kernels (parts of templates), their pointer parameters checked too."""
    text = _NO_KERNELS.split(text)[-1]
    if not re.sub(r"//.*", "", text).strip():
        return ""
    names = _RESTRICT.sub(lambda m: f"run::Ptr<{m[1] or ''}{m[2]}> {m[3]}", text)
    return elements(names, sorted({m[3] for m in _RESTRICT.finditer(text)}))


def metal_runnables(text: str) -> list[Runnable]:
    """The kernel of every Metal library in a wrapper, named after the library."""
    found = []
    for m in _METAL_SOURCE.finditer(text):
        starts = list(_METAL_KERNEL.finditer(m[2]))
        if not starts:
            continue
        k = starts[-1]
        params, positions = [], []
        for p in _split(k[1]):
            if place := re.fullmatch(r"(\w+) (\w+) \[\[(\w+)\]\]", p):
                positions.append((place[1], place[3]))
                params.append(Parameter(place[2], place[1], False))
            else:
                params.append(_metal_parameter(p))
        body = _ATOMIC_CAST.sub(r"\1", m[2][k.end() : _closing(m[2], k.end()) + 1])
        code = elements(body, [p.name for p in params if p.pointer])
        signature = f"void {m[1]}({', '.join(p.declared for p in params)})\n"
        bound = tuple(params[: len(params) - len(positions)])
        found.append(Runnable(m[1], bound, signature + code, m[1], tuple(positions)))
    return found


def _cpp_parameter(text: str) -> Parameter:
    m = re.fullmatch(r"(const )?([\w:<>]+)\s*(\*?)\s*(?:__restrict__\s*)?(\w+)", text)
    if m is None:
        raise ValueError(f"parameter {text!r}")
    return Parameter(m[4], _TYPES.get(m[2], m[2]), bool(m[3]), bool(m[1]) and bool(m[3]))


def _metal_parameter(text: str) -> Parameter:
    m = re.fullmatch(r"(device|constant) ([\w:]+)([*&]) (\w+)", text)
    if m is None:
        raise ValueError(f"parameter {text!r}")
    return Parameter(m[4], m[2], m[3] == "*", m[1] == "constant" and m[3] == "*")


def _split(text: str) -> list[str]:
    return [" ".join(p.split()) for p in text.split(",") if p.strip()]


def _closing(text: str, at: int) -> int:
    """Where the bracket that opens at ``at`` closes."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    opening, closing = text[at], pairs[text[at]]
    depth = 0
    for m in re.finditer(re.escape(opening) + "|" + re.escape(closing), text[at:]):
        depth += 1 if m[0] == opening else -1
        if depth == 0:
            return at + m.start()
    raise ValueError("unbalanced brackets")


def elements(body: str, pointers: Sequence[str]) -> str:
    """``p[i]`` to ``get(p, i)``, ``p[i] = v`` to ``put(p, i, v)``, ``&p[i]`` to ``p + i`` for the named pointers."""
    names = set(pointers)
    for alias, target in _ALIAS.findall(body):
        if target in names:
            names.add(alias)
    if not names:
        return body
    pattern = re.compile(r"(?<![\w.])(" + "|".join(sorted(names, key=len, reverse=True)) + r")\[")
    out: list[str] = []
    done = 0
    while m := pattern.search(body, done):
        close = _closing(body, m.end() - 1)
        index = elements(body[m.end() : close], pointers)
        before, after = body[done : m.start()], close + 1
        if address := _ADDRESS.search(before):
            out.append(f"{before[: address.start(1)]}({m[1]} + ({index}){'' if address[2] else ')'}")
            done = after
            continue
        out.append(before)
        store = re.compile(r"\s*([-+*/|&]?)=(?!=)\s*").match(body, after)
        if store:
            end = body.index(";", store.end())
            value = elements(body[store.end() : end], pointers)
            if store[1]:
                value = f"run::get({m[1]}, {index}) {store[1]} ({value})"
            out.append(f"run::put({m[1]}, {index}, {value})")
            done = end
        else:
            out.append(f"run::get({m[1]}, {index})")
            done = after
    out.append(body[done:])
    return "".join(out)
