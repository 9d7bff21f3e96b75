"""A runtime profile: what one version of a runtime does with what a wrapper asks of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from ..model.dtypes import itemsize
from ..model.record import record, replace
from ..symbolic import ZERO, Expr, floordiv, maximum, mod
from ..symbolic.assumptions import Ranges
from . import predicates as p
from .decide import Case, Decision, Situation, cases, condition, decide, explain
from .model import (
    AllocFacts,
    CloneFacts,
    Layout,
    OutputFacts,
    Rule,
    Section,
    Symbols,
    ViewFacts,
    effect_of,
)
from .ops import OpPolicy
from .predicates import Exprs

SymbolState: TypeAlias = Literal["present", "throws", "absent", "unknown"]


@record(frozen=True)
class Outcome:
    """What a runtime does.  ``kind`` is ``ok`` or what goes wrong, ``unknown`` when that isn't decided
    (the other fields are then those of the good case).

    ``effect``: ``abort``, ``error``, ``undefined``, ``wrong`` or "".  ``error`` is the code returned.
    ``condition`` says what an undecided outcome depends on and ``cases`` gives, for kinds that do occur,
    sizes at which they do.  ``fact`` is the id of the rule that decided, ``bug`` that of the known bug behind it.
    ``ordered`` False: a copy does not wait for writes before it, accesses through a view not for those through its base.
    ``slow``: it is right, and far slower than it need be.
    """

    kind: str
    reason: str = ""
    effect: str = ""
    error: str = ""
    condition: str = ""
    fact: str = ""
    bug: str = ""
    cases: tuple[Case, ...] = ()
    ordered: bool = True
    slow: bool = False


@record(frozen=True)
class AllocOutcome(Outcome):
    """``kind``: ok, reject, unknown.  ``capacity`` in elements; ``strides`` are those the tensor carries."""

    capacity: Expr = ZERO
    strides: Exprs = ()


@record(frozen=True)
class ViewOutcome(Outcome):
    """``kind``: alias, copy, reject, unknown.

    ``strides`` are those the result carries, ``offset`` (from the start of its storage) and ``capacity`` of
    that storage are in elements of its dtype; a copy is a storage of its own with offset 0.
    ``expected_offset`` is where libtorch would put it.  ``binding`` is how kernels and ops reach it:
    ``storage``, ``second-buffer`` (a buffer object of its own over the same memory) or ``by-value`` (they
    get a copy).  ``leaks``: its base is never freed.  ``gathered``: kernels use it in place, ops are given a
    packed copy.
    """

    strides: Exprs = ()
    offset: Expr = ZERO
    expected_offset: Expr = ZERO
    capacity: Expr | None = None
    binding: str = "storage"
    leaks: bool = False
    gathered: bool = False


_OK = Rule("ok", (), "ok")
_ALIAS = Rule("alias", (), "alias")
_SYMBOL_OF_VIEW = {
    "reinterpret": "aoti_torch__reinterpret_tensor",
    "as_strided": "aoti_torch_as_strided",
    "pool": "aoti_torch__alloc_from_pool",
    "dtype": "aoti_torch_{device}_view_dtype",
}


@record(frozen=True, eq=False)
class Profile:
    """One version of one runtime. ``name`` is its dated id, ``date`` when this state came into force."""

    name: str
    family: str
    date: str
    title: str
    proposed: bool
    note: str
    alloc_facts: AllocFacts
    constant_facts: Section
    view_facts: ViewFacts
    strided_facts: Section
    copy_facts: Section
    clone_facts: CloneFacts
    input_facts: Section
    output_facts: OutputFacts
    kernel_facts: Section
    symbols: Symbols
    ops: Mapping[str, OpPolicy]

    # -- memory
    def alloc(
        self, sizes: Exprs, strides: Exprs, dtype: str | None, device: str, ranges: Ranges
    ) -> AllocOutcome:
        """``empty_strided``."""
        s = self._situation(Layout(sizes, strides, dtype=dtype, device=device), ranges)
        return self._storage("alloc", self.alloc_facts.rules, s)

    def constant(
        self, sizes: Exprs, strides: Exprs, dtype: str | None, device: str, ranges: Ranges
    ) -> AllocOutcome:
        """A constant wrapped around its bytes at load time."""
        s = self._situation(Layout(sizes, strides, dtype=dtype, device=device), ranges)
        return self._storage("constant", self.constant_facts.rules, s)

    def _storage(self, subject: str, rules: tuple[Rule, ...], s: Situation) -> AllocOutcome:
        decision = decide(rules, _OK, s)
        carried = self._carried(decision.rule, self.alloc_facts.carry, s)
        base = self._outcome(subject, decision, s, carried)
        capacity = self.capacity(s.tensor, s.ranges)
        return AllocOutcome(*_fields(base), capacity=capacity, strides=carried or s.tensor.strides)

    def capacity(self, t: Layout, ranges: Ranges) -> Expr:
        """Elements of a fresh storage for this layout."""
        facts = self.alloc_facts
        count = p.numel(t.sizes) if facts.capacity == "numel" else p.extent(t.sizes, t.strides, ranges)
        if facts.capacity == "extent" and p.has_negative(t.strides, ranges) is True:
            count = maximum(count, 0)
        enough = ranges.nonneg(count - facts.min_elements) is True
        return count if enough or not facts.min_elements else maximum(count, facts.min_elements)

    def alignment(self, device: str) -> int | None:
        """Bytes a fresh storage is aligned to, or None when not known."""
        return dict(self.alloc_facts.align).get(device)

    def view(
        self,
        base: Layout,
        sizes: Exprs | None,
        strides: Exprs | None,
        offset: Expr,
        how: str,
        ranges: Ranges,
        dtype: str | None = None,
    ) -> ViewOutcome:
        """A view of ``base``, made as :class:`~..model.program.View` says (``offset`` in bytes for a pool)."""
        sizes = base.sizes if sizes is None else sizes
        strides = base.strides if strides is None else strides
        dtype = dtype or base.dtype
        storage, expected = _start(base, offset, how, dtype)
        begin = offset if how == "reinterpret" and self.view_facts.offset == "absolute" else expected
        tensor = Layout(sizes, strides, begin, storage, dtype, base.device)
        s = Situation(tensor, ranges, self.alloc_facts, offset, base)
        if how != "reinterpret":
            return self._plain_view(s, how)
        decision = decide(self.view_facts.rules, _ALIAS, s)
        carried = self._carried(decision.rule, self.view_facts.carry, s)
        outcome = self._outcome("view", decision, s, carried)
        rule = decision.rule or _ALIAS
        if rule.then == "copy":
            begin, storage, carried = ZERO, p.numel(sizes), p.contiguous_strides(sizes, ranges)
        return ViewOutcome(
            *_fields(outcome),
            strides=carried or strides,
            offset=begin,
            expected_offset=expected,
            capacity=storage,
            binding=rule.binding,
            ordered=rule.ordered,
            leaks=rule.leaks,
            gathered=rule.gathered,
        )

    def _plain_view(self, s: Situation, how: str) -> ViewOutcome:
        """Views that alias wherever they exist."""
        t = s.tensor
        kind, reason, fact, effect, error = "alias", "", f"view.{how}", "", ""
        symbol = _SYMBOL_OF_VIEW.get(how, "").format(device=t.device)
        if symbol and self.symbol(symbol) != "present":
            kind, reason, fact = "unknown", f"{self.name} has no {symbol}", "symbols"
        elif how == "as_strided" and self.strided_facts.rules:
            return self._strided_view(s)
        elif how == "pool" and s.ranges.equal(s.source.offset, 0) is False:
            kind, reason, effect, error = "reject", "the pool does not start its storage", "error", "error"
        elif how == "pool" and s.ranges.equal(mod(s.offset, itemsize(t.dtype or "")), 0) is False:
            reason = f"byte {s.offset} is inside an element of {t.dtype}: the remainder is dropped"
        bug = "LT-POOL-OFFSET" if how == "pool" and reason and kind != "unknown" else ""
        base = Outcome(kind, reason, effect, error, "", fact, bug)
        return ViewOutcome(
            *_fields(base), strides=t.strides, offset=t.offset, expected_offset=t.offset, capacity=t.capacity
        )

    def _strided_view(self, s: Situation) -> ViewOutcome:
        """``as_strided`` where the runtime looks at what it is given."""
        t = s.tensor
        outcome = self._outcome("as_strided", decide(self.strided_facts.rules, _ALIAS, s), s, t.strides)
        return ViewOutcome(
            *_fields(outcome),
            strides=t.strides,
            offset=t.offset,
            expected_offset=t.offset,
            capacity=t.capacity,
        )

    def copy(self, dst: Layout, src: Layout, ranges: Ranges) -> Outcome:
        """``copy_``: ok, reject, corrupt (wrong elements arrive) or unknown."""
        s = Situation(dst, ranges, self.alloc_facts, ZERO, _as_read(src, ranges))
        return self._outcome("copy", decide(self.copy_facts.rules, _OK, s), s, dst.strides)

    def clone(self, src: Layout, ranges: Ranges, preserve_strides: bool = False) -> AllocOutcome:
        """``aoti_torch_clone`` or ``clone_preserve_strides``: layout and capacity of the new tensor."""
        symbol = "aoti_torch_clone_preserve_strides" if preserve_strides else "aoti_torch_clone"
        state = self.symbol(symbol)
        kept = preserve_strides or self.clone_facts.layout == "kept"
        dense = True if kept else p.et_canon(src.sizes, src.strides, ranges).ok
        strides = src.strides if dense else p.contiguous_strides(src.sizes, ranges)
        if state in ("throws", "absent"):
            reason = f"{symbol} {'always throws' if state == 'throws' else 'does not exist'} in {self.name}"
            base = Outcome("reject", reason, "error", state, "", "symbols", "MET-CLONE")
        elif state == "unknown":
            base = Outcome("unknown", f"{self.name} may not have {symbol}", fact="symbols")
        elif dense is None:
            base = Outcome("unknown", "it is not decided whether the source is dense", fact="clone")
        else:
            base = Outcome("ok", fact="clone")
        capacity = p.extent(src.sizes, strides, ranges)
        return AllocOutcome(*_fields(base), capacity=capacity, strides=strides)

    # -- the edges
    def input(self, tensor: Layout, ranges: Ranges) -> Outcome:
        """Whether the caller can hand over an input of the layout the wrapper expects."""
        return self._edge("input", self.input_facts.rules, tensor, ranges)

    def output(self, tensor: Layout, ranges: Ranges) -> Outcome:
        """Whether a tensor of this layout can be handed back to the caller."""
        return self._edge("output", self.output_facts.rules, tensor, ranges)

    def kernel_arg(self, tensor: Layout, ranges: Ranges) -> Outcome:
        """How a tensor reaches a kernel on another device than the CPU: ok (in place), copied (a copy, so
        that writes are lost), reject."""
        return self._edge("kernel", self.kernel_facts.rules, tensor, ranges)

    def _edge(self, subject: str, rules: tuple[Rule, ...], tensor: Layout, ranges: Ranges) -> Outcome:
        s = self._situation(_as_read(tensor, ranges), ranges)
        return self._outcome(subject, decide(rules, _OK, s), s, tensor.strides)

    # -- symbols and ops
    def symbol(self, name: str) -> SymbolState:
        """Whether the library that loads the wrapper has a C symbol."""
        if name in self.symbols.throws:
            return "throws"
        if name in self.symbols.absent:
            return "absent"
        if self.symbols.open or name in self.symbols.present:
            return "present"
        if name in self.symbols.maybe or not name.startswith(("aoti_torch_", "torch_", "aoti_record_")):
            return "unknown"
        return "absent"

    def op(self, symbol: str) -> OpPolicy | None:
        """What is known against an op; None when nothing is (it honours what it is given, or is absent)."""
        return self.ops.get(symbol)

    # -- helpers
    def _situation(self, tensor: Layout, ranges: Ranges) -> Situation:
        return Situation(tensor, ranges, self.alloc_facts, tensor.offset)

    def _carried(self, rule: Rule | None, default: str, s: Situation) -> Exprs | None:
        """Strides the result carries; None when the order of its dims is not decided."""
        t = s.tensor
        how = (rule.carry if rule else "") or default
        if how == "dense":
            return p.contiguous_strides(t.sizes, s.ranges)
        if how == "given" or (rule is not None and rule.then == "reject"):
            return t.strides
        canon = p.et_canon(t.sizes, t.strides, s.ranges, ones_last=how == "canonical-ones-last")
        return t.strides if canon.ok is not True else canon.strides

    def _outcome(self, subject: str, decision: Decision, s: Situation, carried: Exprs | None) -> Outcome:
        """A good outcome becomes unknown when the strides it carries (None) are not decided."""
        rule = decision.rule
        if rule is None:
            found, fact = cases(decision, s), f"{subject}.{decision.possible[0].id}"
            return Outcome(
                "unknown", _open_reason(decision, found), "", "", condition(decision), fact, "", found
            )
        if carried is None and rule.then in ("ok", "alias"):
            return Outcome("unknown", "the order of its dims is not decided", fact=f"{subject}.{rule.id}")
        error, fact = rule.error, f"{subject}.{rule.id}"
        effect = effect_of(rule.then, error)
        return Outcome(
            rule.then, explain(rule, s), effect, error, "", fact, rule.bug, (), rule.ordered, rule.slow
        )


def _fields(o: Outcome) -> tuple[str, str, str, str, str, str, str, tuple[Case, ...]]:
    return o.kind, o.reason, o.effect, o.error, o.condition, o.fact, o.bug, o.cases


def _open_reason(decision: Decision, found: tuple[Case, ...]) -> str:
    if not found:
        return "not decided: " + " or ".join(dict.fromkeys(r.then for r in decision.possible))
    texts = [f"{kind} at " + ", ".join(f"{n} = {v}" for n, v in sizes) for kind, sizes in found]
    return f"{'differs by size' if len(found) > 1 else 'not decided for all sizes'}: {'; '.join(texts)}"


def _as_read(t: Layout, ranges: Ranges) -> Layout:
    """The layout an op sees: that of the packed copy when it is given one."""
    return replace(t, strides=p.contiguous_strides(t.sizes, ranges)) if t.gathered else t


def _start(base: Layout, offset: Expr, how: str, dtype: str | None) -> tuple[Expr | None, Expr]:
    """Capacity of the storage and where libtorch starts the view in it, in elements of the view's dtype."""
    old, new = itemsize(base.dtype or dtype or ""), itemsize(dtype or "")
    capacity, start = base.capacity, base.offset
    if old != new:
        capacity = None if capacity is None else floordiv(capacity * old, new)
        start = floordiv(start * old, new)
    if how == "pool":
        return capacity, floordiv(offset, new)
    return capacity, start if how in ("as_strided", "alias", "dtype") else start + offset
