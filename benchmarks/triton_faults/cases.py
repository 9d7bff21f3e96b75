"""Faults of hand-written Triton kernels that were reported in public, and the same kernels without them.

Each is written anew in as few lines as show it, at the sizes that matter. ``bad`` goes out of bounds or computes an
index that wraps; ``ok`` is its twin, which does not. A case is what a wrapper of one launch needs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_TYPES = {"float32": "*fp32", "float16": "*fp16", "int32": "*i32", "int64": "*i64"}


@dataclass(frozen=True)
class Case:
    """``inputs`` and ``out``: element type and sizes; ``scalars``: int32 arguments; ``constants``: compile-time ones.

    ``codes``: any of these is the right answer to the bad one. ``runs``: small enough to be executed, and at fault
    whatever the inputs hold.
    """

    name: str
    source: str
    kernel: str
    inputs: Mapping[str, tuple[str, tuple[int, ...]]]
    out: tuple[str, tuple[int, ...]]
    scalars: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, int] = field(default_factory=dict)
    grid: tuple[int, int, int] = (1, 1, 1)
    codes: tuple[str, ...] = ("AL201", "AL202")
    runs: bool = True
    #: What differs in the twin: constants, scalars or the grid.
    twin: Mapping[str, object] = field(default_factory=dict)

    def ok(self) -> Case:
        """The same without the fault."""
        return replace(self, **self.twin)  # type: ignore[arg-type]


CASES: tuple[Case, ...] = (
    Case(
        "tail_without_a_mask", "a block of 1024 over 1000 elements, the first exercise of many tutorials",
        """
        i = tl.program_id(0) * B + tl.arange(0, B)
        if MASK:
            tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
        else:
            tl.store(out + i, tl.load(x + i) * 2)
        """,
        {"x": ("float32", (1000,))}, ("float32", (1000,)), {"n": 1000}, {"B": 1024, "MASK": 0},
        twin={"constants": {"B": 1024, "MASK": 1}},
    ),
    Case(
        "head_padded_to_a_power_of_two", "normalisation over heads of 80, read in blocks of 128",
        """
        r = tl.program_id(0)
        c = tl.arange(0, B)
        m = c < W
        v = tl.load(x + r * d + c, mask=m, other=0.0)
        tl.store(out + r * d + c, v * tl.load(w + c, mask=m, other=0.0), mask=c < d)
        """,
        {"x": ("float32", (4, 80)), "w": ("float32", (80,))}, ("float32", (4, 80)), {"d": 80},
        {"B": 128, "W": 128}, (4, 1, 1), twin={"constants": {"B": 128, "W": 80}},
    ),
    Case(
        "a_select_does_not_guard", "lengths from running totals: element -1 is loaded, then thrown away",
        """
        i = tl.arange(0, B)
        m = i < n
        before = tl.where(i == 0, 0, tl.load(x + i - 1, mask=m & (i >= FIRST)))
        tl.store(out + i, tl.load(x + i, mask=m) - before, mask=m)
        """,
        {"x": ("int32", (9,))}, ("int32", (9,)), {"n": 9}, {"B": 16, "FIRST": 0},
        twin={"constants": {"B": 16, "FIRST": 1}},
    ),
    Case(
        "more_bins_than_counters", "a histogram of bytes into 200 counters",
        """
        i = tl.program_id(0) * B + tl.arange(0, B)
        b = tl.load(x + i, mask=i < n, other=0) & 255
        tl.atomic_add(out + b, 1, mask=(i < n) & (b < LIMIT))
        """,
        {"x": ("int32", (1000,))}, ("int32", (200,)), {"n": 1000}, {"B": 256, "LIMIT": 256}, (4, 1, 1), runs=False,
        twin={"constants": {"B": 256, "LIMIT": 200}},
    ),
    Case(
        "one_block_too_many", "a loop that goes on while the counter equals the length",
        """
        total = tl.zeros([B], dtype=tl.float32)
        k = 0
        while k < end:
            total += tl.load(x + k + tl.arange(0, B))
            k += B
        tl.store(out + tl.arange(0, B), total)
        """,
        {"x": ("float32", (256,))}, ("float32", (64,)), {"end": 257}, {"B": 64}, twin={"scalars": {"end": 256}},
    ),
    Case(
        "rows_of_a_product_not_masked", "a matrix product of 20 rows in tiles of 16, columns and depth masked only",
        """
        r = tl.program_id(0) * BM + tl.arange(0, BM)
        c = tl.arange(0, BN)
        k = tl.arange(0, BK)
        rows = (r % rows_of_a) if WRAP else r
        pa = a + rows[:, None] * K + k[None, :]
        pb = b + k[:, None] * BN + c[None, :]
        acc = tl.zeros([BM, BN], dtype=tl.float32)
        for step in range(0, K, BK):
            acc += tl.dot(tl.load(pa, mask=k[None, :] < K - step, other=0.0), tl.load(pb, mask=k[:, None] < K - step, other=0.0))
            pa += BK
            pb += BK * BN
        tl.store(out + r[:, None] * BN + c[None, :], acc, mask=r[:, None] < rows_of_a)
        """,
        {"a": ("float32", (20, 40)), "b": ("float32", (40, 16))}, ("float32", (20, 16)), {"rows_of_a": 20},
        {"BM": 16, "BN": 16, "BK": 16, "K": 40, "WRAP": 0}, (2, 1, 1),
        twin={"constants": {"BM": 16, "BN": 16, "BK": 16, "K": 40, "WRAP": 1}},
    ),
    Case(
        "mask_of_another_length", "two inputs under the mask of the longer one",
        """
        i = tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < m), mask=i < n)
        """,
        {"x": ("float32", (30,)), "y": ("float32", (20,))}, ("float32", (30,)), {"n": 30, "m": 30}, {"B": 32},
        twin={"scalars": {"n": 30, "m": 20}},
    ),
    Case(
        "pointers_that_pass_the_last_row", "a running sum over the rows of a chunk; a head's stride counts all heads",
        """
        h = tl.program_id(0)
        c = tl.arange(0, B)
        p = x + h * stride + c
        q = out + h * stride + c
        total = tl.zeros([B], dtype=tl.float32)
        for _ in range(T):
            total += tl.load(p)
            tl.store(q, total)
            p += B
            q += B
        """,
        {"x": ("float32", (3, 8, 16))}, ("float32", (3, 8, 16)), {"stride": 3 * 8 * 16}, {"B": 16, "T": 8}, (3, 1, 1),
        twin={"scalars": {"stride": 8 * 16}},
    ),
    Case(
        "block_pointer_without_a_check", "the last tile of 100 rows, checked along the columns only",
        """
        p = tl.make_block_ptr(x, (rows, 48), (48, 1), (tl.program_id(0) * 32, 0), (32, 64), (1, 0))
        q = tl.make_block_ptr(out, (rows, 48), (48, 1), (tl.program_id(0) * 32, 0), (32, 64), (1, 0))
        if BOTH:
            tl.store(q, tl.load(p, boundary_check=(0, 1)), boundary_check=(0, 1))
        else:
            tl.store(q, tl.load(p, boundary_check=(1,)), boundary_check=(0, 1))
        """,
        {"x": ("float32", (100, 48))}, ("float32", (100, 48)), {"rows": 100}, {"BOTH": 0}, (4, 1, 1), runs=False,
        twin={"constants": {"BOTH": 1}},
    ),
    Case(
        "program_too_many", "one program more than there are rows",
        """
        r = tl.program_id(0)
        c = tl.arange(0, 16)
        tl.store(out + r * 16 + c, tl.load(x + r * 16 + c))
        """,
        {"x": ("float32", (7, 16))}, ("float32", (7, 16)), {}, {}, (8, 1, 1), twin={"grid": (7, 1, 1)},
    ),
    Case(
        "strides_of_the_transpose", "rows and columns of a matrix that is not square change places",
        """
        r = tl.arange(0, 8)
        c = tl.arange(0, 32)
        m = (r < 6)[:, None] & (c < 20)[None, :]
        tl.store(out + r[:, None] * 20 + c[None, :], tl.load(x + r[:, None] * s0 + c[None, :] * s1, mask=m), mask=m)
        """,
        {"x": ("float32", (6, 20))}, ("float32", (6, 20)), {"s0": 1, "s1": 20},
        twin={"scalars": {"s0": 20, "s1": 1}},
    ),
    Case(
        "rows_times_a_stride_in_32_bits", "triton-lang/triton issue 6748: a store of 65536 rows of 40000",
        """
        r = tl.program_id(0) * 128 + tl.arange(0, 128)
        if WIDE:
            r = r.to(tl.int64)
        c = tl.program_id(1) * 128 + tl.arange(0, 128)
        tl.store(out + r[:, None] * stride + c[None, :], 0.0, mask=c[None, :] < stride)
        """,
        {}, ("float16", (65536, 40000)), {"stride": 40000}, {"WIDE": 0}, (512, 313, 1), ("AL208",), runs=False,
        twin={"constants": {"WIDE": 1}},
    ),
    Case(
        "a_token_of_a_long_batch", "a row pointer moved by token times width, both of 32 bits",
        """
        t = tl.program_id(0)
        if WIDE:
            t = t.to(tl.int64)
        x += t * d
        tl.store(out + t, tl.sum(tl.load(x + tl.arange(0, 4096)), 0))
        """,
        {"x": ("float16", (600000, 4096))}, ("float32", (600000,)), {"d": 4096}, {"WIDE": 0}, (600000, 1, 1),
        ("AL208",), runs=False, twin={"constants": {"WIDE": 1}},
    ),
    Case(
        "base_of_a_block_in_32_bits", "flash-linear-attention: a block pointer whose base is a product of three",
        """
        b = tl.program_id(0) // 32
        h = tl.program_id(0) % 32
        first = tl.program_id(1) * 64
        if WIDE:
            b = b.to(tl.int64)
        p = tl.make_block_ptr(x + (b * T * 32 + h) * 128, (T, 128), (32 * 128, 1), (first, 0), (64, 128), (1, 0))
        q = tl.make_block_ptr(out + b * T * 32 + h, (T,), (32,), (first,), (64,), (0,))
        tl.store(q, tl.sum(tl.load(p, boundary_check=(0, 1)), 1), boundary_check=(0,))
        """,
        {"x": ("float16", (20, 32768, 32, 128))}, ("float32", (20, 32768, 32)), {"T": 32768}, {"WIDE": 0}, (640, 512, 1),
        ("AL208",), runs=False, twin={"constants": {"WIDE": 1}},
    ),
)  # fmt: skip


def wrapper(c: Case) -> str:
    """A wrapper that launches the kernel of a case once, as the generator writes one."""
    pointers = {**c.inputs, "out": c.out}
    kinds = {n: _TYPES[t] for n, (t, _) in pointers.items()} | dict.fromkeys(c.scalars, "i32")
    kinds |= dict.fromkeys(c.constants, "constexpr")
    head = ", ".join(n + (": tl.constexpr" if k == "constexpr" else "") for n, k in kinds.items())
    python = (
        "import triton\nimport triton.language as tl\n\n@triton_heuristics.user_autotune(\n    configs=[],\n"
        f"    inductor_meta={{'grid_type': 'FixedGrid', 'kernel_name': '{c.name}_0'}},\n"
        f"    triton_meta={{'signature': {kinds!r}, 'constants': {dict(c.constants)!r}, 'configs': []}},\n"
        f"    filename=__file__,\n    custom_kernel=True,\n)\n@triton.jit\ndef {c.name}({head}):\n"
        + textwrap.indent(textwrap.dedent(c.kernel).strip("\n"), "    ")
    )
    host = [f"const {n}_type_& {n}" for n in pointers] + [f"int64_t {n}" for n in c.scalars]
    vars_ = [
        f"CUdeviceptr var_{i} = reinterpret_cast<CUdeviceptr>({n}.data_ptr());"
        for i, n in enumerate(pointers)
    ]
    vars_ += [f"int32_t var_{i} = {n};" for i, n in enumerate(c.scalars, len(pointers))]
    sizes = [f"uint32_t grid_{k} = {g};" for k, g in enumerate(c.grid)]
    given = ", ".join(f"&var_{i}" for i in range(len(vars_)))
    launcher = "\n".join([
        f"static inline void call_{c.name}_0(", *(f"    {p}," for p in host),
        "    int32_t device_idx_,\n    cudaStream_t stream_,\n    kernels_type_& kernels_,",
        "    const std::optional<std::string>& cubin_dir_ = std::nullopt\n){", "    /*",
        f"    async_compile.triton('{c.name}', '''", textwrap.indent(python, "    "), "    ''', device_str='cuda')",
        "    */", *(f"    {s}" for s in sizes), *(f"    {v}" for v in vars_),
        f"    void* kernel_args_[] = {{{given}}};",
        f"    launchKernel(kernels_.{c.name}_0, grid_0, grid_1, grid_2, 4, 0, kernel_args_, stream_);\n}}",
    ])  # fmt: skip
    types = sorted({t for t, _ in pointers.values()})
    return "\n".join([
        "#include <torch/csrc/inductor/aoti_include/cuda.h>", *(f"CACHE_TORCH_DTYPE({t});" for t in types),
        "CACHE_TORCH_DEVICE(cuda);", "template <" + ", ".join(f"typename {n}_type_" for n in pointers)
        + ", typename kernels_type_>", launcher, "namespace torch::aot_inductor {", *_body(c), "} // namespace torch::aot_inductor", "",
    ])  # fmt: skip


def _body(c: Case) -> list[str]:
    def strides(sizes: tuple[int, ...]) -> list[int]:
        out, step = [], 1
        for n in reversed(sizes):
            out.append(step)
            step *= n
        return out[::-1]

    def longs(values: list[int]) -> str:
        return "{" + ", ".join(f"{v}L" for v in values) + "}"

    takes = [f"    auto {n} = std::move(inputs[{i}]);" for i, n in enumerate(c.inputs)]
    checks = [
        f'    assert_size_stride({n}, {longs(list(s))}, {longs(strides(s))}, "input");'
        for n, (_, s) in c.inputs.items()
    ]
    dtype, sizes = c.out
    given = ", ".join([*c.inputs, "buf0", *(f"{v}L" for v in c.scalars.values())])
    return [
        "void AOTInductorModel::run_impl(", "    AtenTensorHandle* input_handles,",
        "    AtenTensorHandle* output_handles,", "    DeviceStreamType stream,",
        "    AOTIProxyExecutorHandle proxy_executor", ") {",
        f"    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, {len(c.inputs)});", *takes,
        "    inputs.clear();",
        "    [[maybe_unused]] auto& kernels = static_cast<AOTInductorModelKernels&>(*this->kernels_.get());",
        *checks, f"    static constexpr int64_t int_array_0[] = {longs(list(sizes))};",
        f"    static constexpr int64_t int_array_1[] = {longs(strides(sizes))};",
        "    AtenTensorHandle buf0_handle;",
        f"    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided({len(sizes)}, int_array_0, int_array_1, "
        f"cached_torch_dtype_{dtype}, cached_torch_device_type_cuda, this->device_idx_, &buf0_handle));",
        "    RAIIAtenTensorHandle buf0(buf0_handle);",
        f"    call_{c.name}_0({given}, this->device_idx_, stream, kernels, this->cubin_dir_);",
        "    output_handles[0] = buf0.release();", "} // AOTInductorModel::run_impl",
    ]  # fmt: skip
