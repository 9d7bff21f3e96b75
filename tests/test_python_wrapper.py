"""Python wrappers: what their statements mean, what is known of inputs and sizes, and where things stand."""

from __future__ import annotations

from pathlib import Path

import aoti_lint
import pytest
from aoti_lint.analyzer.model.program import Alloc, Branch, Call, Launch, Loop, Output, Reset, View, nested
from aoti_lint.analyzer.symbolic import const, sym
from aoti_lint.analyzer.wrapper.errors import NotAWrapper
from aoti_lint.analyzer.wrapper.python.reader import read_python
from aoti_lint.rules.registry import run_rules
from python_cases import COPY, HEAD, analysis, codes, findings, program, verdicts, wrapper

FIXTURES = Path(__file__).parent.parent / "fixtures" / "python"


# -- the fixtures -------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", "cuda", "mps"])
def test_a_right_wrapper_is_proved(device: str) -> None:
    (report,) = aoti_lint.check(FIXTURES / f"{device}_ok.py").files
    assert (report.device, report.dialect) == (device, "python")
    assert report.runtime.startswith("libtorch@")
    assert report.findings == [] and report.unknowns == []
    assert (report.counts.proved, report.counts.launches, report.counts.unmodelled_statements) == (2, 1, 0)


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        # 8 columns are written where 7 were allocated: at s27=2 up to 15 of 14
        ("cpu", [("AL202", 49, 27), ("AL101", 54, 0), ("AL302", 57, 0)]),
        # without its mask a block of 128 reads 100 elements
        ("cuda", [("AL201", 63, 39)]),
        ("mps", [("AL201", 49, 28), ("AL202", 49, 29)]),
    ],
)
def test_what_is_wrong_is_found_where_it_stands(device: str, expected: list[tuple[str, int, int]]) -> None:
    (report,) = aoti_lint.check(FIXTURES / f"{device}_bad.py").files
    found = [
        (f.code, f.loc.line, max((r.loc.line for r in f.related if "ptr0[" in r.message), default=0))
        for f in report.findings
    ]
    assert found == expected
    assert all(f.severity == "error" for f in report.findings)


# -- statements ---------------------------------------------------------------------------------

START = """
    arg0_1, = args
    args.clear()
    assert_size_stride(arg0_1, (4, 8), (8, 1))
"""


def test_inputs_allocations_views_and_outputs() -> None:
    p = program(
        START
        + """
    buf0 = empty_strided_cpu((4, 8), (8, 1), torch.float32)
    copy(reinterpret_tensor(arg0_1, (2, 8), (8, 1), 16), buf0, 16)
    del arg0_1
    return (buf0, reinterpret_tensor(buf0, (8, ), (1, ), 24), None, )
    """,
        args="arg0_1 = rand_strided((4, 8), (8, 1), device='cpu', dtype=torch.float16)\nreturn [arg0_1]",
    )
    (f,) = p.functions
    (i,) = f.inputs
    assert (i.name, i.index, i.dtype) == ("arg0_1", 0, "float16")
    assert i.sizes == (const(4), const(8)) and i.strides == (const(8), const(1))
    assert [type(e).__name__ for e in f.events] == [
        "Assert", "Alloc", "View", "Launch", "Reset", "View", "Output", "Output",
    ]  # fmt: skip
    launch = next(e for e in f.events if isinstance(e, Launch))
    assert launch.kernel == "copy" and dict(launch.tensors)["out_ptr0"] == "buf0"
    assert dict(launch.scalars) == {"ks0": const(16)}
    assert [e.index for e in f.events if isinstance(e, Output)] == [0, 1]


def test_a_view_is_relative_to_its_base() -> None:
    call = (
        START
        + """
    buf0 = empty_strided_cpu((8, ), (1, ), torch.float32)
    buf1 = reinterpret_tensor(arg0_1, (16, ), (1, ), 16)
    copy(reinterpret_tensor(buf1, (8, ), (1, ), 8), buf0, %d)
    return (buf0, )
    """
    )
    # 32 elements, a view at 16, one at 8 in it: 8 are left
    assert verdicts(call % 8) == ["proved", "proved"]
    assert verdicts(call % 9) == ["fault", "fault"]


def test_a_name_ends_with_del_and_its_tensor_lives_on() -> None:
    kept = (
        START
        + """
    buf0 = empty_strided_cpu((4, 8), (8, 1), torch.float32)
    buf1 = buf0; del buf0
    copy(arg0_1, buf1, 32)
    buf2 = reinterpret_tensor(buf1, (32, ), (1, ), 0); del buf1  # reuse
    return (buf2, )
    """
    )
    assert codes(kept) == []
    for name, line in (("buf0", "copy(arg0_1, buf0, 32)"), ("buf1", "fill(buf1, 32)")):
        used = kept.replace("return (buf2, )", f"{line}\n    return (buf2, )")
        (f,) = [x for x in findings(used) if x.code == "AL302"]
        assert (f.tensor, f.severity) == (name, "error") and "was deleted" in f.message


def test_old_views_of_a_reused_buffer() -> None:
    call = (
        START
        + """
    buf0 = empty_strided_cpu((32, ), (1, ), torch.float32)
    fill(buf0, 32)
    buf1 = reinterpret_tensor(buf0, (16, ), (1, ), 0)
    buf2 = buf0; del buf0  # reuse
    copy(arg0_1, buf2, 32)
    buf3 = empty_strided_cpu((16, ), (1, ), torch.float32)
    %s
    return (buf2, buf3, )
    """
    )
    assert codes(call % "copy(buf1, buf3, 16)") == ["AL305"]
    assert codes(call % "copy(buf2, buf3, 16)") == []


def test_pools() -> None:
    call = (
        START
        + """
    pool0 = empty_strided_cpu((256, ), (1, ), torch.uint8)
    buf0 = alloc_from_pool(pool0, 0, torch.float32, (32, ), (1, ))
    buf1 = alloc_from_pool(pool0, %d, torch.float32, (32, ), (1, ))
    copy(arg0_1, buf0, 32)
    copy(buf0, buf1, 32)
    return (buf1, )
    """
    )
    assert codes(call % 128) == []
    assert codes(call % 132) == ["AL105", "AL202"]  # 132 + 128 = 260 bytes of 256


def test_ops_with_out_and_with_results() -> None:
    p = program(
        START
        + """
    buf0 = torch.ops.aten.sort.stable(arg0_1, stable=False, dim=1, descending=False)
    buf1 = buf0[0]
    assert_size_stride(buf1, (4, 8), (8, 1))
    buf2 = buf0[1]
    assert_tensor_metadata(buf2, (4, 8), (8, 1), torch.int64, 'torch.ops.aten.sort.stable')
    del buf0
    buf3 = empty_strided_cpu((4, 4), (4, 1), torch.float32)
    extern_kernels.mm(buf1, reinterpret_tensor(buf1, (8, 4), (1, 8), 0), out=buf3)
    aten.scatter_reduce_.two(buf3, 1, buf2, buf1, reduce='amax', include_self=True)
    buf4 = torch.ops.mine.thing.default(buf3)
    assert_size_stride(buf4, (3, ), (1, ))
    return (buf3, buf4, )
    """
    )
    made = [e for e in p.functions[0].events if isinstance(e, Call)]
    assert [(e.op, e.results) for e in made] == [
        ("aten.sort.stable", ("buf1", "buf2")), ("extern_kernels.mm", ()), ("aten.scatter_reduce_.two", ()),
        ("mine.thing.default", ("buf4",)),
    ]  # fmt: skip
    assert [None if e.writes is None else e.writes.positions for e in made] == [(), (0,), (0,), None]


def test_what_an_op_writes_whole_is_not_read() -> None:
    call = (
        START
        + """
    buf0 = empty_strided_cpu((4, 4), (4, 1), torch.float32)
    %s
    return (buf0, )
    """
    )
    mm = "extern_kernels.mm(arg0_1, reinterpret_tensor(arg0_1, (8, 4), (1, 8), 0), out=buf0)"
    assert codes(call % mm) == []
    assert codes(call % "aten.scatter_reduce_.two(buf0, 1, arg0_1, arg0_1, reduce='amax')") == ["AL205"]
    assert codes(call % "fill(buf0, 15)") == ["AL210"]


# -- sizes --------------------------------------------------------------------------------------

SIZED = """
    arg0_1, arg1_1 = args
    args.clear()
    s5 = arg0_1
    assert_size_stride(arg1_1, (s5, 8), (8, 1))
    buf0 = empty_strided_cpu((s5, %s), (%s, 1), torch.float32)
    copy(arg1_1, buf0, %s)
    return (buf0, )
"""
SIZED_ARGS = """
    arg0_1 = 10
    arg1_1 = rand_strided((10, 8), (8, 1), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1]
"""


def test_an_integer_input_is_a_symbol() -> None:
    p = program(SIZED % (8, 8, "8*s5"), args=SIZED_ARGS)
    assert [(s.name, s.lo, s.hi) for s in p.symbols] == [("s5", 2, None)]
    assert p.example == (("s5", 10),)
    assert [i.name for i in p.functions[0].inputs] == ["arg1_1"]
    assert verdicts(SIZED % (8, 8, "8*s5"), args=SIZED_ARGS) == ["proved", "proved"]


@pytest.mark.parametrize(
    ("numel", "found"),
    [
        ("8*s5 + 1", [("AL201", "error"), ("AL202", "error")]),  # at every size
        ("9*max(s5, 70) - 70", [("AL201", "warning"), ("AL202", "warning")]),  # at 10: 560 of 80
        ("max(8*s5, 40)", [("AL201", "warning"), ("AL202", "warning")]),  # at 10: 80 of 80
        ("min(8*s5, 40)", []),
    ],
)
def test_a_fault_at_sizes_the_file_was_not_made_for_is_a_warning(
    tmp_path: Path, numel: str, found: list[tuple[str, str]]
) -> None:
    if "70" in numel:
        found = [(code, "error") for code, _ in found]
    path = tmp_path / "w.py"
    path.write_text(wrapper(SIZED % (8, 8, numel), args=SIZED_ARGS))
    (report,) = aoti_lint.check(path).files
    got = [(f.code, f.severity) for f in report.findings if f.code in ("AL201", "AL202")]
    assert got == found
    for f in report.findings:
        assert ("guard" in f.message) == (f.severity == "warning" and f.code in ("AL201", "AL202"))


def test_sizes_that_are_asked_for_are_meant(tmp_path: Path) -> None:
    path = tmp_path / "w.py"
    path.write_text(wrapper(SIZED % (8, 8, "max(8*s5, 40)"), args=SIZED_ARGS))
    (report,) = aoti_lint.check(path, sizes={"s5": (3, 3)}).files
    assert [f.severity for f in report.findings if f.code == "AL201"] == ["error"]


def test_sizes_read_from_inputs() -> None:
    call = """
    arg0_1, arg1_1 = args
    args.clear()
    arg0_1_size = arg0_1.size()
    s7 = arg0_1_size[0]
    s9 = arg1_1.size()[1]
    ps0 = 2*s7
    assert_size_stride(arg0_1, (s7, 2), (2, 1))
    buf0 = empty_strided_cpu((s7, 2), (2, 1), torch.float32)
    copy(arg0_1, buf0, ps0)
    return (buf0, )
    """
    assert verdicts(call) == ["proved", "proved"]
    assert {s.name for s in program(call).symbols} == {"s7", "s9"}


def test_a_size_from_data_is_bounded_by_what_is_checked() -> None:
    call = (
        START
        + """
    u0 = arg0_1.item()
    %s
    buf0 = empty_strided_cpu((32, ), (1, ), torch.float32)
    copy(arg0_1, buf0, u0)
    return (buf0, )
    """
    )
    checked = "if not (u0 >= 0):\n        raise RuntimeError('u0')\n    if not (u0 <= 32):\n        raise RuntimeError('u0')"
    assert verdicts(call % checked) == ["proved", "proved"]
    assert "proved" not in verdicts(call % "pass")


def test_an_input_that_is_not_asserted_before_its_use_is_unknown() -> None:
    call = """
    arg0_1, = args
    args.clear()
    %s
    buf0 = empty_strided_cpu((8, ), (1, ), torch.float32)
    copy(arg0_1, buf0, 8)
    %s
    return (buf0, )
    """
    stated = "assert_size_stride(arg0_1, (8, ), (1, ))"
    assert verdicts(call % (stated, "pass")) == ["proved", "proved"]
    assert verdicts(call % ("pass", stated)) == ["unknown", "proved"]
    assert verdicts(call % ("pass", "pass")) == ["unknown", "proved"]


# -- functions, branches, loops -----------------------------------------------------------------

PARTITION = """
def partition_0(args):
    arg0_1, buf0 = args
    args.clear()
    copy(arg0_1, buf0, 32)
    buf1 = empty_strided_cpu((4, 8), (8, 1), torch.float32)
    copy(buf0, buf1, %d)
    del arg0_1
    return (buf1, buf0, )
"""
CALLS = (
    START
    + """
    buf0 = empty_strided_cpu((4, 8), (8, 1), torch.float32)
    partition0_args = [arg0_1, buf0]
    del arg0_1, buf0
    (buf0, buf1) = self.partitions[0](partition0_args)
    del partition0_args
    return (buf0, buf1, )
"""
)


def test_partitions_are_read_where_they_are_called() -> None:
    more = {"functions": PARTITION % 32, "partitions": "partition_0"}
    assert verdicts(CALLS, **more) == ["proved"] * 4
    assert codes(CALLS, **more) == []
    # the names in the function are its own: `buf0` there is not the one deleted here
    outputs = [e for e in program(CALLS, **more).functions[0].events if isinstance(e, Output)]
    assert len(outputs) == 2
    assert codes(CALLS, functions=PARTITION % 33, partitions="partition_0") == ["AL201", "AL202"]


def test_a_graph_that_nothing_calls_is_one_of_its_own() -> None:
    a = analysis(START + "    return (arg0_1, )", functions=PARTITION % 33)
    assert [b.name for b in a.bodies] == ["call", "partition_0"]
    assert [v.decision.status for v in a.verdicts] == ["unknown", "unknown", "unknown", "fault"]


def test_branches_keep_what_either_arm_does() -> None:
    functions = """
def true_graph_0(args):
    arg0_1, = args
    args.clear()
    true_buf0 = empty_strided_cpu((32, ), (1, ), torch.float32)
    copy(arg0_1, true_buf0, 32)
    return (true_buf0, )
def false_graph_0(args):
    arg0_1, = args
    args.clear()
    false_buf0 = empty_strided_cpu((%d, ), (1, ), torch.float32)
    copy(arg0_1, false_buf0, %d)
    return (false_buf0, )
"""
    call = (
        START
        + """
    buf0 = [None] * 1
    if arg0_1.item():
        true_graph_0_args = [arg0_1,]
        del arg0_1
        buf0 = true_graph_0(true_graph_0_args)
    else:
        false_graph_0_args = [arg0_1,]
        buf0 = false_graph_0(false_graph_0_args)
    buf1 = buf0[0]
    del buf0
    buf2 = empty_strided_cpu((32, ), (1, ), torch.float32)
    copy(buf1, buf2, 32)
    return (buf1, buf2, )
    """
    )
    p = program(call, functions=functions % (32, 32))
    assert any(isinstance(e, Branch) for e in p.functions[0].events)
    assert verdicts(call, functions=functions % (32, 32)) == ["proved"] * 6
    # the arms differ: what holds after them is not known
    assert verdicts(call, functions=functions % (16, 16)) == ["proved"] * 4 + ["unknown", "proved"]


def test_loops() -> None:
    functions = """
def body_0(args):
    arg0_1, = args
    args.clear()
    body_buf0 = empty_strided_cpu((4, 8), (8, 1), torch.float32)
    copy(arg0_1, body_buf0, 32)
    return (body_buf0, )
"""
    call = (
        START
        + """
    buf0 = [None] * 1
    buf0[0] = arg0_1
    should_loop = arg0_1
    while should_loop:
        body_args = [buf0[0]]
        (buf0[0], ) = body_0(body_args)
        should_loop = arg0_1
    buf1 = buf0[0]
    return (buf1, )
    """
    )
    p = program(call, functions=functions)
    assert any(isinstance(e, Loop) for e in p.functions[0].events)
    assert set(verdicts(call, functions=functions)) == {"proved"}


# -- what is not understood ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "buf0.resize_(4)",
        "buf0.set_(arg0_1)",
        "for i in range(3): buf0 = arg0_1",
        "buf0, *rest = strange(buf0)",
        "buf0 = strange(buf0)",
        "exec('buf0 = 1', globals())  # buf0",
        "strange(buf0)",
        "buf0 = lambda: 1",
        "[x for x in (buf0, )]",
    ],
)
def test_a_statement_that_is_not_understood_forgets_what_it_mentions(statement: str) -> None:
    call = (
        START
        + f"""
    buf0 = empty_strided_cpu((32, ), (1, ), torch.float32)
    {statement}
    copy(arg0_1, buf0, 32)
    return (buf0, )
    """
    )
    a = analysis(call)
    assert [u.line for u in a.unknowns if "copy" not in u.what], "it is counted"
    mentions_buf0 = "buf0" in statement.partition("#")[0]
    written = [v.decision.status for v in a.verdicts if v.param.name == "out_ptr0"]
    assert written == (["unknown"] if mentions_buf0 else ["proved"])


def test_a_local_name_hides_the_function_of_that_name() -> None:
    call = (
        START
        + """
    %s
    buf0 = reinterpret_tensor(arg0_1, (64, ), (1, ), 0)
    return (buf0, )
    """
    )
    assert codes(call % "pass") == ["AL101"]
    assert codes(call % "reinterpret_tensor = make()") == []
    assert codes(call % "pass", functions="def reinterpret_tensor(*args):\n    return args[0]\n") == []
    assert codes(call % "pass", functions="reinterpret_tensor = print\n") == []


def test_the_last_definition_of_a_kernel_counts() -> None:
    smaller = COPY.replace("x0<ks0", "x0<8L")
    call = (
        START
        + """
    buf0 = empty_strided_cpu((8, ), (1, ), torch.float32)
    copy(arg0_1, buf0, 32)
    return (buf0, )
    """
    )
    assert verdicts(call, kernels=COPY + smaller) == ["proved", "proved"]
    assert "fault" in verdicts(call, kernels=smaller + COPY)
    commented = "".join(f"# {line}\n" for line in smaller.splitlines())
    assert "fault" in verdicts(call, kernels=COPY + commented)


def test_nothing_is_executed_or_imported(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    evil = f"import no_such_module_of_mine\nopen({str(mark)!r}, 'w').write('x')\n"
    call = START + f"    exec(\"open({str(mark)!r}, 'w')\")\n    return (arg0_1, )"
    program(call, functions=evil)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "def call(args):\n    return (\n", "not valid Python"),
        (HEAD + "call = 3\nasync_compile\n", "no function call"),
        (HEAD + "def call(args):\n    return " + "(" * 500 + ")" * 500, "nested too deeply|too many nested"),
        (HEAD + "def call(args):\n    return " + "-" * 100_000 + "1\n", "nested too deeply"),
        (HEAD + "def call(args):\n\x00", "null|not valid Python"),
    ],
)
def test_what_can_not_be_read_is_one_line(text: str, message: str) -> None:
    with pytest.raises(NotAWrapper, match=message) as e:
        read_python(text, "w.py")
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    "line",
    ["buf{0} = empty_strided_cpu((4, ), (1, ), torch.float32)", "buf{0} = torch.ops.aten.sort.default(arg0_1)",
     "del arg0_1", "x = [None] * 1000", "s{0} = s{0} + 1"],
)  # fmt: skip
def test_many_statements_cost_what_they_are(line: str) -> None:
    import time

    def cost(n: int) -> float:
        text = wrapper("arg0_1, = args\n" + "\n".join(line.format(i) for i in range(n)))
        start = time.process_time()
        read_python(text, "w.py")
        return time.process_time() - start

    few, many = (min(cost(n) for _ in range(3)) for n in (1000, 8000))
    assert many < 24 * max(few, 0.02)  # eight times the statements; 64 times if each looked at all others


# -- kernels in strings -------------------------------------------------------------------------


def test_lines_of_a_kernel_whose_string_has_escapes() -> None:
    kernels = (
        "pad = async_compile.cpp_pybinding(['float*'], '''\n"
        'extern "C"  void  kernel(float* out_ptr0)\\n{\\\n'
        "\n"
        "    // \\'\\'\\' \\x41\n"
        "    out_ptr0[5] = 1;\n"
        "}\n"
        "''')\n"
    )
    text = wrapper(
        "buf0 = empty_strided_cpu((4, ), (1, ), torch.float32)\npad(buf0)\nreturn (buf0, )", kernels=kernels
    )
    p = read_python(text, "w.py")
    (access,) = p.kernels["pad"].accesses
    assert text.split("\n")[access.loc.line - 1].strip() == "out_ptr0[5] = 1;"


def test_a_source_that_is_no_literal_is_unknown() -> None:
    kernels = "copy = async_compile.cpp_pybinding(['float*'], make())\n"
    a = analysis(START + "    copy(arg0_1)\n    return (arg0_1, )", kernels=kernels)
    assert {f.code for f in run_rules(a)} == {"AL902"}


def test_arguments_that_do_not_fit_the_kernel() -> None:
    call = START + "    copy(arg0_1, 32)\n    return (arg0_1, )"
    assert "2 arguments for 3 parameters" in [u.reason for u in analysis(call).unknowns]


TRITON = """
k = async_compile.triton('k', '''
import triton
import triton.language as tl
@triton_heuristics.{heuristic}(
    size_hints={hints},
    filename=__file__,
    triton_meta={{'signature': {{'out_ptr0': '*fp32', {numels}, {blocks}}}, 'constants': {constants}, 'configs': []}},
    inductor_meta={{'kernel_name': 'k', {meta}}},
)
@triton.jit
def k(out_ptr0, {params}, {annotated}):
    {body}
''', device_str='cuda')
"""


def triton(
    body: str, meta: str, numels: tuple[str, ...], blocks: tuple[str, ...], hints: str, **more: str
) -> str:
    return TRITON.format(
        body="\n    ".join(body.splitlines()), meta=meta, hints=hints,
        heuristic=more.get("heuristic", "pointwise"), constants=more.get("constants", "{}"),
        numels=", ".join(f"'{n}': '{more.get(n, 'i32')}'" for n in numels), params=", ".join(numels),
        blocks=", ".join(f"'{b}': 'constexpr'" for b in blocks),
        annotated=", ".join(f"{b} : tl.constexpr" for b in blocks),
    )  # fmt: skip


X = "xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]\nxmask = xindex < xnumel\n"
STORE = "tl.store(out_ptr0 + (xindex), 1.0, xmask)"


def stores(kernels: str, call: str, size: int) -> list[str]:
    body = f"buf0 = empty_strided_cuda(({size}, ), (1, ), torch.float32)\n{call}\nreturn (buf0, )"
    return verdicts(body, kernels=kernels)


def test_grid_of_one_dimension() -> None:
    k = triton(X + STORE, "'grid_type': 'Grid1D'", ("xnumel",), ("XBLOCK",), "{'x': 128}")
    assert stores(k, "k.run(buf0, 100, stream=stream0)", 100) == ["proved"]
    assert stores(k, "k.run(buf0, 101, stream=stream0)", 100) == ["fault"]


def test_a_numel_of_one_is_given_though_it_is_a_constant() -> None:
    k = triton(
        X + STORE, "'grid_type': 'Grid1D'", ("xnumel",), ("XBLOCK",), "{'x': 1}", xnumel="constexpr",
        constants="{'xnumel': 1}",
    )  # fmt: skip
    assert stores(k, "k.run(buf0, 1, stream=stream0)", 1) == ["proved"]


def test_grid_of_two_dimensions_and_what_does_not_fit_the_second() -> None:
    body = (
        "yindex = (tl.program_id(1) + tl.program_id(2) * tl.num_programs(1)) * YBLOCK + tl.arange(0, YBLOCK)[:, None]\n"
        "ymask = yindex < ynumel\n"
        "xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[None, :]\nxmask = xindex < xnumel\n"
        "tl.store(out_ptr0 + (xindex + 4*yindex), 1.0, xmask & ymask)"
    )
    k = triton(
        body,
        "'grid_type': 'Grid2DWithYZOverflow'",
        ("ynumel", "xnumel"),
        ("YBLOCK", "XBLOCK"),
        "{'y': 32, 'x': 4}",
    )
    assert stores(k, "k.run(buf0, 25, 4, stream=stream0)", 100) == ["proved"]
    assert stores(k, "k.run(buf0, 26, 4, stream=stream0)", 100) == ["fault"]


def test_a_fixed_grid_is_given_by_the_launch() -> None:
    body = "tl.store(out_ptr0 + tl.program_id(0) + 10*tl.program_id(1), 1.0)"
    meta = (
        "'grid_type': 'FixedGrid', 'fixed_grid': ['_grid_0', '_grid_1', '_grid_2'], "
        "'extra_launcher_args': ['_grid_0', '_grid_1', '_grid_2']"
    )
    k = triton(body, meta, ("ks0",), (), "{}", heuristic="template").replace(", }}", "}}").replace(", )", ")")
    assert stores(k, "k.run(buf0, 7, 10, 3, 1, stream=stream0)", 30) == ["proved"]
    assert stores(k, "k.run(buf0, 7, 10, 4, 1, stream=stream0)", 30) == ["fault"]


def test_the_grid_of_older_versions_stands_in_the_launch() -> None:
    k = triton(X + STORE, "'no_x_dim': False", ("xnumel",), ("XBLOCK",), "[128]")
    assert stores(k, "k.run(buf0, 100, grid=grid(100), stream=stream0)", 100) == ["proved"]
    # a grid of 300 elements has more blocks; the mask still cuts them off
    assert stores(k, "k.run(buf0, 100, grid=grid(300), stream=stream0)", 100) == ["proved"]
    unmasked = triton(
        X + STORE.replace(", xmask", ""), "'no_x_dim': False", ("xnumel",), ("XBLOCK",), "[128]"
    )
    assert stores(unmasked, "k.run(buf0, 128, grid=grid(300), stream=stream0)", 128) != ["proved"]


def test_a_grid_that_is_not_stated_is_unknown() -> None:
    k = triton(X + STORE, "'grid_type': 'SomethingNew'", ("xnumel",), ("XBLOCK",), "{'x': 128}")
    assert stores(k, "k.run(buf0, 100, stream=stream0)", 100) == ["unknown"]


def test_one_of_several_kernels_runs() -> None:
    small = triton(X + STORE, "'grid_type': 'Grid1D'", ("xnumel",), ("XBLOCK",), "{'x': 128}")
    large = small.replace("'k'", "'k2'").replace("\nk = ", "\nk2 = ").replace("(xindex)", "(xindex + 1)")
    several = small + large + "m = async_compile.multi_kernel('m', [k, k2])\n"
    assert sorted(stores(several, "m.run(buf0, 100, stream=stream0)", 100)) == ["fault", "proved"]


def test_a_number_from_data_leaves_open_only_what_depends_on_it() -> None:
    k = triton(
        X + "tl.store(out_ptr0 + (xindex), ks0 + 0.0, xmask)\ntl.store(out_ptr0 + (ks0), 1.0)",
        "'grid_type': 'Grid1D'", ("ks0", "xnumel"), ("XBLOCK",), "{'x': 128}",
    )  # fmt: skip
    call = "buf1 = empty_strided_cuda((), (), torch.int64)\nk.run(buf0, buf1.item(), 100, stream=stream0)"
    assert stores(k, call, 100) == ["proved", "unknown"]


def test_metal_launch_with_the_error_buffer_in_between() -> None:
    kernels = """
g = async_compile.metal('g', '''
    kernel void g(device float* out_ptr0, device c10::metal::ErrorMessages* error_buf, constant long& ks0,
        uint xindex [[thread_position_in_grid]]) {
        out_ptr0[xindex + ks0] = 1.0;
    }
''', ['error'])
"""
    call = """
    buf0 = empty_strided((10, ), (1, ), device='mps', dtype=torch.float32)
    g(buf0, %d, threads=[6], error_buf_idx=1)
    return (buf0, )
    """
    assert verdicts(call % 4, kernels=kernels) == ["proved"]
    assert verdicts(call % 5, kernels=kernels) == ["fault"]
    assert program(call % 4, kernels=kernels).device == "mps"
    assert sym("ks0") not in program(call % 4, kernels=kernels).symbols


def test_events_of_a_whole_body_are_in_order() -> None:
    p = program(
        START
        + "    buf0 = empty_strided_cpu((4, ), (1, ), torch.float32)\n    del buf0\n    return (arg0_1, )"
    )
    kinds = [type(e) for e in nested(p.functions[0].events)]
    assert kinds.index(Alloc) < kinds.index(Reset) and View not in kinds
