"""A profile from its TOML tables."""

from __future__ import annotations

from string import Formatter
from typing import Any

from ..model.dtypes import ITEMSIZE
from ..toml_table import Table
from . import model
from .decide import TESTS, WORDS, is_test
from .op_checks import CHECKS, PAIR_CHECKS
from .ops import POLICIES, RESULTS, ArgPolicy, OpPolicy, ParamPolicy
from .profile import Profile

_ERRORS = (
    "abort", "undefined", "error", "Internal", "NotSupported", "NotImplemented", "InvalidArgument",
    "MemoryAllocationFailed",
)  # fmt: skip
_CARRY = ("given", "canonical", "canonical-ones-last", "dense")
_DTYPES = ("any", *ITEMSIZE)
_ROLES = ("in", "out", "inout")


def build_profile(data: dict[str, Any], file: str, name: str, family: str, date: str) -> Profile:
    """The profile ``data`` describes. Raises ValueError naming ``file`` and the key at fault."""
    top = Table(data, file)
    profile = Profile(
        name=top.text("name", name),
        family=top.text("family", family),
        date=top.text("date", date),
        title=top.text("title", name),
        proposed=top.flag("proposed", False),
        note=top.text("note", ""),
        alloc_facts=_alloc(top.table("alloc", required=True)),
        constant_facts=_section(top.table("constant"), ("ok", "reject")),
        view_facts=_view(top.table("view", required=True)),
        strided_facts=_section(top.table("as_strided"), ("alias", "reject")),
        copy_facts=_section(top.table("copy"), ("ok", "reject", "corrupt")),
        clone_facts=_clone(top.table("clone")),
        input_facts=_section(top.table("input"), ("ok", "reject")),
        output_facts=_output(top.table("output")),
        kernel_facts=_section(top.table("kernel"), ("ok", "copied", "reject")),
        symbols=_symbols(top.table("symbols", required=True)),
        ops=_ops(top.table("ops")),
    )
    top.done()
    return profile


def _rules(t: Table, outcomes: tuple[str, ...]) -> tuple[model.Rule, ...]:
    return tuple(_rule(r, (*outcomes, "unknown")) for r in t.tables("rules"))


def _rule(t: Table, outcomes: tuple[str, ...]) -> model.Rule:
    when = []
    for text in t.texts("when"):
        test = text.removeprefix("not ")
        if not is_test(test):
            raise t.error("when", f"{test!r} is no test; tests are {', '.join(TESTS)} and 'on DEVICE'")
        when.append((test, test == text))
    then = t.text("then", among=outcomes)
    rule = model.Rule(
        id=t.text("id"),
        when=tuple(when),
        then=then,
        why=t.text("why", ""),
        error=t.text("error", None if then == "reject" else "", _ERRORS),
        carry=t.text("carry", "", _CARRY),
        binding=t.text("binding", "storage", ("second-buffer", "by-value")),
        ordered=t.flag("ordered", True),
        leaks=t.flag("leaks", False),
        gathered=t.flag("gathered", False),
        slow=t.flag("slow", False),
        bug=t.text("bug", ""),
    )
    for _, word, _, _ in Formatter().parse(rule.why):
        if word is not None and word not in WORDS:
            raise t.error("why", f"{{{word}}} is none of {', '.join(sorted(WORDS))}")
    t.done()
    return rule


def _section(t: Table, outcomes: tuple[str, ...]) -> model.Section:
    section = model.Section(t.text("source", ""), _rules(t, outcomes))
    t.done()
    return section


def _alloc(t: Table) -> model.AllocFacts:
    align = t.table("align")
    facts = model.AllocFacts(
        source=t.text("source", ""),
        capacity=t.text("capacity", among=("numel", "extent")),
        carry=t.text("carry", "given", _CARRY),
        dtypes=frozenset(t.texts("dtypes", _DTYPES)),
        maybe_dtypes=frozenset(t.texts("maybe_dtypes", _DTYPES)),
        devices=frozenset(t.texts("devices")),
        max_dims=t.integer("max_dims", 0),
        min_elements=t.integer("min_elements", 0),
        align=tuple((k, align.integer(k)) for k in align.names()),
        rules=_rules(t, ("ok", "reject")),
    )
    t.done()
    return facts


def _view(t: Table) -> model.ViewFacts:
    facts = model.ViewFacts(
        source=t.text("source", ""),
        offset=t.text("offset", among=("relative", "absolute")),
        carry=t.text("carry", "given", _CARRY),
        rules=_rules(t, ("alias", "copy", "reject")),
    )
    t.done()
    return facts


def _clone(t: Table) -> model.CloneFacts:
    facts = model.CloneFacts(t.text("source", ""), t.text("layout", "dense-kept", ("dense-kept", "kept")))
    t.done()
    return facts


def _output(t: Table) -> model.OutputFacts:
    facts = model.OutputFacts(
        source=t.text("source", ""),
        duplicates=t.text("duplicates", "unknown", ("ok", "double-release", "unknown")),
        copied=t.flag("copied", False),
        rules=_rules(t, ("ok", "reject", "corrupt")),
    )
    t.done()
    return facts


def _symbols(t: Table) -> model.Symbols:
    removed = frozenset(t.texts("removed"))
    present = frozenset(t.texts("present")) - removed
    symbols = model.Symbols(
        source=t.text("source", ""),
        open=t.flag("open", False),
        present=present,
        throws=frozenset(t.texts("throws")),
        maybe=frozenset(t.texts("maybe")) - present - removed,
        absent=frozenset(t.texts("absent")) - present,
    )
    t.done()
    return symbols


def _ops(t: Table) -> dict[str, OpPolicy]:
    """C symbol -> policy."""
    policies = [_op(t.table(name), name) for name in t.names()]
    return {symbol: policy for policy in policies for symbol in policy.symbols}


def _op(t: Table, name: str) -> OpPolicy:
    op = OpPolicy(
        name=name,
        symbols=t.texts("symbols"),
        source=t.text("source", ""),
        args=tuple(_arg(a) for a in t.tables("args")),
        params=tuple(_param(a) for a in t.tables("params")),
        results=t.texts("results", RESULTS),
        dtypes_equal=t.flag("dtypes_equal", False),
        rank_error=t.text("rank_error", "InvalidArgument", _ERRORS),
        dtype_error=t.text("dtype_error", "InvalidArgument", _ERRORS),
        size_error=t.text("size_error", "", _ERRORS),
        unequal_error=t.text("unequal_error", "", _ERRORS),
        checks=t.texts("checks", CHECKS),
        pair_checks=t.texts("pair_checks", PAIR_CHECKS),
        unmodelled=t.text("unmodelled", ""),
        row_major_where=t.text("row_major_where", ""),
        note=t.text("note", ""),
    )
    if not op.symbols:
        raise t.error("symbols", "missing, must be a list of C symbols")
    t.done()
    return op


def _arg(t: Table) -> ArgPolicy:
    dims = t.table("dims")
    ranks = t.numbers("ranks")
    arg = ArgPolicy(
        name=t.text("name"),
        at=t.integer("at"),
        policy=t.text("policy", "honoured", POLICIES),
        role=t.text("role", "in", _ROLES),
        error=t.text("error", "", _ERRORS),
        ranks=ranks,
        min_rank=t.integer("min_rank", 0),
        dtypes=t.texts("dtypes", _DTYPES),
        dims=tuple((_dim(dims, k, ranks), dims.numbers(k)) for k in dims.names()),
        note=t.text("note", ""),
        bug=t.text("bug", ""),
    )
    t.done()
    return arg


def _dim(t: Table, key: str, ranks: tuple[int, ...]) -> int:
    """A dim that every accepted rank has."""
    if not key.isdecimal() or not ranks or int(key) >= min(ranks):
        raise t.error(key, "must be a dim that each of 'ranks' has")
    return int(key)


def _param(t: Table) -> ParamPolicy:
    values = t.numbers("values")
    param = ParamPolicy(
        name=t.text("name"),
        at=t.integer("at"),
        values=values,
        minimum=None if values else t.integer("minimum"),
        error=t.text("error", "", _ERRORS),
        why=t.text("why", ""),
        bug=t.text("bug", ""),
    )
    t.done()
    return param
