"""Profiles as text: bugs by name, sources, a profile of one's own, and what the page says of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aoti_lint.analyzer.runtimes import all_profiles, resolve
from aoti_lint.analyzer.runtimes.bugs import latent_bug, latent_bugs
from aoti_lint.analyzer.runtimes.describe import describe
from aoti_lint.analyzer.symbolic import ZERO, const
from runtime_cases import NO, PARENT, exprs, layout

# -- symbols ------------------------------------------------------------------------------------


def test_symbols():
    metal = resolve("executorch-metal@1.4")
    assert metal.symbol("aoti_torch_clone") == "throws"
    assert metal.symbol("aoti_torch_mps_convolution") == "present"
    for name in (
        "aoti_torch_mps_addmm_out", "aoti_torch_as_strided", "aoti_torch_proxy_executor_call_function",
        "aoti_torch_new_uninitialized_tensor", "aoti_torch_item_int64", "aoti_torch_zero_",
    ):  # fmt: skip
        assert metal.symbol(name) == "absent", name
        assert resolve("libtorch").symbol(name) == "present"
    assert resolve("m2b").symbol("aoti_torch_mps_addmm_out") == "present"
    assert metal.symbol("memcpy") == "unknown"
    assert resolve("m0").symbol("aoti_torch_clone") == "unknown"
    assert resolve("executorch-cuda").symbol("aoti_torch_clone") == "present"
    assert resolve("executorch-cuda").symbol("aoti_torch_dtype_element_size") == "absent"


def test_symbol_counts():
    """As many as were counted in the sources of each version."""
    counts = {"m0a": 44, "m1": 52, "executorch-metal@2026-04-21": 57, "m2": 61, "v0": 32, "v1": 41, "v2": 51}
    assert {n: len(resolve(n).symbols.present) for n in counts} == counts
    for profile in all_profiles():
        assert profile.symbols.throws <= profile.symbols.present
        for op in profile.ops:
            older = profile.family == "libtorch" and profile.name != "libtorch@2.15"
            assert profile.symbol(op) in ("present", "unknown") or older, (profile.name, op)


# -- bugs and texts -----------------------------------------------------------------------------


def test_bugs_named_by_rules_happen_there():
    seen = set()
    for profile in all_profiles():
        sections = [
            profile.alloc_facts, profile.constant_facts, profile.view_facts, profile.copy_facts,
            profile.input_facts, profile.output_facts, profile.kernel_facts,
        ]  # fmt: skip
        named = [r.bug for s in sections for r in s.rules]
        named += [x.bug for op in profile.ops.values() for x in (*op.args, *op.params)]
        for bug in filter(None, named):
            seen.add(bug)
            assert latent_bug(bug).affects(profile), (bug, profile.name)
    assert len(seen) > 25


def test_bug_ranges():
    assert latent_bug("MET-PACKED-COPY").affects(resolve("executorch-metal"))
    assert not latent_bug("MET-PACKED-COPY").affects(resolve("m1"))
    assert not latent_bug("MET-PACKED-COPY").affects(resolve("m3"))
    assert len(latent_bugs()) == 61
    with pytest.raises(KeyError):
        latent_bug("NONE")


def test_every_fact_has_a_source():
    for profile in all_profiles():
        rows = describe(profile)
        assert len(rows) > 15
        for fact, value, source in rows:
            assert fact and value, (profile.name, fact)
            assert source, (profile.name, fact)


# -- a profile of one's own ---------------------------------------------------------------------


def write(tmp_path, text):
    path = tmp_path / "my-runtime.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_own_profile(tmp_path):
    path = write(
        tmp_path,
        'extends = "executorch-metal"\ntitle = "Ours"\n[alloc]\ndtypes = ["float16"]\n'
        '[symbols]\npresent = ["aoti_torch_mps_ours"]\n',
    )
    p = resolve(path)
    assert (p.name, p.title, p.family) == ("my-runtime", "Ours", "my-runtime")
    assert p.symbol("aoti_torch_mps_ours") == "present"
    assert p.alloc(exprs((4,)), exprs((1,)), "float16", "mps", NO).kind == "ok"
    assert p.alloc(exprs((4,)), exprs((1,)), "float32", "mps", NO).kind == "reject"
    assert p.view(PARENT, exprs((4, 4)), exprs((8, 1)), ZERO, "reinterpret", NO).kind == "copy"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[alloc", "my-runtime.toml: "),
        ('extends = "executorch-mettal"', "extends: unknown runtime"),
        ("extends = 3", "extends: must be the name of a profile"),
        ('title = "x"', "alloc: missing"),
        ('extends = "m2"\nalocc = 1', "alocc: unknown key; did you mean 'alloc'"),
        (
            'extends = "m2"\n[alloc]\ncapacity = "numels"',
            "alloc.capacity: must be extent or numel, not 'numels'",
        ),
        ('extends = "m2"\n[alloc]\nmax_dims = true', "alloc.max_dims: must be a whole number"),
        ('extends = "m2"\n[alloc]\ndtypes = ["f32"]', "alloc.dtypes: 'f32' is none of"),
        ('extends = "m2"\n[[view.rules]]\nid = "x"\nwhen = ["pakced"]\nthen = "copy"', "'pakced' is no test"),
        ('extends = "m2"\n[[view.rules]]\nid = "x"\nthen = "reject"', "view.rules[0].error: missing"),
        (
            'extends = "m2"\n[[view.rules]]\nid = "x"\nthen = "ok"',
            "view.rules[0].then: must be alias or copy",
        ),
        ('extends = "m2"\n[[view.rules]]\nid = "x"\nthen = "copy"\nwhy = "{size}"', "{size} is none of"),
        ('extends = "m2"\n[ops.x]\nargs = []', "ops.x.symbols: missing"),
        (
            'extends = "m2"\n[ops.x]\nsymbols = ["f"]\nargs = [{ name = "a", at = 0, policy = "dens" }]',
            "ops.x.args[0].policy: must be",
        ),
        (
            'extends = "m2"\n[ops.x]\nsymbols = ["f"]\nargs = [{ name = "a", at = 0, ranks = [2], dims = { 2 = [1] } }]',
            "ops.x.args[0].dims.2: must be a dim",
        ),
    ],
)
def test_faulty_profiles_name_the_file_and_the_key(tmp_path, text, wanted):
    with pytest.raises(ValueError, match=re.escape(wanted)) as e:
        resolve(write(tmp_path, text))
    assert "my-runtime.toml" in str(e.value)


def test_missing_file():
    with pytest.raises(ValueError, match=r"nowhere\.toml"):
        resolve("nowhere.toml")


PAGE = Path(__file__).parent.parent / "docs" / "runtimes.md"


def test_the_example_on_the_page_works(tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    profile = resolve(write(tmp_path, example))
    assert profile.symbol("aoti_torch_mps_rms_norm") == "present"
    assert profile.view(PARENT, exprs((4, 4)), exprs((8, 1)), const(4), "reinterpret", NO).kind == "reject"
    op = profile.op("aoti_torch_mps_rms_norm")
    assert op is not None and [j.kind for j in op.judge([layout((4, 4), (1, 4))], NO)] == ["misread"]


def test_the_page_names_every_profile_test_and_policy():
    from aoti_lint.analyzer.runtimes.decide import TESTS, WORDS
    from aoti_lint.analyzer.runtimes.ops import POLICIES

    page = PAGE.read_text(encoding="utf-8")
    for name in [*(p.name for p in all_profiles()), *TESTS, *WORDS, *POLICIES]:
        assert f"`{name}`" in page, name
