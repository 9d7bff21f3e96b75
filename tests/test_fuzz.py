"""Damaged wrappers: never an internal error, never a hang, never a clean report on text that was cut short."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aoti_lint.analyzer.bounds.footprint import elements
from aoti_lint.analyzer.model.findings import FileReport
from aoti_lint.analyzer.model.kernel import Var
from aoti_lint.analyzer.model.record import replace
from aoti_lint.analyzer.pipeline import Task, check_source
from aoti_lint.analyzer.sources import SourceText, WrapperSource, load
from aoti_lint.analyzer.symbolic import TRUE, compare, const, mod, sym
from aoti_lint.rules.registry import run_rules
from explore import EXPLORE

from .execution.texts import empty, ints, wrapper

WRAPPERS = Path(__file__).parent.parent / "fixtures" / "wrappers"
#: Small ones of every dialect: a round should be quick.
PATHS = sorted(p for p in WRAPPERS.glob("*/*.wrapper.cpp") if p.stat().st_size < 20_000)
#: Most processor time one of these files may take, seconds (they take half a second when whole).
LIMIT = 20
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_HUGE = ("0", "-1", str(2**31), str(2**63), str(2**64 + 1), str(10**40), "99999")


def tokens(text: str, rng: random.Random) -> str:
    """Some tokens deleted, doubled or swapped."""
    parts = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 3, 10))):
        at = rng.randrange(len(parts))
        match rng.randrange(3):
            case 0:
                parts[at] = ""
            case 1:
                parts[at] *= 2
            case _:
                other = rng.randrange(len(parts))
                parts[at], parts[other] = parts[other], parts[at]
    return "".join(parts)


def numbers(text: str, rng: random.Random) -> str:
    places = list(re.finditer(r"\d+", text))
    for m in sorted(rng.sample(places, min(len(places), 3)), key=lambda m: -m.start()):
        text = text[: m.start()] + rng.choice((*_HUGE, str(int(m[0]) + 1))) + text[m.end() :]
    return text


def lines(text: str, rng: random.Random) -> str:
    rows = text.split("\n")
    for _ in range(min(len(rows) - 1, rng.choice((1, 3, 10)))):
        del rows[rng.randrange(len(rows))]
    return "\n".join(rows)


def octets(text: str, rng: random.Random) -> str:
    data = bytearray(text.encode())
    for _ in range(rng.choice((1, 5, 50))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return data.decode("latin-1")


MUTATIONS: tuple[Callable[[str, random.Random], str], ...] = (tokens, numbers, lines, octets)


def source_of(path: Path) -> WrapperSource:
    (source,) = load(str(path))
    assert isinstance(source, WrapperSource)
    return source


def check(source: WrapperSource, runtime: str = "auto", limit: float = LIMIT) -> FileReport:
    """The report; it must be one, and in time."""
    begin = time.process_time()
    (report,) = check_source(Task(source, (runtime,), {}), run_rules)
    assert time.process_time() - begin < limit
    assert report.error is None or "internal error" not in report.error, report.error
    assert report.error is None or "\n" not in report.error
    return report


def damaged(seed: int) -> tuple[str, WrapperSource]:
    """A wrapper, or the kernel file beside it, mutated."""
    rng = random.Random(seed)
    path = rng.choice(PATHS)
    mutation = rng.choice(MUTATIONS)
    source = source_of(path)
    label = f"seed {seed}: {path.parent.name}/{path.name} {mutation.__name__}"
    if source.kernels and rng.random() < 0.4:
        kernel = source.kernels[0]
        return label, replace(source, kernels=(replace(kernel, text=mutation(kernel.text, rng)),))
    text = mutation(source.wrapper.text, rng)
    return label, replace(source, wrapper=replace(source.wrapper, text=text))


def rounds(seeds: range) -> None:
    for seed in seeds:
        label, source = damaged(seed)
        try:
            check(source)
        except AssertionError as e:
            raise AssertionError(f"{label}: {e}") from e


def test_damaged_wrappers_get_a_report() -> None:
    rounds(range(24))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000 if EXPLORE else 1400, 100))
def test_many_damaged_wrappers_get_a_report(first: int) -> None:
    rounds(range(first, first + 100))


def test_text_that_ends_inside_the_body_is_no_analysis() -> None:
    """Cut anywhere between the first statement of the body and its last brace."""
    rng = random.Random(5)
    for path in PATHS[::4]:
        source = source_of(path)
        text = source.wrapper.text
        begin, end = (
            text.index("{", text.index("::run_impl(")) + 1,
            text.rindex("} // AOTInductorModel::run_impl"),
        )
        for at in (begin, end, rng.randrange(begin, end)):
            report = check(replace(source, wrapper=replace(source.wrapper, text=text[:at])))
            assert report.status == "failed" and "truncated" in str(report.error), f"{path.name} cut at {at}"


def test_raw_bytes_get_one_line(tmp_path: Path) -> None:
    rng = random.Random(9)
    good = PATHS[0].read_bytes()
    for i, name in enumerate(("a.wrapper.cpp", "b.pt2", "c.so", "d.py", "e.kernel.cpp", "f")):
        file = tmp_path / name
        file.write_bytes(rng.randbytes(3000) if i % 2 else good[:2000] + rng.randbytes(500) + good[2000:])
        for source in load(str(file)):
            (report,) = check_source(Task(source, ("auto",), {}), run_rules)
            assert report.error is None or ("internal error" not in report.error and "\n" not in report.error)


# -- sizes and shapes no generator writes ---------------------------------------------------------

CPP = 'extern "C"  void  cpp_fused_add_0(float* out_ptr0,\n                       const int64_t ks0)\n{{\n{body}\n}}\n'
PROTO = 'extern "C"  void  cpp_fused_add_0(float* out_ptr0, const int64_t ks0);\n'
CALL = "    cpp_fused_add_0((float*)(buf0.data_ptr()), {size});\n"
LOOP = """    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
    {{
        out_ptr0[static_cast<int64_t>({index})] = static_cast<float>(1.0);
    }}"""


def cpp(index: str, size: str = "8L", setup: str = "") -> WrapperSource:
    body = setup + empty("buf0", (8,), (1,), "cpu") + CALL.format(size=size)
    return wrapper("cpu", PROTO, [], body, kernel_file=CPP.format(body=LOOP.format(index=index)))


def test_the_plain_one_is_proved() -> None:
    assert check(cpp("x0")).counts.accesses == {"total": 1, "proved": 1, "fault": 0, "unknown": 0}


@pytest.mark.parametrize("index", ["(" * 5000 + "x0" + ")" * 5000, "x0" + " + 1L" * 5000, "-" * 3000 + "x0"])
def test_deep_expressions(index: str) -> None:
    """Read, or said to be not understood; never proved (the first one would be, and may)."""
    report = check(cpp(index))
    counts = report.counts.accesses
    if report.status == "analysed" and not index.startswith("("):
        assert not counts["proved"] or index.startswith("-")
        assert counts["total"] or report.findings, "nothing is said about the kernel"


@pytest.mark.parametrize("number", [2**31, 2**62, 2**63 - 1, 10**30])
def test_huge_numbers(number: int) -> None:
    for source in (cpp(f"x0 + {number}L"), cpp(f"{number}L*x0"), cpp("x0", f"{number}L")):
        report = check(source)
        assert report.status == "failed" or not report.counts.proved


@pytest.mark.parametrize("name", ["x0", "lane", "ks0", "out_ptr0", "buf0_size", "x1", "tmp0", "n"])
def test_a_size_named_like_something_else(name: str) -> None:
    """The size symbol ``name`` bounds the loop; the buffer holds that many elements, or one fewer."""
    for less, verdict in ((0, "proved"), (1, "fault")):
        body = (
            f"    auto arg0_1_size = arg0_1.sizes();\n    int64_t {name} = arg0_1_size[0];\n"
            + f"    const int64_t buf0_sizes[] = {{{name}{' + (-1L)' * less}, }};\n"
            + ints("buf0_strides", (1,))
            + empty("buf0", (8,), (1,), "cpu").split("\n", 2)[2]
            + CALL.format(size=name)
        )
        source = wrapper(
            "cpu", PROTO, [("arg0_1", (8,), (1,))], body, kernel_file=CPP.format(body=LOOP.format(index="x0"))
        )
        text = source.wrapper.text.replace('assert_size_stride(arg0_1, {8L}, {1L}, "input");', "")
        report = check(replace(source, wrapper=replace(source.wrapper, text=text)))
        counts = report.counts.accesses
        assert counts["total"] == 1 and counts[verdict] == 1, (
            verdict,
            counts,
            report.unknowns,
            report.findings,
        )


@pytest.mark.parametrize("number", [2**31, 2**63, 10**40])
def test_a_check_of_a_dimension_no_tensor_has(number: int) -> None:
    source = source_of(WRAPPERS / "cpu/add_dynamic.wrapper.cpp")
    text, replaced = re.subn(
        r"assert_size_stride\(arg\w+_1,.*",
        ";}",
        source.wrapper.text.replace("_size[0] <", f"_size[{number}] <"),
    )
    assert replaced and f"_size[{number}]" in text
    report = check(replace(source, wrapper=replace(source.wrapper, text=text)))
    assert report.status == "analysed"


def test_a_scalar_the_launch_does_not_give() -> None:
    """Which elements are touched is not known where a guard compares with an argument that is missing."""
    x, n = sym("x"), sym("n")
    space = (Var("x", const(8), "loop"),)
    for index, guard in ((x, compare("<", x, n)), (x + n, TRUE), (mod(x, n), TRUE)):
        assert elements(index, space, guard, {}) is None
        assert elements(index, space, guard, {"n": 8}) is not None


@pytest.mark.slow
def test_many_statements() -> None:
    """10^5 statements, 5*10^4 of them views."""
    head = empty("buf0", (8,), (1,), "cpu") + ints("s", (4,)) + ints("t", (1,))
    views = "".join(
        f"    auto v{i} = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 1, s, t, 2L));\n    v{i}.reset();\n"
        for i in range(50_000)
    )
    report = check(wrapper("cpu", "", [], head + views), limit=10 * LIMIT)
    assert report.status == "analysed" and report.counts.views == 50_000
    assert report.counts.unmodelled_statements == 0


def test_a_kernel_file_of_another_model_proves_nothing() -> None:
    source = cpp("x0")
    report = check(replace(source, kernels=(SourceText("other.kernel.cpp", "int main() {}\n"),)))
    assert report.counts.proved == 0 and report.unknowns
