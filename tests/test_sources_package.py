"""Packages: several models, display paths, and hostile or damaged archives in one line each."""

from __future__ import annotations

import stat
import struct
import time
import zipfile
from pathlib import Path

import pytest
from aoti_lint.analyzer.sources import Failure, WrapperSource, archive, load
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .test_sources import failure, kernels, one, package, wrapper

MODEL = "m/data/aotinductor/model"


def ordinary() -> dict[str, str | bytes]:
    return {
        f"{MODEL}/cw.wrapper.cpp": wrapper("cpp_fused_add_0"),
        f"{MODEL}/ck.kernel.cpp": kernels("cpp_fused_add_0", made_with="cw.wrapper.cpp"),
        f"{MODEL}/cw.wrapper_metadata.json": '{"AOTI_DEVICE_KEY": "cpu"}',
        f"{MODEL}/cw.wrapper.so": b"\x7fELF\0",
        "m/archive_format": "pt2",
    }


def test_model_in_a_package(tmp_path: Path) -> None:
    found = one(package(tmp_path / "m.pt2", ordinary()))
    assert found.wrapper.path == f"{tmp_path}/m.pt2!{MODEL}/cw.wrapper.cpp"
    assert [k.path for k in found.kernels] == [f"{tmp_path}/m.pt2!{MODEL}/ck.kernel.cpp"]
    assert found.metadata == {"AOTI_DEVICE_KEY": "cpu"}


def test_two_models_do_not_share_kernels(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {}
    for name in ("decoder", "encoder"):
        folder = f"m/data/aotinductor/{name}"
        members[f"{folder}/c{name}.wrapper.cpp"] = wrapper("cpp_fused_add_0")
        members[f"{folder}/k{name}.kernel.cpp"] = kernels("cpp_fused_add_0", body=f"    // {name}")
    found = load(str(package(tmp_path / "m.pt2", members)))
    pairs = [
        (f.wrapper.path[-23:], f.kernels[0].text.split("// ")[1][:7])
        for f in found
        if isinstance(f, WrapperSource)
    ]
    assert [p[1] for p in pairs] == ["decoder", "encoder"]


def test_single_cpp_and_zip_by_content(tmp_path: Path) -> None:
    text = kernels("cpp_fused_add_0") + wrapper("cpp_fused_add_0")
    found = one(package(tmp_path / "m.bin", {"a.cpp": text, "other.cpp": "int x;\n", "b/": b""}))
    assert found.wrapper.path == f"{tmp_path}/m.bin!a.cpp"


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"../evil.wrapper.cpp": wrapper()}, "leads out of the package"),
        ({"a/../../evil.wrapper.cpp": wrapper()}, "leads out of the package"),
        ({"/etc/evil.wrapper.cpp": wrapper()}, "leads out of the package"),
        ({"C:\\evil.wrapper.cpp": wrapper()}, "leads out of the package"),
        ({"a\\..\\evil.wrapper.cpp": wrapper()}, "leads out of the package"),
        ({"a\n::error::.wrapper.cpp": wrapper()}, "control characters"),
        ({"inner.pt2": b"PK"}, "packages inside it are not opened"),
        ({"m.so": b"\x7fELF"}, "compiled code and no wrapper source: export with"),
        ({"m/archive_format": "pt2"}, "no AOTInductor wrapper in the package"),
        ({}, "no AOTInductor wrapper in the package"),
        ({"a.wrapper.cpp": b"\xff\xfe"}, "not UTF-8"),
        ({"a.wrapper.cpp": b""}, "empty"),
        ({"a.wrapper.cpp": wrapper()[:-60]}, "truncated"),
    ],
)
def test_one_line(tmp_path: Path, members: dict[str, str | bytes], says: str) -> None:
    assert says in failure(package(tmp_path / "m.pt2", members))


def test_bomb_by_ratio_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = time.perf_counter()
    assert "grows more than 300 times" in failure(
        package(tmp_path / "a.pt2", {"a.wrapper.cpp": b" " * (20 << 20)})
    )
    assert "larger than 32 MiB" in failure(package(tmp_path / "b.pt2", {"a.wrapper.cpp": b" " * (40 << 20)}))
    assert time.perf_counter() - before < 4
    monkeypatch.setattr(archive, "MAX_PACKAGE", 4 << 20)
    many: dict[str, str | bytes] = {
        f"{i}/a.wrapper.cpp": wrapper() + "// " + "x" * (1 << 20) for i in range(5)
    }
    found = load(str(package(tmp_path / "c.pt2", many, zipfile.ZIP_STORED)))
    assert [isinstance(f, Failure) for f in found] == [False, False, False, True, True]
    assert isinstance(found[-1], Failure) and "more than 4 MiB of sources" in found[-1].error


def test_member_that_is_longer_than_declared(tmp_path: Path) -> None:
    path = package(tmp_path / "m.pt2", {"a.wrapper.cpp": wrapper()}, zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<L", data, at + 24, 10)
    path.write_bytes(data)
    failure(path)


def test_encrypted_symlink_double_and_unknown_method(tmp_path: Path) -> None:
    path = package(tmp_path / "enc.pt2", {"a.wrapper.cpp": wrapper()})
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert failure(path) == "encrypted"

    with zipfile.ZipFile(tmp_path / "link.pt2", "w") as zf:
        info = zipfile.ZipInfo("a.wrapper.cpp")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        zf.writestr(info, "/etc/passwd")
    assert "symbolic link" in failure(tmp_path / "link.pt2")

    with pytest.warns(UserWarning), zipfile.ZipFile(tmp_path / "two.pt2", "w") as zf:
        zf.writestr("a.wrapper.cpp", wrapper())
        zf.writestr("a.wrapper.cpp", wrapper("cpp_fused_add_0"))
    assert "twice" in failure(tmp_path / "two.pt2")

    data = bytearray(package(tmp_path / "odd.pt2", {"a.wrapper.cpp": wrapper()}).read_bytes())
    data[data.rfind(b"PK\x01\x02") + 10] = 77
    (tmp_path / "odd.pt2").write_bytes(data)
    assert "damaged" in failure(tmp_path / "odd.pt2")


def test_truncated_package(tmp_path: Path) -> None:
    data = package(tmp_path / "m.pt2", ordinary()).read_bytes()
    (tmp_path / "t.pt2").write_bytes(data[: len(data) // 2])
    assert "truncated" in failure(tmp_path / "t.pt2")


def test_list_of_members_too_long(tmp_path: Path) -> None:
    data = bytearray(package(tmp_path / "m.pt2", ordinary()).read_bytes())
    struct.pack_into("<L", data, data.rfind(b"PK\x05\x06") + 12, 1 << 30)
    (tmp_path / "m.pt2").write_bytes(data)
    assert "list of members is larger than" in failure(tmp_path / "m.pt2")


# -- mutation: whatever the bytes, there is an answer and no exception ------------------------------

_edits = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 255), st.sampled_from("sdi")), min_size=1, max_size=6
)


def mutate(data: bytes, edits: list[tuple[float, int, str]]) -> bytes:
    out = bytearray(data)
    for where, value, kind in edits:
        at = min(int(where * len(out)), len(out) - 1)
        if kind == "s":
            out[at] = value
        elif kind == "d":
            del out[at : at + value]
        else:
            out[at:at] = bytes([value]) * (value % 7)
        if not out:
            break
    return bytes(out)


def answered(path: Path) -> None:
    found = load(str(path))
    assert found
    for f in found:
        assert isinstance(f, (Failure, WrapperSource))
        if isinstance(f, Failure):
            assert f.error and f.error.isprintable()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=_edits,
    method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]),
)
def test_mutated_packages_are_answered(
    tmp_path: Path, edits: list[tuple[float, int, str]], method: int
) -> None:
    path = tmp_path / "m.pt2"
    if not (base := tmp_path / f"base{method}").exists():
        package(base, ordinary(), method)
    path.write_bytes(mutate(base.read_bytes(), edits))
    answered(path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=_edits)
def test_mutated_wrappers_are_answered(tmp_path: Path, edits: list[tuple[float, int, str]]) -> None:
    (tmp_path / "a.kernel.cpp").write_bytes(mutate(kernels("cpp_fused_add_0").encode(), edits[:1]))
    (tmp_path / "a.wrapper.cpp").write_bytes(mutate(wrapper("cpp_fused_add_0").encode(), edits))
    answered(tmp_path / "a.wrapper.cpp")
    answered(tmp_path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200), name=st.sampled_from(["a.wrapper.cpp", "a.pt2", "a.so", "a.py", "a"]))
def test_any_bytes_are_answered(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(data)
    answered(tmp_path / name)


def test_a_package_beside_its_own_wrapper_is_found_once(tmp_path: Path) -> None:
    """As an export without a file name leaves them in the cache; another model's package stays."""
    folder = tmp_path / "cache"
    folder.mkdir()
    for name, text in ordinary().items():
        if name.endswith(".cpp"):
            (folder / Path(name).name).write_text(str(text))
    package(folder / "cw.wrapper.pt2", ordinary())
    other = {
        n: str(t).replace("run_impl(", "run_impl( ") if n.endswith(".wrapper.cpp") else t
        for n, t in ordinary().items()
    }
    package(folder / "other.pt2", other)
    found = load(str(folder))
    assert [f.wrapper.path for f in found if isinstance(f, WrapperSource)] == [
        f"{folder}/cw.wrapper.cpp",
        f"{folder}/other.pt2!{MODEL}/cw.wrapper.cpp",
    ]
    assert len(found) == 2
