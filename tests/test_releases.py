"""Releases of ExecuTorch and libtorch: which profile each is, and what is known to differ between them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aoti_lint.analyzer.runtimes import releases, releases_of, resolve, resolve_all
from runtime_cases import NO, alloc, exprs, layout, view

#: Written down from the tags and packages, apart from the tool's own table: (Metal, CUDA), None where there is none.
TABLE = {
    "1.0.0": (None, None),
    "1.0.1": (None, None),
    "1.1.0": ("2026-01-14", "2025-10-21"),
    "1.2.0": ("2026-02-25", "2026-02-02"),
    "1.3.0": ("2026-05-21", "2026-05-21"),
    "1.3.1": ("2026-05-21", "2026-05-21"),
    "1.4.0": ("2026-08", "2026-07-21"),
    "1.4.1": ("2026-08", "2026-07-21"),
    "1.5.0": ("2026-09", "2026-09"),
    "1.5.1": ("2026-09", "2026-09"),
}


def test_every_release_has_its_profiles() -> None:
    assert [r.name for r in releases()] == list(TABLE)
    for release, ids in TABLE.items():
        for family, id in zip(("executorch-metal", "executorch-cuda"), ids, strict=True):
            if id is None:
                with pytest.raises(
                    LookupError, match=r"has no such runtime: executorch-\w+ comes with 1\.1\.0"
                ):
                    resolve(f"{family}@{release}")
            else:
                assert resolve(f"{family}@{release}").name == f"{family}@{id}"
                assert release in releases_of(f"{family}@{id}")


def test_a_bare_name_is_the_newest_release() -> None:
    metal, cuda = list(TABLE.values())[-1]
    assert resolve("executorch-metal").name == f"executorch-metal@{metal}"
    assert resolve("executorch-cuda").name == f"executorch-cuda@{cuda}"
    assert [r.date for r in releases()] == sorted(r.date for r in releases())


@pytest.mark.parametrize(
    ("asked", "device", "meant"),
    [
        ("executorch-metal@1.5", "mps", "executorch-metal@2026-09"),
        ("executorch-metal@1", "mps", "executorch-metal@2026-09"),
        ("executorch-metal@v1.2.0", "mps", "executorch-metal@2026-02-25"),
        ("executorch@1.5", "mps", "executorch-metal@2026-09"),
        ("executorch@1.4", "cuda", "executorch-cuda@2026-07-21"),
        ("executorch", "cuda", "executorch-cuda@2026-09"),
        ("executorch@2026-06", "mps", "executorch-metal@2026-05-21"),
        ("executorch-cuda@2026-03", "cuda", "executorch-cuda@2026-02-02"),
        ("libtorch@2.8.0", "cpu", "libtorch@2.8"),
        ("libtorch@2.14.1", "cpu", "libtorch@2.14"),
    ],
)
def test_names_of_releases(asked: str, device: str, meant: str) -> None:
    assert resolve(asked, device).name == meant


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            "executorch-metal@1.6",
            "no release 1.6 of ExecuTorch is known; those with executorch-metal are 1.1.0, ",
        ),
        ("executorch@1.0.1", "ExecuTorch 1.0.1 has no such runtime"),
        ("executorch-metal@1.50", "no release 1.50"),
        ("libtorch@2.16", "unknown runtime 'libtorch@2.16'; try libtorch@2.6, libtorch@2.15"),
        ("libtorch@2.5.1", "unknown runtime 'libtorch@2.5'"),
    ],
)
def test_releases_that_are_not_known(asked: str, said: str) -> None:
    with pytest.raises(LookupError, match=re.escape(said)):
        resolve(asked)


# -- what differs ---------------------------------------------------------------------------------------------------


def attention(release: str, *, causal: int = 0, mask: object = None) -> list[tuple[str, str]]:
    """What is wrong with one call: (argument, error)."""
    q = layout((1, 8, 16, 64))
    args = (q, q, q, None, "0.0", exprs((causal,))[0], mask, None)
    op = resolve(f"executorch-metal@{release}").op(
        "aoti_torch_mps__scaled_dot_product_attention_math_for_mps"
    )
    assert op is not None
    return [(j.arg, j.error) for j in op.judge(args, NO) if j.kind == "reject"]


def test_causal_attention_works_from_1_2_on() -> None:
    assert attention("1.1", causal=1) == [("is_causal", "NotImplemented")]
    assert all(not attention(r, causal=1) for r in ("1.2", "1.3", "1.4", "1.5"))
    assert all(not attention(r, causal=0) for r in ("1.1", "1.5"))


def test_a_dropout_mask_is_refused_everywhere() -> None:
    for release in ("1.1", "1.2", "1.3", "1.4", "1.5"):
        found = attention(release, mask=layout((1, 8, 16, 16), dtype="bool"))
        assert found == [("dropout_mask", "NotImplemented")]


def test_addmm_insists_on_one_dtype() -> None:
    def judged(bias: str, mat1: str = "float32") -> list[str]:
        args = (
            layout((4, 8), dtype=mat1),
            layout((8,), dtype=bias),
            layout((4, 2), dtype=mat1),
            layout((2, 8), dtype=mat1),
        )
        op = resolve("executorch-metal@1.5").op("aoti_torch_mps_addmm_out")
        assert op is not None
        return [j.error for j in op.judge(args, NO)]

    assert judged("float32") == []
    assert judged("bfloat16") == ["InvalidArgument"]
    assert judged("int64", "int64") == ["Internal"]
    assert resolve("executorch-metal@1.4").symbol("aoti_torch_mps_addmm_out") == "absent"
    assert resolve("executorch-metal@1.5").symbol("aoti_torch_mps_addmm_out") == "present"


def test_rows_of_quantised_products() -> None:
    """One to four at the state of August, any number in 1.4."""

    def errors(runtime: str, name: str, rows: int) -> list[str]:
        op = resolve(runtime).op(f"aoti_torch_cuda_{name}_plain_mm")
        assert op is not None
        a = layout((rows, 256), dtype="bfloat16", device="cuda")
        return [j.error for j in op.judge((a,), NO)]

    for name in ("int5", "int6"):
        assert errors("executorch-cuda@1.4", name, 8) == []
        assert errors("executorch-cuda@2026-08", name, 8) == ["abort"]
        assert errors("executorch-cuda@1.5", name, 5) == ["abort"]
        assert errors("executorch-cuda@1.5", name, 4) == errors("executorch-cuda@1.5", name, 1) == []
    assert resolve("executorch-cuda@1.3").symbol("aoti_torch_cuda_int5_plain_mm") == "absent"


def test_int4_products_have_other_inputs_in_1_3() -> None:
    a, q = layout((2, 256), dtype="bfloat16"), layout((8, 128), dtype="uint8")
    old = (a, q, layout((2, 8), dtype="bfloat16"), layout((2, 8), dtype="bfloat16"), exprs((128,))[0])
    new = (
        a, q, layout((8, 2), dtype="uint8"), layout((8,), dtype="float16"), layout((8, 2), dtype="uint8"),
        layout((8,), dtype="float16"),
    )  # fmt: skip

    def fine(release: str, args: tuple[object, ...]) -> bool:
        op = resolve(f"executorch-cuda@{release}").op("aoti_torch_cuda_int4_plain_mm")
        assert op is not None
        return not op.judge(args, NO)

    assert fine("1.3", old) and fine("1.4", new)
    assert not fine("1.3", new) and not fine("1.4", old)


def test_cuda_dtypes_outputs_and_copies_by_release() -> None:
    for release, kind in (("1.2", "reject"), ("1.3", "ok"), ("1.4", "ok"), ("1.5", "ok")):
        for dtype in ("uint8", "float16"):
            assert alloc(f"executorch-cuda@{release}", (4,), (1,), dtype, "cuda").kind == kind
    twice = [resolve(f"executorch-cuda@{r}").output_facts.duplicates for r in ("1.1", "1.2", "1.3", "1.5")]
    assert twice == ["ok", "ok", "double-release", "double-release"]

    def copied(release: str, dst: object, src: object) -> tuple[str, str]:
        outcome = resolve(f"executorch-cuda@{release}").copy(dst, src, NO)
        return outcome.kind, outcome.error

    flat, matrix = layout((6,)), layout((2, 3))
    assert copied("1.2", matrix, flat) == ("ok", "")
    assert copied("1.2", layout((2, 3), (1, 2)), flat)[0] == "unknown"
    assert copied("1.2", matrix, layout((4,))) == ("reject", "abort")
    assert copied("1.3", matrix, flat) == ("reject", "abort")


def test_cuda_edges_of_1_1() -> None:
    """Inputs are remade row-major, outputs are copied through floats into row-major tensors."""
    old = resolve("executorch-cuda@1.1")
    row, turned, holes = layout((2, 3)), layout((2, 3), (1, 2)), layout((2, 3), (8, 1))
    assert [old.input(t, NO).kind for t in (row, turned)] == ["ok", "unknown"]
    assert [old.output(t, NO).kind for t in (row, turned, holes)] == ["ok", "ok", "corrupt"]
    assert old.output(layout((2, 3), (1, 2), dtype="int64"), NO).kind == "corrupt"


def test_constants_of_no_bytes() -> None:
    for release, kind in (("1.4", "reject"), ("1.5", "ok")):
        outcome = resolve(f"executorch-cuda@{release}").constant(
            *map(exprs, ((0, 4), (4, 1))), "float32", "cuda", NO
        )
        assert outcome.kind == kind


@pytest.mark.parametrize(
    ("symbol", "metal"),
    [
        ("aoti_torch_dtype_uint8", {"1.1": "absent", "1.2": "present", "1.3": "present"}),
        ("aoti_torch_check", {"1.2": "absent", "1.3": "present", "1.5": "present"}),
        ("aoti_torch_dtype_float16", {"1.3": "absent", "1.4": "present"}),
        ("aoti_torch_get_numel", {"1.3": "absent", "1.4": "present"}),
    ],
)
def test_metal_symbols(symbol: str, metal: dict[str, str]) -> None:
    assert {r: resolve(f"executorch-metal@{r}").symbol(symbol) for r in metal} == metal


def test_symbol_counts_of_tags() -> None:
    """As many as the sources of each tag define."""
    metal = {"1.1": 52, "1.2": 54, "1.3": 59, "1.4": 61}
    cuda = {"1.1": 41, "1.2": 40, "1.3": 46, "1.4": 51}
    for family, counts in (("executorch-metal", metal), ("executorch-cuda", cuda)):
        assert {r: len(resolve(f"{family}@{r}").symbols.present) for r in counts} == counts


#: (symbol, the first libtorch that has it), read in the headers.
FIRST = [
    ("aoti_torch_empty_strided", "2.6"), ("aoti_torch_as_strided", "2.7"), ("aoti_torch_clone_preserve_strides", "2.7"),
    ("aoti_torch_new_tensor_handle", "2.7"), ("aoti_torch_mps_convolution", "2.8"),
    ("aoti_torch_dtype_element_size", "2.8"), ("aoti_torch_is_defined", "2.9"),
    ("aoti_torch_empty_strided_pinned", "2.9"), ("aoti_torch_mps_run_command_block", "2.10"),
    ("aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2", "2.12"), ("aoti_torch_mps_geqrf", "2.14"),
]  # fmt: skip
LIBTORCH = ["2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.15"]


@pytest.mark.parametrize(("symbol", "first"), FIRST)
def test_symbols_of_libtorch_by_first_appearance(symbol: str, first: str) -> None:
    since = LIBTORCH.index(first)
    got = [resolve(f"libtorch@{v}").symbol(symbol) for v in LIBTORCH]
    assert got == ["absent"] * since + ["present"] * (len(LIBTORCH) - since)


def test_libtorch_checks_as_strided_alone() -> None:
    base = layout((4, 4), capacity=16)
    assert view("libtorch", base, (4, 4), (4, 1), how="as_strided").kind == "alias"
    assert view("libtorch", base, (2, 8), (9, 1), how="as_strided").kind == "reject"
    assert view("libtorch", base, (2, 8), (9, 1)).kind == "alias"


def test_all_has_the_newest_libtorch_only() -> None:
    names = [p.name for p in resolve_all(["all"], "cuda")]
    assert [n for n in names if n.startswith("libtorch")] == ["libtorch@2.15"]
    assert {f"executorch-cuda@{cuda}" for _, cuda in TABLE.values() if cuda} < set(names)


def test_the_page_has_the_table() -> None:
    page = (Path(__file__).parent.parent / "docs/runtimes.md").read_text()
    rows = {
        m[1]: (m[2], m[3])
        for m in re.finditer(r"^\| ([\d.]+) \| `?([\w.-]+?)`? \| `?([\w.-]+?)`? \|", page, re.M)
    }
    for release, (metal, cuda) in TABLE.items():
        assert rows[release] == (metal or "-", cuda or "-")
