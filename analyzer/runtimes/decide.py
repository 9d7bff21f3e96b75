"""Which rule of a profile applies to a tensor, on symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..model.dtypes import ITEMSIZE
from ..model.record import record, replace
from ..symbolic import Expr, const
from ..symbolic.assumptions import Ranges
from . import predicates as p
from .model import AllocFacts, Layout, Rule, shape
from .predicates import Exprs, Tri


@record(frozen=True)
class Situation:
    """What a rule is asked about.

    ``tensor`` is the result (of an allocation, a view) or the target (of a copy), ``other`` the base or the
    source, ``offset`` the argument a view is made with, ``alloc`` the limits of the runtime.
    """

    tensor: Layout
    ranges: Ranges
    alloc: AllocFacts
    offset: Expr
    other: Layout | None = None

    @property
    def source(self) -> Layout:
        assert self.other is not None, "this test needs a base or a source"
        return self.other

    def canon(self) -> p.Canon:
        return p.et_canon(self.tensor.sizes, self.tensor.strides, self.ranges)


Test = Callable[[Situation], Tri]


def _of_layout(test: Callable[[Exprs, Exprs, Ranges], Tri]) -> Test:
    return lambda s: test(s.tensor.sizes, s.tensor.strides, s.ranges)


def _dtype_accepted(s: Situation) -> Tri:
    dtype = s.tensor.dtype
    if dtype is None or dtype in s.alloc.maybe_dtypes:
        return None
    return "any" in s.alloc.dtypes or dtype in s.alloc.dtypes


def _int32_sizes(s: Situation) -> Tri:
    """A dynamic size that merely has no upper bound is taken to fit."""
    return not any(s.ranges.nonneg(x - 2**31) is True for x in s.tensor.sizes)


def _inside(s: Situation) -> Tri:
    t = s.tensor
    return None if t.capacity is None else p.in_bounds(t.sizes, t.strides, t.offset, t.capacity, s.ranges)


def _same_dtype(s: Situation) -> Tri:
    a, b = s.tensor.dtype, s.source.dtype
    return None if a is None or b is None else a == b


def _strides_equal_along_target(s: Situation) -> Tri:
    """The target's strides against as many of the source's; sizes are not looked at."""
    n = len(s.tensor.sizes)
    return p.same(s.tensor.strides, s.source.strides[:n], s.ranges)


def _strides_equal(s: Situation) -> Tri:
    return p.same_strides_where_it_matters(s.tensor.sizes, s.tensor.strides, s.source.strides, s.ranges)


def _both(test: Callable[[Exprs, Exprs, Ranges], Tri]) -> Test:
    return lambda s: p.all_of(test(t.sizes, t.strides, s.ranges) for t in (s.tensor, s.source))


#: name -> (test, what it says of the tensor in a message). ``on DEVICE`` is a test too.
TESTS: dict[str, tuple[Test, str]] = {
    "packed": (_of_layout(p.packed_m2), "it is packed"),
    "dense-order": (lambda s: s.canon().ok, "its strides are a permutation of dense ones"),
    "row-major": (_of_layout(p.row_major), "its strides are row-major"),
    "contiguous": (_of_layout(p.contiguous), "it is contiguous"),
    "empty": (lambda s: p.is_empty(s.tensor.sizes, s.ranges), "it has no elements"),
    "negative-stride": (
        lambda s: p.has_negative(s.tensor.strides, s.ranges),
        "a stride is negative",
    ),
    "zero-offset": (lambda s: s.ranges.equal(s.offset, 0), "its offset is 0"),
    "negative-offset": (lambda s: p.has_negative([s.offset], s.ranges), "its offset is negative"),
    "at-storage-start": (
        lambda s: s.ranges.equal(s.tensor.offset, 0),
        "it starts at the start of its storage",
    ),
    "in-bounds": (_inside, "it stays inside its storage"),
    "dtype-accepted": (_dtype_accepted, "its dtype is accepted"),
    "device-accepted": (
        lambda s: "any" in s.alloc.devices or s.tensor.device in s.alloc.devices,
        "its device is accepted",
    ),
    "rank-accepted": (
        lambda s: not s.alloc.max_dims or len(s.tensor.sizes) <= s.alloc.max_dims,
        "its number of dims is accepted",
    ),
    "int32-sizes": (_int32_sizes, "its sizes fit 32 bits"),
    "source-on-cpu": (lambda s: s.source.device == "cpu", "the source is in CPU memory"),
    "scalar": (lambda s: not s.tensor.sizes, "it has no dims"),
    "gathered": (lambda s: s.tensor.gathered, "it is a view that ops can't write"),
    "expanded": (_of_layout(p.self_overlapping), "it is expanded"),
    "same-dtype": (_same_dtype, "the dtypes are equal"),
    "same-numel": (
        lambda s: s.ranges.equal(p.numel(s.tensor.sizes), p.numel(s.source.sizes)),
        "both hold the same number of elements",
    ),
    "same-sizes": (lambda s: p.same(s.tensor.sizes, s.source.sizes, s.ranges), "the sizes are equal"),
    "source-rank-reached": (
        lambda s: len(s.source.sizes) >= len(s.tensor.sizes),
        "the source has as many dims as the target",
    ),
    "same-strides": (_strides_equal_along_target, "the strides are equal"),
    "same-strides-but-ones": (_strides_equal, "the strides of dims larger than 1 are equal"),
    "both-contiguous": (_both(p.contiguous), "both are contiguous"),
    "both-packed": (_both(p.packed_m2), "neither has holes"),
    "four-byte": (
        lambda s: None if s.tensor.dtype is None else ITEMSIZE.get(s.tensor.dtype) == 4,
        "elements have 4 bytes",
    ),
    "broadcastable": (
        lambda s: p.broadcastable(s.source.sizes, s.tensor.sizes, s.ranges),
        "the source expands to the target",
    ),
}


def is_test(name: str) -> bool:
    return name in TESTS or (name.startswith("on ") and name[3:].isalnum())


def _ask(name: str, s: Situation) -> Tri:
    if name.startswith("on "):
        return s.tensor.device == name[3:]
    return TESTS[name][0](s)


@record(frozen=True)
class Decision:
    """The rule that applies, or None with the rules that may apply and the tests that are undecided."""

    rule: Rule | None
    possible: tuple[Rule, ...]
    undecided: tuple[str, ...]


def decide(rules: tuple[Rule, ...], default: Rule, s: Situation) -> Decision:
    """The first rule whose tests all answer as wanted; ``default`` when none does.

    Rules that say the same about the result count as one; of its drawbacks only those of all of them stay.
    """
    possible: list[Rule] = []
    undecided: dict[str, None] = {}
    for rule in (*rules, default):
        open_tests = _open_tests(rule, s)
        if open_tests is None:
            continue
        possible.append(rule)
        if not open_tests:
            break
        undecided.update(dict.fromkeys(open_tests))
    if len({(r.then, r.error, r.carry, r.gathered) for r in possible}) == 1:
        return Decision(_merge(possible), (possible[-1],), ())
    return Decision(None, tuple(possible), tuple(undecided))


def _open_tests(rule: Rule, s: Situation) -> list[str] | None:
    """The undecided tests of a rule, or None when one answers otherwise than wanted."""
    out: list[str] = []
    for name, wanted in rule.when:
        answer = _ask(name, s)
        if answer is None:
            out.append(name)
        elif answer is not wanted:
            return None
    return out


def _merge(rules: list[Rule]) -> Rule:
    if len(rules) == 1:
        return rules[0]
    bindings = {r.binding for r in rules}
    return replace(
        rules[-1],
        binding=bindings.pop() if len(bindings) == 1 else "storage",
        ordered=any(r.ordered for r in rules),
        leaks=all(r.leaks for r in rules),
    )


#: Kind of an outcome and sizes at which it happens.
Case: TypeAlias = "tuple[str, tuple[tuple[str, int], ...]]"


def cases(decision: Decision, s: Situation) -> tuple[Case, ...]:
    """For an undecided outcome: what happens at some admitted sizes, each kind once.

    Not every kind need be found, so this proves that one occurs, never that none other does.
    """
    *rules, last = decision.possible
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for sizes in s.ranges.samples(_symbols(s), limit=24):
        rule = decide(tuple(rules), last, _at(s, sizes)).rule
        if rule is not None:
            found.setdefault(rule.then, tuple(sorted(sizes.items())))
    return tuple(found.items())


def _symbols(s: Situation) -> set[str]:
    layouts = [s.tensor] if s.other is None else [s.tensor, s.other]
    parts = [
        s.offset,
        *(x for t in layouts for x in (*t.sizes, *t.strides, t.offset, t.capacity or t.offset)),
    ]
    return {name for e in parts for name in e.symbols}


def _at(s: Situation, sizes: dict[str, int]) -> Situation:
    env = {name: const(n) for name, n in sizes.items()}

    def fix(t: Layout) -> Layout:
        return replace(
            t,
            sizes=tuple(x.substitute(env) for x in t.sizes),
            strides=tuple(x.substitute(env) for x in t.strides),
            offset=t.offset.substitute(env),
            capacity=None if t.capacity is None else t.capacity.substitute(env),
        )

    other = None if s.other is None else fix(s.other)
    return replace(s, tensor=fix(s.tensor), other=other, offset=s.offset.substitute(env))


def condition(decision: Decision) -> str:
    """What an undecided outcome depends on, in words."""
    return " and ".join(f"whether {TESTS[n][1]}" for n in decision.undecided if n in TESTS)


# -- text ---------------------------------------------------------------------------------------


#: Placeholders a rule's ``why`` may use.
WORDS = (
    "sizes", "strides", "offset", "start", "numel", "extent", "dense", "dtype", "device", "capacity",
    "source_sizes", "source_strides", "source_dtype",
)  # fmt: skip


class _Words(dict[str, str]):
    """The values of :data:`WORDS`, worked out when asked for."""

    def __init__(self, s: Situation) -> None:
        super().__init__()
        self.s = s

    def __missing__(self, name: str) -> str:
        s, t = self.s, self.s.tensor
        if name.startswith("source_"):
            value = getattr(s.source, name[7:])
        elif name == "extent":
            value = p.span(t.sizes, t.strides)
        elif name == "dense":
            value = p.contiguous_strides(t.sizes, s.ranges)
        elif name == "numel":
            value = p.numel(t.sizes)
        else:
            value = {"offset": s.offset, "start": t.offset}.get(name) or getattr(t, name)
        return shape(value) if isinstance(value, tuple) else str(value)


def explain(rule: Rule, s: Situation) -> str:
    return rule.why.format_map(_Words(s))
