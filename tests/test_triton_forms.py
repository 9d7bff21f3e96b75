"""Triton kernels with control flow: combined kernels, templates, loops over pointers, split reductions.

Each expected set of indices comes from plain loops that do what the kernel says.
"""

from __future__ import annotations

import textwrap

from aoti_lint.analyzer.kernels.triton.reader import TritonLauncher, find_launchers
from triton_cases import points


def lower(
    body: str, params: str, grid: str, meta: str = "", helpers: str = "", config: str = ""
) -> TritonLauncher:
    """``params``: ``*fp32 x_ptr, i32 n``; ``grid``: three host expressions separated by ``;``."""
    pairs = [p.split() for p in params.split(",")]
    signature = ", ".join(f"'{n}': '{k}'" for k, n in pairs)
    arguments = ", ".join(n + (": tl.constexpr" if k == "constexpr" else "") for k, n in pairs)
    host = [f"const {n}_type_& {n}" if k[0] == "*" else f"int64_t {n}" for k, n in pairs if k != "constexpr"]
    sizes = "".join(f"    uint32_t grid_{i} = {g.strip()};\n" for i, g in enumerate(grid.split(";")))
    source = f"""
@triton_heuristics.user_autotune(
    configs=[{config}],
    inductor_meta={{'kernel_name': 'k_0'{meta}}},
    triton_meta={{'signature': {{{signature}}}, 'constants': {{}}}},
)
@triton.jit
def k({arguments}):
{textwrap.indent(textwrap.dedent(body).strip(chr(10)), "    ")}
{textwrap.dedent(helpers)}"""
    text = (
        f"static inline void call_k_0(\n    {', '.join(host)},\n    int32_t device_idx_\n){{\n    /*\n"
        f"    async_compile.triton('k', '''{textwrap.indent(source, '    ')}\n    ''')\n    */\n{sizes}"
        "    launchKernel(kernels_.k_0, grid_0, grid_1, grid_2, 4, 0, kernel_args_, stream_);\n}\n"
    )
    (launcher,) = find_launchers(text, "w.cpp").values()
    assert launcher.reason is None and launcher.kernel.unmodelled == ()
    return launcher


def test_a_combined_kernel_gives_each_part_its_programs() -> None:
    body = """
        pid = tl.program_id(0)
        XBLOCK: tl.constexpr = 16
        num_xblocks_0 = tl.cdiv(xnumel_0, XBLOCK)
        num_xblocks_1 = num_xblocks_0 + tl.cdiv(xnumel_1, XBLOCK)
        if pid < num_xblocks_0:
            pid_offset = pid
            xindex = pid_offset * XBLOCK + tl.arange(0, XBLOCK)[:]
            xmask = xindex < xnumel_0
            tl.store(out_ptr0 + (xindex), 1.0, xmask)
        elif pid < num_xblocks_1:
            pid_offset = pid - num_xblocks_0
            xindex = pid_offset * XBLOCK + tl.arange(0, XBLOCK)[:]
            xmask = xindex < xnumel_1
            tl.store(out_ptr1 + ((xindex % 5) + 8*(xindex // 5)), 1.0, xmask)
        else:
            pass
    """
    grid = "((xnumel_0 + (16 - 1)) / (16)) + ((xnumel_1 + (16 - 1)) / (16)); 1; 1"
    k = lower(body, "*fp32 out_ptr0, *fp32 out_ptr1, i32 xnumel_0, i32 xnumel_1", grid)
    first, second = k.kernel.accesses
    assert points(k, first, xnumel_0=37, xnumel_1=23) == list(range(37))
    assert points(k, second, xnumel_0=37, xnumel_1=23) == sorted(x % 5 + 8 * (x // 5) for x in range(23))


def test_a_combined_kernel_that_deals_programs_out_in_turn() -> None:
    body = """
        pid = tl.program_id(0)
        XBLOCK: tl.constexpr = 8
        if pid % 2 == 0:
            pid_offset = pid // 2
            xindex = pid_offset * XBLOCK + tl.arange(0, XBLOCK)[:]
            tl.store(out_ptr0 + (xindex), 1.0, xindex < 20)
        elif pid % 2 == 1:
            pid_offset = pid // 2
            xindex = pid_offset * XBLOCK + tl.arange(0, XBLOCK)[:]
            tl.store(out_ptr1 + (xindex), 1.0, xindex < 13)
    """
    k = lower(body, "*fp32 out_ptr0, *fp32 out_ptr1", "6; 1; 1")
    first, second = k.kernel.accesses
    assert points(k, first) == list(range(20)) and points(k, second) == list(range(13))


def test_a_matrix_product_template() -> None:
    body = """
        BLOCK_M : tl.constexpr = 8
        BLOCK_N : tl.constexpr = 4
        BLOCK_K : tl.constexpr = 8
        GROUP_M : tl.constexpr = 2
        A = arg_A
        B = arg_B
        M = 20
        N = 10
        K = 12
        if M * N == 0:
            return
        pid = tl.program_id(0)
        grid_m = (M + BLOCK_M - 1) // BLOCK_M
        grid_n = (N + BLOCK_N - 1) // BLOCK_N
        width = GROUP_M * grid_n
        group_id = pid // width
        group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
        pid_m = group_id * GROUP_M + (pid % group_size)
        pid_n = (pid % width) // (group_size)
        rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
        rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        offs_a_m = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
        offs_k = tl.arange(0, BLOCK_K)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k_idx in range(0, tl.cdiv(K, BLOCK_K)):
            a_k = offs_k[None, :] + (k_idx * BLOCK_K)
            a_mask = offs_k[None, :] < (K - k_idx * BLOCK_K)
            a = tl.load(A + (a_k + 12*offs_a_m[:, None]), mask=a_mask, other=0.0)
            b_k = offs_k[:, None] + (k_idx * BLOCK_K)
            b = tl.load(B + (10*b_k + rn[None, :]), mask=(b_k < K) & (rn[None, :] < N), other=0.0)
            acc += tl.dot(a, b)
        idx_m = rm[:, None]
        idx_n = rn[None, :]
        mask = (idx_m < M) & (idx_n < N)
        xindex = idx_n + 10*idx_m
        tl.store(out_ptr0 + (tl.broadcast_to(xindex, acc.shape)), acc, mask)
    """
    k = lower(body, "*fp32 arg_A, *fp32 arg_B, *fp32 out_ptr0", "9; 1; 1")
    a, b, out = k.kernel.accesses
    assert set(points(k, a)) == set(range(240)) and set(points(k, b)) == set(range(120))
    tiles = []  # rows and columns of every program
    for pid in range(9):
        group = pid // 6
        size = min(3 - group * 2, 2)
        tiles.append((group * 2 + pid % size, (pid % 6) // size))
    stored = [
        10 * (8 * m + i) + 4 * n + j
        for m, n in tiles
        for i in range(8)
        for j in range(4)
        if 8 * m + i < 20 and 4 * n + j < 10
    ]
    assert points(k, out) == sorted(stored)
    assert out.value_vars is not None and {v.name for v in out.vars} == {"pid0", *out.value_vars}


def test_pointers_that_move_in_a_loop() -> None:
    body = """
        offs_m = tl.arange(0, 4)
        offs_k = tl.arange(0, 8)
        a_ptrs = a_ptr + offs_m[:, None] * stride + offs_k[None, :]
        acc = tl.zeros((4, 8), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, 8)):
            acc += tl.load(a_ptrs, mask=offs_k[None, :] < K - k * 8, other=0.0)
            a_ptrs += 8
        tl.store(a_ptrs, acc)
    """
    k = lower(body, "*fp32 a_ptr, i32 K, i32 stride", "1; 1; 1")
    load, after = k.kernel.accesses
    assert points(k, load, K=19, stride=30) == sorted(30 * m + c for m in range(4) for c in range(19))
    assert points(k, after, K=19, stride=30) == sorted(30 * m + c + 24 for m in range(4) for c in range(8))
    assert load.index_bits == 64  # offsets that are added to an address do not meet in 32 bits


def test_a_while_loop_and_an_early_return() -> None:
    body = """
        pid = tl.program_id(0)
        if pid >= rows:
            return
        i = 0
        while i < n:
            off = i + tl.arange(0, 8)
            v = tl.load(x_ptr + pid * n + off, mask=off < n)
            tl.store(o_ptr + pid * n + off, v, mask=off < n)
            i += 8
    """
    k = lower(body, "*fp32 x_ptr, *fp32 o_ptr, i32 n, i32 rows", "_grid_0; 1; 1")
    load, store = k.kernel.accesses
    for a in (load, store):
        assert points(k, a, n=11, rows=3, **{"grid.0": 5}) == list(range(33))


def test_programs_that_take_several_tiles() -> None:
    body = """
        pid = tl.program_id(0)
        for tile in range(pid, tl.cdiv(n, 4), 3):
            off = tile * 4 + tl.arange(0, 4)
            tl.store(o_ptr + off, 1.0, mask=off < n)
    """
    k = lower(body, "*fp32 o_ptr, i32 n", "3; 1; 1")
    (store,) = k.kernel.accesses
    for n in (1, 11, 12, 13, 29):
        assert points(k, store, n=n) == list(range(n))


def test_a_loop_whose_length_is_loaded() -> None:
    body = """
        count = tl.load(len_ptr)
        last = 0
        for i in range(0, tl.minimum(count, 6)):
            v = tl.load(x_ptr + 2*i)
            last = tl.load(idx_ptr + i)
        tl.store(o_ptr + last, 1.0)
    """
    k = lower(body, "*i32 len_ptr, *fp32 x_ptr, *i32 idx_ptr, *fp32 o_ptr", "1; 1; 1")
    _, x, _, out = k.kernel.accesses
    assert x.guard.has_opaque() and [(v.name, v.kind, v.extent) for v in x.vars] == [("i", "loop", 6)]
    assert [v.kind for v in out.vars] == ["data"]  # what the last round left behind


def test_functions_beside_the_kernel_are_read_with_their_arguments() -> None:
    helpers = """
        @triton.jit
        def load_row(ptr, i, width: tl.constexpr, shift=1):
            if width == 4:
                return tl.load(ptr + i * width + shift)
            else:
                return tl.load(ptr)

        @triton.jit
        def place(i, limit):
            if i < limit:
                return i
            return i + 10
    """
    body = """
        pid = tl.program_id(0)
        v = load_row(x_ptr, pid, 4)
        w = load_row(x_ptr, pid, 4, shift=3)
        tl.store(o_ptr + place(pid, 3), v + w)
    """
    k = lower(body, "*fp32 x_ptr, *fp32 o_ptr", "6; 1; 1", helpers=helpers)
    first, second, out = k.kernel.accesses
    assert points(k, first) == [4 * p + 1 for p in range(6)] and points(k, second) == [
        4 * p + 3 for p in range(6)
    ]
    assert points(k, out) == [0, 1, 2, 13, 14, 15]


def test_block_pointers_check_only_the_dimensions_they_name() -> None:
    body = """
        pid = tl.program_id(0)
        p = tl.make_block_ptr(base=x_ptr + 3, shape=(10, 12), strides=(12, 1), offsets=(pid * 4, 0), block_shape=(4, 8), order=(1, 0))
        acc = tl.zeros([4, 8], dtype=tl.float32)
        for j in range(2):
            acc += tl.load(p, boundary_check=(0,), padding_option='zero')
            p = tl.advance(p, (0, 8))
        tl.store(tl.make_block_ptr(o_ptr, shape=[10, 12], strides=[12, 1], block_shape=[4, 8], order=[1, 0], offsets=[pid * 4, 8]), acc, boundary_check=[0, 1])
        d = tl.make_tensor_descriptor(x_ptr, shape=[10, 12], strides=[12, 1], block_shape=[4, 8])
        t = d.load([pid * 4, 8])
    """
    k = lower(body, "*fp32 x_ptr, *fp32 o_ptr", "3; 1; 1")
    load, store, tile = k.kernel.accesses
    assert points(k, load) == sorted(3 + 12 * r + c for r in range(10) for c in range(16))
    assert points(k, store) == sorted(12 * r + c for r in range(10) for c in range(8, 12))
    assert points(k, tile) == points(k, store)


def test_a_cooperative_reduction_and_its_workspace() -> None:
    body = """
        xnumel = 3
        r0_numel = 50
        rnumel = r0_numel
        XBLOCK: tl.constexpr = 1
        R0_BLOCK: tl.constexpr = 8
        RSPLIT: tl.constexpr = 4
        RBLOCK: tl.constexpr = R0_BLOCK
        RSPLIT_NEXT_POWER_OF_2: tl.constexpr = triton_helpers.constexpr_next_power_of_2(RSPLIT)
        HAS_RSPLIT: tl.constexpr = RSPLIT > 1
        rsplit_id = tl.program_id(0)
        num_rblocks = (rnumel + RBLOCK - 1) // RBLOCK
        rsplit_chunk = (num_rblocks + RSPLIT - 1) // RSPLIT * RBLOCK
        rsplit_start = rsplit_chunk * rsplit_id
        rsplit_end = rsplit_chunk * (rsplit_id + 1)
        rsplit_end = tl.where(rsplit_end < rnumel, rsplit_end, rnumel)
        xindex = tl.program_id(1) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
        xmask = xindex < xnumel
        r0_base = tl.arange(0, R0_BLOCK)[None, :]
        rsplit_arange = tl.arange(0, RSPLIT_NEXT_POWER_OF_2)[None, :]
        x0 = xindex
        _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
        for r0_offset in tl.range(rsplit_start, rsplit_end, R0_BLOCK):
            r0_index = r0_offset + r0_base
            r0_mask = r0_index < r0_numel
            tmp0 = tl.load(in_ptr0 + (r0_index + 50*x0), r0_mask & xmask, other=0.0)
            _tmp2 = tl.where(r0_mask & xmask, _tmp2 + tmp0, _tmp2)
        tmp2_bs = tl.sum(_tmp2, 1)[:, None]
        if HAS_RSPLIT:
            tmp2_ws = (ws_ptr + 8).to(tl.pointer_type(tl.float32))
            tl.store(tmp2_ws + (xindex * RSPLIT + rsplit_id), tmp2_bs, xmask)
            triton_helpers.x_grid_barrier(sem_ptr + tl.program_id(1))
            tmp2_peers = tl.load(tmp2_ws + (xindex * RSPLIT + rsplit_arange), xmask, other=0)
            tmp2 = tl.sum(tmp2_peers, 1)[:, None]
        else:
            tmp2 = tmp2_bs
        tl.store(out_ptr0 + (x0), tmp2, xmask)
    """
    k = lower(body, "*fp32 in_ptr0, *fp32 out_ptr0, *u8 ws_ptr, *i32 sem_ptr", "4; 3; 1")
    load, partial, barrier, peers, _ = k.kernel.accesses
    assert points(k, load) == list(range(150))
    # 4 bytes each, from byte 8 on: an index of the byte pointer it was made from
    assert points(k, partial) == [8 + b for b in range(4 * 12)]
    assert sorted(set(points(k, peers))) == [8 + b for b in range(4 * 12)]
    assert barrier.kind == "atomic" and sorted(set(points(k, barrier))) == [0, 1, 2]


def test_a_scan_over_blocks_publishes_and_looks_back() -> None:
    body = """
        R0_BLOCK: tl.constexpr = 8
        r0_index = tl.program_id(0) * R0_BLOCK + tl.arange(0, R0_BLOCK)[:]
        r0_mask = r0_index < 20
        tmp0 = tl.load(in_ptr0 + (r0_index), r0_mask, other=0.0)
        tmp1 = tl.num_programs(0)
        tmp2 = ws_ptr.to(tl.pointer_type(tl.uint64)) + tl.program_id(1) * 1 * tmp1
        tmp3 = tl.reduce(tmp0, 0, combine)
        tmp4 = triton_helpers.exclusive_scan_decoupled_lookback(tmp2, tmp3, tl.program_id(0), combine, DTYPE_VALUE_AS_UINT=tl.uint32, DTYPE_PACK=tl.uint64)
        tl.store(out_ptr0 + (r0_index), tmp4, r0_mask)
    """
    k = lower(body, "*fp32 in_ptr0, *fp32 out_ptr0, *u8 ws_ptr", "3; 2; 1")
    own, earlier = [a for a in k.kernel.accesses if a.param == "ws_ptr"]
    assert points(k, own) == list(range(48))  # 2 rows of 3 blocks, 8 bytes each
    assert set(points(k, earlier)) == {
        8 * (3 * row + b) + i for row in range(2) for b in range(2) for i in range(8)
    }


def test_a_compile_time_argument_that_is_not_in_the_text() -> None:
    body = """
        off = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(o_ptr + off, 1.0, mask=off < n)
    """
    params = "*fp32 o_ptr, i32 n, constexpr BLOCK"
    (store,) = lower(body, params, "_grid_0; 1; 1").kernel.accesses
    assert store.index is None and store.reason == "BLOCK is chosen by tuning and not in the text"
    two = "{'BLOCK': 64, 'num_warps': 4}, {'BLOCK': 64, 'num_warps': 8}"
    k = lower(body, params, "_grid_0; 1; 1", config=two)
    assert points(k, k.kernel.accesses[0], n=100, **{"grid.0": 2}) == list(range(100))
    grids = ", 'precomputed_grids': [{'config': {'BLOCK': 32}, 'cpp': ['((n + 31) / 32)', '1', '1']}, {'config': {'BLOCK': 16}, 'cpp': ['((n + 15) / 16)', '1', '1']}]"
    k = lower(body, params, "((n + 15) / 16); 1; 1", meta=grids)
    assert dict(k.constants)["BLOCK"] == 16 and points(k, k.kernel.accesses[0], n=40) == list(range(40))
