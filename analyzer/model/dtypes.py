"""Element types: their sizes, and the names that C++, Metal, Triton and torch give them.

A dtype is named as torch names it (``float32``). Every reader comes here to translate.
"""

from __future__ import annotations

import re

#: Bytes per element of every dtype a wrapper can name.
ITEMSIZE: dict[str, int] = {
    "uint8": 1, "int8": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2,
    "int32": 4, "uint32": 4, "float32": 4, "complex32": 4,
    "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip

#: Width in bits and signedness of the integer dtypes. A bool is none.
INTEGERS: dict[str, tuple[int, bool]] = {
    f"{sign}int{bits}": (bits, not sign) for bits in (8, 16, 32, 64) for sign in ("", "u")
}

#: Element types by their C++ and Metal names, without namespaces and qualifiers.
_CXX: dict[str, str] = {
    "float": "float32", "double": "float64", "half": "float16", "Half": "float16", "bfloat": "bfloat16",
    "BFloat16": "bfloat16", "bool": "bool", "char": "int8", "signed char": "int8", "uchar": "uint8",
    "unsigned char": "uint8", "short": "int16", "ushort": "uint16", "unsigned short": "uint16", "int": "int32",
    "uint": "uint32", "unsigned": "uint32", "unsigned int": "uint32", "long": "int64", "long long": "int64",
    "ulong": "uint64", "unsigned long": "uint64", "unsigned long long": "uint64", "size_t": "uint64",
    "float2": "complex64", "half2": "complex32", "complex<float>": "complex64", "complex<double>": "complex128",
    "complex<half>": "complex32", "complex<Half>": "complex32",
    "Float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2": "float8_e5m2", "Float8_e4m3fnuz": "float8_e4m3fnuz",
    "Float8_e5m2fnuz": "float8_e5m2fnuz", "Float8_e8m0fnu": "float8_e8m0fnu",
    **{f"{name}_t": name for name in INTEGERS},
}  # fmt: skip

#: Element types by the names a Triton signature uses.
TRITON: dict[str, str] = {
    "fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "i1": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "fp8e4b8": "float8_e4m3fnuz",
    "fp8e5b16": "float8_e5m2fnuz",
}  # fmt: skip

#: Names of element types in Triton code (``tl.int1``) that differ from torch's.
_TL: dict[str, str] = {
    "int1": "bool", "float8e4nv": "float8_e4m3fn", "float8e5": "float8_e5m2",
    "float8e4b8": "float8_e4m3fnuz", "float8e5b16": "float8_e5m2fnuz",
}  # fmt: skip

_QUALIFIERS = re.compile(
    r"\b(?:const|constexpr|static|volatile|restrict|__restrict__|__restrict|device|constant|threadgroup)\b|[&*]"
)
_SIGNEDNESS = re.compile(r"std::make_(?:un)?signed_t<(\w+)>")
_NAMESPACES = re.compile(r"\b(?:at|c10|std|torch)::")


def itemsize(dtype: str) -> int:
    """Bytes an element; 1 for a dtype that is not known."""
    return ITEMSIZE.get(dtype, 1)


def from_cxx(text: str) -> str | None:
    """The element type a C++ or Metal type names (``const at::Half*`` is ``float16``); None when not known."""
    words = " ".join(_NAMESPACES.sub("", _QUALIFIERS.sub(" ", _SIGNEDNESS.sub(r"\1", text))).split())
    return _CXX.get(words) or (words if words in ITEMSIZE and words not in INTEGERS else None)


def from_tl(attribute: str) -> str | None:
    """The element type of ``tl.<attribute>``; None when it names none."""
    name = _TL.get(attribute, attribute)
    return name if name in ITEMSIZE else None
