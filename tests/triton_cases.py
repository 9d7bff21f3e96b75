"""Triton kernels in short: a body to a launcher, and every index an access reaches."""

from __future__ import annotations

import textwrap

import iterations
from aoti_lint.analyzer.kernels.triton.reader import TritonLauncher, find_launchers
from aoti_lint.analyzer.model.kernel import Access
from aoti_lint.analyzer.symbolic import evaluate

SIGNATURE = {
    "f": "*fp32",
    "h": "*fp16",
    "l": "*i64",
    "i": "*i32",
    "b": "*i1",
    "u": "*u8",
    "n": "i32",
    "N": "i64",
}
ONE_D = ("((xnumel + (16 - 1)) / (16))", "1", "1")


def wrapper(body: str, args: str, grid: tuple[str, str, str], **options: str) -> str:
    """A launcher as the generator writes it. ``args``: ``name:kind``, kinds as above, c for compile time."""
    pairs = [a.split(":") for a in args.split()]
    signature = ", ".join(f"'{n}': '{SIGNATURE.get(k, 'constexpr')}'" for n, k in pairs)
    arguments = ", ".join(n + (" : tl.constexpr" if k == "c" else "") for n, k in pairs)
    params = "".join(
        f"    const {n}_type_& {n},\n" if k in "fhlibu" else f"    int64_t {n},\n"
        for n, k in pairs
        if k != "c"
    ) + "".join(f"    int64_t {g},\n" for g in grid if g.startswith("_grid"))
    sizes = "".join(f"    uint32_t grid_{i} = {g};\n" for i, g in enumerate(grid))
    source = f"""
import triton
import triton.language as tl

@triton_heuristics.{options.get("heuristic", "pointwise")}(
    size_hints={options.get("hints", "{'x': 64}")},
    filename=__file__,
    triton_meta={{'signature': {{{signature}}}, 'device': DeviceProperties(type='cuda', index=0), 'constants': {{{options.get("constants", "")}}}, 'configs': [{{(0,): [['tt.divisibility', 16]]}}]}},
    inductor_meta={{'grid_type': '{options.get("grid_type", "Grid1D")}', 'kernel_name': 'triton_k_0'}},
)
@triton.jit
def triton_k_0({arguments}):
{textwrap.indent(textwrap.dedent(body).strip(chr(10)), "    ")}
{textwrap.dedent(options.get("helpers", ""))}"""
    return f"""template <typename kernels_type_>
static __attribute__((noinline)) void call_triton_k_0(
{params}    int32_t device_idx_,
    cudaStream_t stream_,
    kernels_type_& kernels_,
    const std::optional<std::string>& cubin_dir_ = std::nullopt
){{
    /*
    async_compile.triton('triton_k_0', '''{textwrap.indent(source, "    ")}
    ''', device_str='cuda')
    */
{sizes}    if (grid_0 == 0 || grid_1 == 0 || grid_2 == 0) return;
    if (kernels_.triton_k_0 == nullptr) {{
        kernels_.triton_k_0 = loadKernel("/path/c.cubin", "triton_k_0", 0, cubin_dir_);
    }}
    launchKernel(kernels_.triton_k_0, grid_0, grid_1, grid_2, 4, 0, kernel_args_, stream_);
}}
"""


def lower(body: str, args: str, grid: tuple[str, str, str] = ONE_D, **options: str) -> TritonLauncher:
    (launcher,) = find_launchers(wrapper(body, args, grid, **options), "w.cpp").values()
    assert launcher.reason is None and launcher.kernel.unmodelled == ()
    return launcher


def points(launcher: TritonLauncher, a: Access, **env: int) -> list[int]:
    """Every index an access reaches, in ascending order; the grid is the launcher's unless ``env`` gives one."""
    grid = {
        f"grid.{k}": evaluate(g, env) for k, g in enumerate(launcher.grid or ()) if f"grid.{k}" not in env
    }
    return sorted(iterations.points(a, **{**env, **grid}))


def accesses(launcher: TritonLauncher, param: str, kind: str | None = None) -> list[Access]:
    return [a for a in launcher.kernel.accesses if a.param == param and kind in (None, a.kind)]
