"""C++/OpenMP kernels: text of a kernel file to :class:`~...model.program.Kernel` objects.

Kernels are read by an abstract interpretation of their syntax trees (:mod:`.templates` and below): loops
become variables, index arithmetic becomes expressions, and every access to a parameter is noted with the
conditions under which it happens.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any

from ...cxx.clang_unit import Unit, prelude_words
from ...cxx.nodes import Text
from ...model.dtypes import from_cxx
from ...model.kernel import Kernel, Param
from ...model.location import Loc
from ...symbolic import sym
from ..interpret.integers import int_type
from .accounting import account
from .templates import Helper, Interpreter
from .values import UNKNOWN, Int, Ptr, Value

#: Kernels are compiled for a release: what is asserted in a debug build is not checked.
_RELEASE = ("-DNDEBUG",)
_PRELUDE = "prelude_std.hpp+prelude_cpu.hpp"
# What the tree does not need, replaced by blanks of the same length: include and pragma lines, branch hints,
# alignment, and casts to the index type of what has that type already.
_NOISE = re.compile(
    r"(?m)^[ \t]*#[ \t]*(?:include|pragma)[^\n]*|C10_(?:UN)?LIKELY"
    r"|alignas\(std::max\(std::size_t\(16\), alignof\([\w:]+\)\)\)"
)
_CAST = re.compile(r"static_cast<int64_t>(?=\()")
#: What is of the index type: literals, and sums, differences and products of indices and sizes with them.
_INDEX_TYPED = re.compile(r"(?:static_cast<int64_t>|(?<![\w.])(?:\d+L*|(?:x|ks)\d+)(?![\w.])|[-+*() ])*")
_KERNEL = re.compile(
    r'extern\s+"C"\s*(?:__declspec\(\w+\)\s*|inline\s+|static\s+)*void\s+'
    r"(?:__attribute__\s*\(\([^()]*\)\)\s*|[A-Z][A-Z_0-9]*\s+)*(\w+)\s*\("
)
_BODY = re.compile(r'[^;{"]*([;{])')
_LINE = re.compile(r"[^\n]+")
_PARALLEL_LOOP = re.compile(r"#[ \t]*pragma omp (?:parallel )?for\b([^\n]*)\n(?:\s*#[^\n]*\n)*\s*(?=for\b)")
_CALLED = re.compile(r"(?<![\w.:>&])(?!tmp\d)([a-z]\w*)\(")
_DECLARED = re.compile(r"\b(?!return\b|else\b)\w[\w:<>,*&]{0,200}[ \t]+(?!tmp\d)([a-z]\w*)\(")
_WIDTH = re.compile(r"Vectorized<float>::loadu\([^;\n]*, (?:static_cast<int64_t>\()?(\d+)\)?\)")
# What odd text can provoke; a kernel that does is reported, with what was found until then.
_SURPRISES = (
    ArithmeticError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError,
)  # fmt: skip


def parse_kernels(
    text: str, path: str, first_line: int = 1, vector_bytes: int | None = None
) -> dict[str, Kernel]:
    """Every ``extern "C"`` kernel with a body in ``text``, by name.

    ``first_line`` is the line of the file at which ``text`` starts.  ``vector_bytes`` is the size of a vector
    register; by default it is taken from the element counts in the text.  Never raises for odd text: what is
    not understood is listed in the kernel's ``unmodelled``.
    """
    if not definitions(text):
        return {}
    source = Text(path, text, first_line)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 6_000))
    try:
        return _File(source, vector_bytes or vector_bytes_of(text)).kernels()
    finally:
        sys.setrecursionlimit(limit)


class _File:
    """One parsed text."""

    def __init__(self, source: Text, vector_bytes: int | None) -> None:
        self.source = source
        self.vector_bytes = vector_bytes
        blanked = _without_casts(_NOISE.sub(_blank, _only_kernels(source.text)))
        self.names = [m.group(1) for m in _KERNEL.finditer(source.text)]
        self.known = prelude_words(_PRELUDE)
        self.unit = Unit(
            Text(source.path, blanked, source.first_line), _PRELUDE, _declarations(blanked), _RELEASE
        )
        self.functions = self.unit.functions()
        self.ends = [self.unit.extent(c)[1] for n, c in self.functions if n in self.names]
        self.parallel = {m.end(): _collapse(m.group(1)) for m in _PARALLEL_LOOP.finditer(source.text)}
        try:
            self.errors = self.unit.diagnostics()
        except RuntimeError as e:  # the text makes a declaration of ours invalid
            self.errors = [(-1, str(e))]

    def kernels(self) -> dict[str, Kernel]:
        helpers: dict[str, list[Any]] = {}
        for name, cursor in self.functions:
            if name not in self.names:
                helpers.setdefault(name, []).append(self._helper(cursor))
        out: dict[str, Kernel] = {}
        for name, cursor in self.functions:
            if name in self.names:
                kernel = self._kernel(name, cursor, helpers)
                if kernel is not None:
                    out[name] = kernel
        for m in definitions(self.source.text):
            if m.group(1) not in out:
                loc = self.source.loc(m.start(), m.end())
                reason = (m.group(1), loc)
                out[m.group(1)] = Kernel(m.group(1), "cpp", (), (), loc, (reason,))
        return out

    def _kernel(self, name: str, cursor: Any, helpers: dict[str, list[Any]]) -> Kernel | None:
        start, end = self.unit.extent(cursor)
        loc = self.source.loc(start, end)
        params = tuple(_param(n, t) for n, t in self.unit.parameters(cursor))
        run = Interpreter(self.source, params, self.vector_bytes, self.parallel, helpers, self.known)
        run.scope.names.update((p.name, _argument(p)) for p in params)
        try:
            body = self.unit.body(cursor)
            if body is None:
                return None
            for p in params:
                run.name_pointer(p.name, _argument(p))
            run.run(body)
            account(run, body, end)
        except _SURPRISES as e:
            run.unmodelled.append((f"{type(e).__name__} while reading the kernel: {e}", loc))
        problems = (*self._errors(start, end), *run.unmodelled)
        return Kernel(name, "cpp", params, tuple(run.accesses), loc, problems, arrays=run.own_arrays())

    def _errors(self, start: int, end: int) -> list[tuple[str, Loc]]:
        """What libclang did not understand in a kernel or in the helpers above it."""
        above = max((e for e in self.ends if e <= start), default=-1)
        return [(message, self.source.loc(max(at, 0))) for at, message in self.errors if above <= at < end]

    def _helper(self, cursor: Any) -> Any:
        """A function that converts a helper to a tree when it is first called."""

        @lru_cache(maxsize=1)
        def make() -> Helper | None:
            body = self.unit.body(cursor)
            if body is None:
                return None
            start = self.unit.extent(cursor)[0]
            m = re.compile(r"template\s*<([^;{}()]*)>\s*(?:inline|static|void|[\w:]+)").match(
                self.source.text, start
            )
            template = tuple(_template_parameter(w) for w in m.group(1).split(",")) if m else ()
            return Helper(tuple(self.unit.parameters(cursor)), template, body)

        return make


def definitions(text: str) -> list[re.Match[str]]:
    """Where kernels with a body begin."""
    return [m for m in _KERNEL.finditer(text) if (e := _BODY.match(text, m.end())) and e.group(1) == "{"]


def _only_kernels(text: str) -> str:
    """Text around the kernels blanked: a wrapper in the same file is read by another reader."""
    found = definitions(text)
    start = max(text.rfind("#include", 0, found[0].start()), 0)
    end = text.find("\n}", found[-1].end()) + 2
    return _LINE.sub(_blank, text[:start]) + text[start : end if end > 1 else len(text)]


def _without_casts(text: str) -> str:
    """Without casts that change nothing; a cast of a value of another type is kept."""
    return _CAST.sub(lambda m: _blank(m) if _of_index_type(text, m.end()) else m.group(), text)


def _of_index_type(text: str, start: int) -> bool:
    """Whether what the parenthesis at ``start`` encloses has the index type, cast or not."""
    m = _INDEX_TYPED.match(text, start)
    depth = 0
    for at in range(start, m.end() if m else start):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return True
    return False


def _blank(m: re.Match[str]) -> str:
    return " " * len(m.group())


def _template_parameter(text: str) -> tuple[str, str]:
    """(name, default) of ``bool prefetch=false``."""
    head, _, default = text.partition("=")
    words = re.findall(r"\w+", head)
    return (words[-1] if words else "", default.strip())


def _param(name: str, text: str) -> Param:
    declared = text[: text.rfind(name)] if name else text
    pointer = "*" in declared
    restrict = "restrict" in declared
    return Param(name, pointer, from_cxx(declared), pointer and "const" in declared.split("*")[0], restrict)


def _argument(p: Param) -> Value:
    if p.pointer:
        return Ptr(p.name, sym(p.name) * 0)
    type_ = int_type(p.dtype or "")
    return UNKNOWN if type_ is None else Int(sym(p.name), type_)


def _collapse(clauses: str) -> int:
    m = re.search(r"collapse\((\d+)\)", clauses)
    return int(m.group(1)) if m else 1


def vector_bytes_of(text: str) -> int | None:
    """Register size, from the element counts of full-width float loads."""
    full = [n for m in _WIDTH.finditer(text) if (n := int(m.group(1))) in (4, 8, 16)]
    return 4 * max(full) if full else None


_KEYWORDS = frozenset(
    ("if", "for", "while", "switch", "return", "sizeof", "alignof", "alignas", "decltype", "double")
)


def _declarations(text: str) -> str:
    """Declarations of functions that are called but declared nowhere: special functions on numbers."""
    declared = set(_DECLARED.findall(text)) | prelude_words(_PRELUDE) | _KEYWORDS
    names = sorted(set(_CALLED.findall(text)) - declared)
    return "".join(f"template <class... A> float {n}(A&&...);\n" for n in names)
