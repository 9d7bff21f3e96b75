"""Bytes to checked text: encodings, end markers, wrappers inside generated Python."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .model import MAX_TEXT, SourceError, SourceText

# Patterns start with literal text, which is fast, and look behind where they would otherwise start within a
# word, which on hostile text would take quadratic time.

#: The functions that are the model, where they are defined. The generator closes the minimal interface with the
#: same end comment as ``run_impl``.
_MODEL_ENTRY = re.compile(
    r"AOTInductorModel(?<!\wAOTInductorModel)\w*::(?:(run_impl)\(|(run_impl)_minimal_arrayref_interface<"
    r"|(run_impl_minimal_arrayref_interface_v2_raw)\()"
)
_JIT_ENTRY = re.compile(r"(inductor_entry_impl)\(")
_END = re.compile(r"\n\} // (?:AOTInductorModel\w*::)?(\w+)")
_EXTERN_C = re.compile(
    r'extern "C"\s+(?:[\w()]+\s+){0,6}?void\s+(?:[\w()]+\s+){0,6}?(\w+)\s*\(([^()"{};]*)\)\s*([;{])'
)
_CALLED = re.compile(r"(cpp_fused_(?<!\wcpp_fused_)\w+)\(")
#: The graph of a Python wrapper, and what no other file with a function of that name has.
_PYTHON_ENTRY = re.compile(r"^(?:class Runner\b|def call\(args\))", re.MULTILINE)
_PYTHON_SIGN = re.compile(r"\b(?:async_compile|AsyncCompile|extern_kernels|empty_strided_(?:cpu|cuda|xpu))\b")
_JIT = re.compile(r'^(cpp_wrapper_src|kernel_src) = \(\s*r?"""', re.MULTILINE)


def decode(data: bytes) -> str:
    """UTF-8 text with ``\\n`` line ends. Raises :class:`SourceError`."""
    if len(data) > MAX_TEXT:
        raise SourceError(f"larger than {MAX_TEXT >> 20} MiB, the most that is read of one file")
    if not data.strip():
        raise SourceError("the file is empty")
    if b"\0" in data:
        raise SourceError("binary data, not source text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise SourceError(f"not UTF-8 text (byte 0x{data[e.start]:02x} at offset {e.start})") from None
    return text.replace("\r\n", "\n")


def looks_like_wrapper(text: str) -> bool:
    """Whether the text defines a model's entry, complete or not."""
    return bool(_MODEL_ENTRY.search(text) or _JIT_ENTRY.search(text))


#: How wrappers of before the C interface look: an entry on lists of tensors, or tensors made by ATen itself.
_ENTRY_OF_TENSORS = re.compile(r"std::vector<at::Tensor>\s+inductor_entry_cpp\s*\(")
_ATEN_TENSORS = re.compile(
    r"\bat::detail::empty_strided_\w+\(|^\s*at::Tensor \w+ = |\bdecltype\(auto\) \w+ = reinterpret_tensor\(",
    re.M,
)
#: A tensor that the C interface made, or an input taken over as it does.
_C_INTERFACE = re.compile(
    r"\bRAIIAtenTensorHandle \w+\(\w+_handle\)|\bAOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_empty_"
)
#: The oldest torch whose wrappers are read.
OLDEST = "2.6"


def too_old(text: str) -> str | None:
    """Why a wrapper is of a dialect that is not read; None where it is not."""
    if _ENTRY_OF_TENSORS.search(text):
        dialect = "inductor_entry_cpp over lists of at::Tensor"
    elif _ATEN_TENSORS.search(text) and not _C_INTERFACE.search(text):
        dialect = "at::Tensor in place of the C interface"
    else:
        return None
    return f"written before the C interface ({dialect}): wrappers of torch {OLDEST} and later are read"


def looks_like_python(text: str) -> bool:
    """Whether the text is a Python wrapper, as ``torch.compile`` writes it."""
    return bool(_PYTHON_ENTRY.search(text) and _PYTHON_SIGN.search(text))


def check_wrapper(text: str) -> None:
    """Raise :class:`SourceError` unless ``text`` is a whole wrapper."""
    if (old := too_old(text)) is not None:
        raise SourceError(old)
    starts = {m[m.lastindex or 0] for entry in (_MODEL_ENTRY, _JIT_ENTRY) for m in entry.finditer(text)}
    if not starts:
        if any(kind == "{" for _, _, kind in signatures(text)):
            raise SourceError("a kernel file, not a wrapper: give the *.wrapper.cpp that calls it")
        raise SourceError("not an AOTInductor wrapper: it defines no AOTInductorModel::run_impl")
    for name in sorted(starts - {m[1] for m in _END.finditer(text)}):
        raise SourceError(f"the wrapper is truncated: {name} has no end (no line with '}} // ' and its name)")


def check_kernels(text: str) -> None:
    """Raise :class:`SourceError` when the last kernel of the text has no end."""
    last = None
    for m in _EXTERN_C.finditer(text):
        if m[3] == "{":
            last = m
    if last is not None and text.find("\n}", last.end() - 1) < 0:
        raise SourceError(f"the kernel file is truncated: {last[1]} has no end")


def signatures(text: str) -> Iterator[tuple[str, str, str]]:
    """``extern "C" void`` functions: (name, parameters with single spaces, ``;`` declared or ``{`` defined)."""
    for m in _EXTERN_C.finditer(text):
        yield m[1], " ".join(m[2].split()), m[3]


def wanted_kernels(text: str) -> dict[str, str | None]:
    """Kernels a wrapper calls and doesn't define: name to parameters (None: not declared)."""
    wanted: dict[str, str | None] = dict.fromkeys(_CALLED.findall(text))
    defined = set()
    for name, params, kind in signatures(text):
        if kind == ";":
            wanted[name] = params
        else:
            defined.add(name)
    return {n: p for n, p in wanted.items() if n not in defined}


def embedded(path: str, text: str) -> list[tuple[SourceText, tuple[SourceText, ...]]]:
    """Wrappers written as strings in a Python file, each with its kernels, at the file's own lines and columns.

    Raises :class:`SourceError` for a string that doesn't end or isn't a wrapper.
    """
    found: list[tuple[SourceText, list[SourceText]]] = []
    line, seen = 1, 0
    for m in _JIT.finditer(text):
        if m.start() < seen:
            continue
        end = text.find('"""', m.end())
        if end < 0:
            raise SourceError(f"the file is truncated: the string {m[1]} has no end")
        line += text.count("\n", seen, m.end())
        seen = m.end()
        column = m.end() - (text.rfind("\n", 0, m.end()) + 1)
        part = SourceText(path, " " * column + text[m.end() : end], line)
        if m[1] == "cpp_wrapper_src":
            check_wrapper(part.text)
            found.append((part, []))
        elif found:
            found[-1][1].append(part)
    return [(w, tuple(k)) for w, k in found]
