"""A profile as rows of text: what it assumes, and where that is known from."""

from __future__ import annotations

from .model import Rule
from .ops import ArgPolicy, OpPolicy
from .profile import Profile

Row = tuple[str, str, str]


def describe(profile: Profile) -> list[Row]:
    """(fact, value, source) for everything a profile says."""
    alloc, view, out = profile.alloc_facts, profile.view_facts, profile.output_facts
    align = ", ".join(f"{device} {n}" for device, n in alloc.align) or "not known"
    rows: list[Row] = [
        ("allocation: elements", alloc.capacity, alloc.source),
        ("allocation: strides carried", alloc.carry, alloc.source),
        ("allocation: dtypes", _names(alloc.dtypes, alloc.maybe_dtypes), alloc.source),
        ("allocation: devices", _names(alloc.devices), alloc.source),
        ("allocation: most dims", str(alloc.max_dims or "any"), alloc.source),
        ("allocation: alignment in bytes", align, alloc.source),
        ("view: offset", view.offset, view.source),
        ("view: strides carried", view.carry, view.source),
        ("clone: strides", profile.clone_facts.layout, profile.clone_facts.source),
        ("output: one handle twice", out.duplicates, out.source),
        ("output: handed over", "as a copy" if out.copied else "as it is", out.source),
    ]
    for subject, section, otherwise in (
        ("allocation", alloc, "ok"),
        ("constant", profile.constant_facts, "ok"),
        ("view", view, "alias"),
        ("as_strided", profile.strided_facts, "alias"),
        ("copy", profile.copy_facts, "ok"),
        ("input", profile.input_facts, "ok"),
        ("output", out, "ok"),
        ("kernel argument", profile.kernel_facts, "in place"),
    ):
        if not section.source and not section.rules:
            continue
        rows += [_rule(subject, rule, section.source) for rule in section.rules]
        rows.append((f"{subject}: otherwise", otherwise, section.source))
    for op in dict.fromkeys(profile.ops.values()):
        rows += _op(op)
    symbols = profile.symbols
    rows.append(
        (
            "symbols",
            ("all" if not symbols.absent else f"all but {_names(symbols.absent)}")
            if symbols.open
            else _names(symbols.present, symbols.maybe),
            symbols.source,
        )
    )
    if symbols.throws:
        rows.append(("symbols that throw", _names(symbols.throws), symbols.source))
    return rows


def _rule(subject: str, rule: Rule, source: str) -> Row:
    tests = " and ".join(name if wanted else f"not {name}" for name, wanted in rule.when) or "always"
    extras = [
        rule.error,
        f"carries {rule.carry} strides" if rule.carry else "",
        "" if rule.binding == "storage" else f"bound {rule.binding}",
        "" if rule.ordered else "not ordered after queued work",
        "base leaks" if rule.leaks else "",
        "ops are given a packed copy" if rule.gathered else "",
        "slow" if rule.slow else "",
        rule.bug,
    ]
    return f"{subject}: {tests}", ", ".join([rule.then, *filter(None, extras)]), source


def _op(op: OpPolicy) -> list[Row]:
    title = " and ".join(op.symbols)
    if op.unmodelled:
        return [(title, f"not modelled: {op.unmodelled}", op.source)]
    rows = [(f"{title}: {a.name}", _arg(a), op.source) for a in op.args]
    for p in op.params:
        wanted = "one of " + ", ".join(map(str, p.values)) if p.values else f"at least {p.minimum}"
        rows.append((f"{title}: {p.name}", f"{wanted}, else {p.error or 'wrong numbers'}", op.source))
    if op.results:
        but = f"; row-major {op.row_major_where}" if op.row_major_where else ""
        rows.append((f"{title}: results", ", ".join(op.results) + but, op.source))
    if op.note:
        rows.append((f"{title}: note", op.note, op.source))
    return rows


def _arg(a: ArgPolicy) -> str:
    parts = [a.policy, "" if a.role == "in" else a.role]
    parts.append("" if a.policy == "honoured" else f"else {a.error or 'wrong elements'}")
    if a.ranks:
        parts.append("/".join(map(str, a.ranks)) + "-D")
    if a.min_rank:
        parts.append(f"at least {a.min_rank}-D")
    parts.append(" ".join(a.dtypes))
    parts += [f"size of dim {d} in {', '.join(map(str, v))}" for d, v in a.dims]
    return ", ".join(filter(None, parts))


def _names(names: frozenset[str], maybe: frozenset[str] = frozenset()) -> str:
    text = ", ".join(sorted(names))
    return f"{text}; perhaps {', '.join(sorted(maybe))}" if maybe else text
