"""C++ and Metal element types to torch dtype names."""

from __future__ import annotations

_TYPES = {
    "float": "float32", "double": "float64", "half": "float16", "Half": "float16", "bfloat": "bfloat16",
    "bfloat16": "bfloat16", "BFloat16": "bfloat16", "bool": "bool", "char": "int8", "uchar": "uint8",
    "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32", "long": "int64", "ulong": "uint64",
    "float2": "complex64", "half2": "complex32", "complex<float>": "complex64", "complex<double>": "complex128",
    "complex<half>": "complex32", "complex<Half>": "complex32", "unsigned char": "uint8", "signed char": "int8",
    "Float8_e4m3fn": "float8_e4m3fn", "float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2": "float8_e5m2",
    "float8_e5m2": "float8_e5m2", "Float8_e4m3fnuz": "float8_e4m3fnuz", "Float8_e5m2fnuz": "float8_e5m2fnuz",
    "long long": "int64",
}  # fmt: skip
for _bits in (8, 16, 32, 64):
    _TYPES[f"int{_bits}_t"] = f"int{_bits}"
    _TYPES[f"uint{_bits}_t"] = f"uint{_bits}"


def dtype_of_cpp(text: str) -> str:
    """The torch dtype of a C++/Metal element type, qualifiers and namespaces ignored; "" when unknown."""
    name = text.replace("const", " ").replace("*", " ").replace("&", " ").replace("__restrict__", " ").strip()
    name = name.replace("at::", "").replace("c10::", "").replace("std::", "").strip()
    return _TYPES.get(name, "")
