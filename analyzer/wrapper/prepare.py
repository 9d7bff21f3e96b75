"""From the text of a wrapper file to the part a C++ parser should see.

Only the model-specific functions stay; everything else (the C interface, helper headers inside Metal
sources, Triton launchers, the constants table) becomes blanks, so that offsets and lines stay true.
"""

from __future__ import annotations

import re

from ..cxx.nodes import Text
from ..model.location import Loc
from ..model.program import Constant
from ..model.record import record

#: Functions whose bodies the wrapper reader wants.
_WANTED = re.compile(
    r"(?:check_input_\d+|__check_inputs_outputs|_?const_run_impl|run_impl|inductor_entry_impl"
    r"|run_impl_minimal_arrayref_interface)\s*(?:<[^;{]*?>)?\s*\("
)
#: What each wanted name starts with, for plain searches: a pattern over megabytes of kernel text is slow.
_STEMS = ("check_input_", "__check_inputs_outputs", "run_impl", "inductor_entry_impl")
_SPACES = bytes(10 if i == 10 else 32 for i in range(256))
_INCLUDE = re.compile(r"^[ \t]*#[^\n]*", re.M)
#: Words the file itself defines as macros, with or without arguments.
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
_LIKELY = re.compile(r"\bC10_(?:UN)?LIKELY\b")
_CALLED = re.compile(r"(?<![\w.>:])([A-Za-z_]\w*)\s*(?:<[\w:, ]*>)?\s*\(", re.ASCII)
_SCOPED = re.compile(r"(?:torch::)?aot_inductor::([A-Za-z_]\w*)\s*(?:<[\w:, ]*>)?\s*\(", re.ASCII)
_FIELD = re.compile(r"constants_info_\[(\d+)\]\.(\w+)\s*=\s*([^;]*);")
#: Variables that kernels are loaded into: of the file, or members of the table of kernels.
_FUNCTION = re.compile(r"^static\s+(?:CUfunction|hipFunction_t)\s+(\w+)\s*=", re.M)
_MEMBER = re.compile(r"\bkernels\.(?=\w+\s*(?:==|=|,))")
_TORCH = re.compile(r"//\s*torch(?: version)?:?\s*(\d+\.\d+[\w.+]*)")
_CPP_WORDS = frozenset((
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "compl", "concept", "const", "const_cast",
    "consteval", "constexpr", "constinit", "continue", "co_await", "co_return", "co_yield", "decltype",
    "default", "defined", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export",
    "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
    "protected", "public", "register", "reinterpret_cast", "requires", "return", "short", "signed",
    "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
))  # fmt: skip


@record(frozen=True)
class Prepared:
    """A wrapper text ready to parse: same length as the file, with declarations it needs in ``extra``."""

    source: Text
    original: str
    extra: str
    constants: tuple[Constant, ...]
    device: str
    torch: str | None
    dialect: str
    macros: frozenset[str] = frozenset()
    #: Where a preprocessor condition stands that was not decided, and what it says.
    undecided: tuple[tuple[int, str], ...] = ()


class Truncated(Exception):
    """The text ends inside a function."""


def blank(text: str) -> str:
    """Spaces of the same length, newlines kept."""
    return text.encode("ascii", "replace").translate(_SPACES).decode("ascii")


def blank_raw_strings(text: str) -> str:
    """Raw string literals become ``""`` and spaces: they hold kernel sources, specs and stack traces."""
    out: list[str] = []
    at = 0
    while (start := text.find('R"', at)) >= 0:
        paren = text.find("(", start, start + 20)
        closer = ")" + text[start + 2 : paren] + '"' if paren > 0 else ""
        end = text.find(closer, paren) if closer else -1
        if end < 0 or (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
            out.append(text[at : start + 2])
            at = start + 2
            continue
        end += len(closer)
        out += (text[at:start], '""', blank(text[start + 2 : end]))
        at = end
    out.append(text[at:])
    return "".join(out)


def prepare(text: str, path: str, prelude_names: frozenset[str], first_line: int = 1) -> Prepared:
    """Blank what is not model-specific and collect the constants table. Raises Truncated."""
    body = blank_raw_strings(text)
    undecided: list[tuple[int, str]] = []
    kept = _keep_functions(body, undecided)
    if "launchKernel(" in kept:  # kernels loaded by the body itself
        kept = _MEMBER.sub("kernels_", kept)
    code = "\n".join(line for line in kept.split("\n") if line and not line.isspace())
    names = set(_CALLED.findall(code)) - _CPP_WORDS - prelude_names
    names = {n for n in names if "_lambda_" not in n and not n.startswith("var_")}
    scoped = set(_SCOPED.findall(code)) - _CPP_WORDS - prelude_names
    extra = "".join(f"template <class... A> int {n}(A&&...) {{ return 0; }}\n" for n in sorted(names))
    functions = {*_FUNCTION.findall(body), *re.findall(r"\bkernels_triton\w+", code)}
    extra += "".join(f"extern opaque_t* {n};\n" for n in sorted(functions))
    if "aoti_torch_mps_shared_callback" in code:
        extra += "extern int aoti_torch_mps_shared_callback;\n"
    if scoped:
        inner = "".join(f"template <class... A> int {n}(A&&...) {{ return 0; }}" for n in sorted(scoped))
        extra += f"namespace torch {{ namespace aot_inductor {{ {inner} }} }}\n"
    cached = sorted(set(re.findall(r"\bcached_torch_\w+", code, re.ASCII)))
    extra += "".join(f"extern int32_t {n};\n" for n in cached)
    source = Text(path, kept, first_line)
    return Prepared(
        source,
        text,
        extra,
        _constants(body, source),
        _device(text, code),
        _torch_version(text),
        _dialect(text),
        frozenset(_MACRO.findall(body)) - prelude_names,
        tuple(undecided),
    )


def _dialect(text: str) -> str:
    return "cpp_wrapper" if re.search(r"\binductor_entry_impl\s*\(", text) else "aoti"


def _torch_version(text: str) -> str | None:
    m = _TORCH.search(text)
    return m.group(1) if m else None


def _device(text: str, code: str) -> str:
    """The graph's device: from the headers the file includes, else from the devices the code names."""
    m = re.search(r"#include <torch/csrc/inductor/(?:aoti_include|cpp_wrapper)/(cuda|mps|xpu|cpu)\.h>", text)
    if m:
        return m.group(1)
    names = set(re.findall(r"\baoti_torch_(mps)_|\bcached_torch_device_type_(cuda|xpu|mps)\b", code))
    flat = {x for pair in names for x in pair if x}
    return next((d for d in ("cuda", "mps", "xpu") if d in flat), "cpu")


def _keep_functions(text: str, undecided: list[tuple[int, str]]) -> str:
    """The wanted function definitions; everything between them blanked. Raises Truncated."""
    spans: list[tuple[int, int]] = []
    at = 0
    for place in sorted(_places(text)):
        m = _WANTED.match(text, place)
        brace = _body_start(text, m.end()) if m and place >= at else -1
        if brace < 0:
            continue
        at = _body_end(text, brace)
        if at < 0:
            raise Truncated
        spans.append((_signature_start(text, text.rfind("\n", 0, place) + 1), at))
    out: list[str] = []
    last = 0
    for a, b in spans:
        out.append(blank(text[last:a]))
        out.append(_function(_conditionals(text[a:b], a, undecided)))
        last = b
    out.append(blank(text[last:]))
    return "".join(out)


def _places(text: str) -> set[int]:
    """Where a wanted name may begin."""
    out: set[int] = set()
    for stem in _STEMS:
        i = text.find(stem)
        while i >= 0:
            start = i
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            out.add(start)
            i = text.find(stem, i + len(stem))
    return out


def _function(text: str) -> str:
    """One definition: the model class under its plain name, no preprocessor lines, macros or constexpr-if."""
    text = re.sub(
        r"\bAOTInductorModel(\w+)::",
        lambda m: "AOTInductorModel" + "::" + " " * len(m.group(1)),
        text,
        count=1,
    )
    text = _LIKELY.sub(lambda m: " " * len(m.group(0)), text)
    text = text.replace("if constexpr", "if          ")
    return _INCLUDE.sub(lambda m: " " * len(m.group(0)), text)


_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)", re.M)


def _conditionals(text: str, at: int, undecided: list[tuple[int, str]]) -> str:
    """The text without what ``#if`` leaves out; groups whose condition is no number go whole, and are noted."""
    out: list[str] = []
    last, depth = 0, 0
    keep, decided, hidden = True, True, 0
    for m in _DIRECTIVE.finditer(text):
        word, condition = m.group(1), m.group(2).split("//")[0].strip()
        opens, closes = word in ("if", "ifdef", "ifndef"), word == "endif"
        if depth == 0 and not opens:
            continue  # not this file's concern: libclang will say what it thinks of it
        if opens and depth:
            depth += 1
            continue
        if depth > 1:
            depth -= closes
            continue
        piece = text[last : m.start()]
        out.append(piece if keep else blank(piece))
        last = m.start()
        if opens:
            depth, hidden = 1, m.start()
            decided = word == "if" and condition.strip("()") in ("0", "1", "false", "true")
            keep = decided and condition.strip("()") in ("1", "true")
            if not decided:
                undecided.append((at + hidden, f"#{word} {condition} is not decided"))
        elif closes:
            depth, keep = 0, True
        elif word == "else":
            keep = decided and not keep
        else:
            undecided.append((at + hidden, f"#elif {condition} is not decided"))
            keep = decided = False
    piece = text[last:]
    out.append(piece if keep else blank(piece))
    return "".join(out)


def _signature_start(text: str, at: int) -> int:
    """Back over a ``template <…>`` line that belongs to the definition."""
    before = text.rfind("\n", 0, max(at - 1, 0)) + 1
    return before if re.match(r"\s*template\s*<.*>\s*$", text[before:at].strip("\n")) else at


def _body_start(text: str, at: int) -> int:
    """Offset of the ``{`` of a definition whose parameter list opened just before ``at``; -1 for a call."""
    depth = 1
    for m in _PAREN.finditer(text, at, min(len(text), at + 4000)):
        depth += {"(": 1, ")": -1}.get(m[0], 0)  # a comment counts for nothing
        if depth == 0:
            tail = re.compile(r"\s*(?:const\s*)?\{").match(text, m.end())
            return tail.end() - 1 if tail else -1
    return -1


_PAREN = re.compile(r"//[^\n]*|/\*.*?\*/|[()]", re.S)
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/|[{}]', re.S)


def _body_end(text: str, brace: int) -> int:
    """Offset after the brace that closes the one at ``brace``; -1 when the text ends before."""
    depth = 0
    for m in _TOKEN.finditer(text, brace):
        tok = m.group(0)
        if tok == "{":
            depth += 1
        elif tok == "}":
            depth -= 1
            if depth == 0:
                return m.end()
    return -1


def _constants(text: str, source: Text) -> tuple[Constant, ...]:
    rows: dict[int, dict[str, str]] = {}
    lines: dict[int, Loc] = {}
    for m in _FIELD.finditer(text):
        i = int(m.group(1))
        rows.setdefault(i, {})[m.group(2)] = m.group(3).strip()
        if m.group(2) == "name":
            lines[i] = source.loc(m.start(), m.end())
    out = []
    for i, row in sorted(rows.items()):
        try:
            out.append(_constant(i, row, lines[i]))
        except (KeyError, ValueError):
            continue
    return tuple(out)


def _constant(index: int, row: dict[str, str], loc: Loc) -> Constant:
    def ints(field: str) -> tuple[int, ...]:
        return tuple(int(x.rstrip("L")) for x in re.findall(r"-?\d+L*", row.get(field, "")))

    dtype = re.search(r"cached_torch_dtype_(\w+)", row["dtype"])
    device = re.search(r"device_type_(\w+)", row.get("device_type", ""))
    sizes, strides = ints("shape"), ints("stride")
    if len(sizes) != len(strides):
        raise ValueError("sizes and strides differ in number")
    return Constant(
        row["name"].strip('"'),
        index,
        sizes,
        strides,
        dtype.group(1) if dtype else "",
        int(row.get("offset", "0")),
        int(row["data_size"]),
        loc,
        device.group(1) if device else None,
        row.get("from_folded") == "true",
    )
