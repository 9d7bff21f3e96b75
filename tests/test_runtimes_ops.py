"""Ops: which layouts each takes for granted, refuses or reads wrong."""

from __future__ import annotations

from aoti_lint.analyzer.runtimes import Layout, resolve
from aoti_lint.analyzer.symbolic import const, sym
from aoti_lint.analyzer.symbolic.assumptions import Ranges

NO = Ranges()
MM, BMM = "aoti_torch_mps_mm_out", "aoti_torch_mps_bmm_out"
CONV = "aoti_torch_mps_convolution"
SDPA = "aoti_torch_mps__scaled_dot_product_attention_math_for_mps"


def t(sizes, strides=None, dtype="float32", **more):
    if strides is None:
        strides, run = [], const(1)
        for s in reversed(sizes):
            strides.insert(0, run)
            run = run * s
    e = tuple(const(x) if isinstance(x, int) else x for x in sizes)
    return Layout(e, tuple(const(x) if isinstance(x, int) else x for x in strides), dtype=dtype, **more)


def judge(symbol, *args, runtime="executorch-metal", ranges=NO):
    policy = resolve(runtime).op(symbol)
    assert policy is not None
    return [(j.arg, j.kind, j.effect) for j in policy.judge(args, ranges)]


def conv_args(x, w, bias=None, transposed=0, pad=(0, 0), out=None):
    def pair(a, b):
        return (const(a), const(b)), const(2)

    padding = tuple(const(p) for p in pad)
    return (
        x, w, bias, *pair(1, 1), padding, const(len(pad)), *pair(1, 1), const(transposed), *pair(0, 0),
        const(1), out,
    )  # fmt: skip


def test_mm():
    assert judge(MM, t((7, 5)), t((7, 12)), t((12, 5), (1, 12))) == []
    assert judge(MM, t((7, 5)), t((7, 12), (1, 7)), t((12, 5))) == [("self", "misread", "wrong")]
    assert judge(MM, t((7, 5)), t((7, 12)), t((12, 5), (8, 1))) == [("mat2", "misread", "wrong")]
    assert judge(MM, t((7, 5), (1, 7)), t((7, 12)), t((12, 5))) == [("out", "misread", "wrong")]
    assert judge(MM, t((7, 5)), t((2, 7, 12)), t((12, 5))) == [("self", "reject", "error")]
    half = t((7, 12), dtype="float16")
    assert judge(MM, t((7, 5)), half, t((12, 5))) == [("self", "reject", "error")]
    assert resolve("libtorch").op(MM) is None


def test_mm_of_a_gathered_view():
    gaps = t((7, 12), (24, 1), gathered=True)
    assert judge(MM, t((7, 5)), gaps, t((12, 5)), runtime="m3") == []
    assert judge(MM, t((7, 5), (8, 1), gathered=True), t((7, 12)), t((12, 5)), runtime="m3") == [
        ("out", "reject", "error")
    ]


def test_addmm():
    args = t((4, 6)), t((6,)), t((4, 3)), t((3, 6)), const(1), const(1)
    assert judge("aoti_torch_mps_addmm_out", *args, runtime="m2b") == []
    assert resolve("m2").op("aoti_torch_mps_addmm_out") is None
    swapped = (*args[:2], t((4, 3), (1, 4)), *args[3:])
    assert judge("aoti_torch_mps_addmm_out", *swapped, runtime="m2b") == [("mat1", "misread", "wrong")]


def test_bmm_wants_exactly_row_major():
    good = t((4, 5, 7)), t((4, 5, 3)), t((4, 3, 7))
    assert judge(BMM, *good) == []
    for sizes, strides in (((4, 1, 7), (7, 28, 1)), ((4, 7, 1), (7, 1, 7)), ((1, 5, 7), (1, 7, 1))):
        assert judge(BMM, good[0], t(sizes, strides), good[2]) == [("self", "reject", "error")]
    mixed = t((4, 3, 7), dtype="bfloat16")
    assert judge(BMM, good[0], good[1], mixed) == [("", "reject", "error")]
    s10, s21 = sym("s10"), sym("s21")
    ranges = Ranges({"s10": (2, 32), "s21": (2, 512)})
    swapped = t((s10, s21, 8), (8 * s21, 1, s21))
    out, other = t((s10, s21, 4)), t((s10, 8, 4))
    assert judge(BMM, out, swapped, other, ranges=ranges) == [("self", "reject", "error")]
    assert judge(BMM, out, t((s10, s21, 8)), other, ranges=ranges) == []


def test_convolution_takes_everything_for_dense():
    x, w = t((1, 8, 16, 16)), t((8, 1, 3, 3))
    last = t((1, 8, 16, 16), (2048, 1, 128, 8))
    assert judge(CONV, *conv_args(x, w)) == []
    assert judge(CONV, *conv_args(last, w)) == [("input", "misread", "wrong")]
    assert judge(CONV, *conv_args(x, t((8, 4, 3, 3), (36, 1, 12, 4)))) == [("weight", "misread", "wrong")]
    assert judge(CONV, *conv_args(t((1, 8, 4, 4, 4)), w)) == [("input", "reject", "error")]
    assert judge(CONV, *conv_args(x, w, transposed=1)) == [("transposed", "misread", "wrong")]
    assert judge(CONV, *conv_args(x, w, pad=(1,))) == [("padding", "misread", "wrong")]
    assert judge(CONV, *conv_args(x, w, bias=t((8,)))) == [("bias", "misread", "wrong")]
    assert judge(CONV, *conv_args(x, t((1, 8, 3, 3)), bias=t((1,)))) == []


def test_convolution_results():
    sizes = tuple(const(n) for n in (1, 8, 16, 16))
    last = t((1, 8, 16, 16), (2048, 1, 128, 8))
    w = t((8, 8, 3, 3))

    def strides(runtime, x):
        policy = resolve(runtime).op(CONV)
        assert policy is not None
        found = policy.result_strides(0, sizes, conv_args(x, w), NO)
        return found and tuple(s.value for s in found)

    assert strides("m2", last) == (2048, 256, 16, 1)
    assert strides("m3", last) == (2048, 1, 128, 8)
    assert strides("m3", t((1, 8, 16, 16))) == (2048, 256, 16, 1)
    assert strides("m3", t((1, 8, 16, 16), (2048, 1, 8, 128))) is None
    policy = resolve("m2").op(MM)
    assert policy is not None and policy.result_strides(0, sizes, (), NO) is None


def test_proposed_convolution_tells_two_layouts_apart():
    w = t((8, 8, 3, 3))
    last = t((1, 8, 16, 16), (2048, 1, 128, 8))
    assert judge(CONV, *conv_args(last, w), runtime="m3") == []
    other = t((1, 8, 16, 16), (2048, 1, 8, 128))
    assert judge(CONV, *conv_args(other, w), runtime="m3") == [("input", "reject", "error")]
    unbatched = t((8, 16, 16), (1, 128, 8))
    assert judge(CONV, *conv_args(unbatched, w), runtime="m3") == [("input", "misread", "wrong")]
    bias = t((8,))
    assert judge(CONV, *conv_args(last, w, bias=bias), runtime="m3") == []
    assert judge(CONV, *conv_args(t((8, 16, 16)), w, bias=bias), runtime="m3") == [
        ("bias", "misread", "wrong")
    ]


def test_attention():
    q = t((2, 4, 10, 64))
    ok = q, q, q, None, "0.0", const(0), None, None
    assert judge(SDPA, *ok) == []
    swapped = t((2, 4, 10, 64), (2560, 64, 256, 1))
    assert judge(SDPA, swapped, swapped, q, *ok[3:]) == []
    assert judge(SDPA, t((2, 4, 10, 64), (2560, 640, 1, 10)), *ok[1:]) == [("query", "reject", "error")]
    assert judge(SDPA, t((4, 10, 64)), *ok[1:]) == [("query", "reject", "error")]
    odd = t((2, 4, 10, 80))
    assert judge(SDPA, odd, odd, odd, *ok[3:]) == [("query", "reject", "error")]
    assert judge(SDPA, q, q, t((2, 4, 10, 128)), *ok[3:]) == [("value", "misread", "wrong")]
    assert judge(SDPA, q, q, q, None, "0.5", *ok[5:]) == [("dropout_p", "reject", "error")]
    assert [k for _, k, _ in judge(SDPA, *ok, runtime="m0")] == ["unknown"]


def test_attention_head_size_256_since_april_2026():
    q = t((2, 4, 10, 256))
    args = q, q, q, None, "0.0"
    assert judge(SDPA, *args) == []
    assert judge(SDPA, *args, runtime="executorch-metal@2026-03") == [("query", "reject", "error")]


def test_attention_mask():
    def mask(m, batch=2):
        q = t((batch, 4, 10, 64))
        return [k for _, k, _ in judge(SDPA, q, q, q, m, "0.0")]

    assert mask(t((2, 4, 10, 10))) == []
    assert mask(t((10, 10))) == []
    assert mask(t((1, 1, 10, 10))) == []
    assert mask(t((2, 1, 10, 10))) == ["misread"]  # batch 0's mask for both
    assert mask(t((1, 4, 10, 10))) == ["misread"]  # head index runs to 7 of 4
    assert mask(t((4, 10, 10))) == ["misread"]
    assert mask(t((2, 4, 10, 10), (0, 100, 10, 1))) == ["misread"]
    assert mask(t((2, 4, 10, 10), dtype="bool")) == ["misread"]
    assert mask(t((1, 4, 10, 10)), batch=1) == []


def test_other_metal_ops():
    a, b = t((3, 64)), t((8, 32), dtype="uint8")
    s = t((8, 2))
    linear = "aoti_torch_mps__linear_fp_act_4bit_weight"
    assert judge(linear, a, b, const(32), s, s) == []
    assert judge(linear, t((3, 64), (1, 3)), b, const(48), s, s) == [
        ("A", "reject", "error"), ("group_size", "reject", "error"),
    ]  # fmt: skip
    assert judge("aoti_torch_mps_topk", t((4, 8), (1, 4)), const(2)) == [("self", "misread", "wrong")]
    assert judge("aoti_torch_mps_topk", t((4, 8)), const(0)) == [("k", "reject", "error")]
    assert judge("aoti_torch_mps_topk", t(()), const(1)) == [("self", "reject", "error")]
    q, g = t((1, 5, 32, 128)), t((1, 5, 32))
    rule = "aoti_torch_mps_gated_delta_rule"
    assert judge(rule, q, q, q, g, g, t((1, 32, 128, 128))) == []
    assert judge(rule, q, q, q, g, g, t((1, 32, 128, 128), (524288, 16384, 1, 128))) == [
        ("state", "misread", "wrong")
    ]


def test_cuda_ops():
    def run(symbol, *args):
        return judge(symbol, *args, runtime="executorch-cuda")

    bf, weight = t((4, 256), dtype="bfloat16"), t((8, 16, 32, 4), dtype="int32")
    pack = "aoti_torch_cuda__weight_int4pack_mm"
    assert run(pack, bf, weight, const(64), t((4, 64, 2))) == []
    assert run(pack, t((4, 256)), weight, const(48), t((4, 64, 2))) == [
        ("self", "reject", "abort"), ("qGroupSize", "reject", "abort"),
    ]  # fmt: skip
    assert run("aoti_torch_cuda_sort_stable", t((4, 8), (1, 4))) == [("self", "reject", "error")]
    assert run("aoti_torch_cuda_sort_stable", t((4, 8))) == []
    randint = "aoti_torch_cuda_randint_low_out"
    seed = t((1,), dtype="int64")
    assert run(randint, seed, const(0), const(9), (const(1),), const(1)) == []
    assert run(randint, seed, const(0), const(9), (const(2),), const(1)) == [("out", "misread", "wrong")]
    assert run(randint, t((1,)), const(0), const(9), (const(1),), const(1)) == [
        ("out", "reject", "undefined")
    ]
