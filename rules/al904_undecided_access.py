"""AL904: under --strict, what could not be decided."""

from __future__ import annotations

from .registry import Rule

RULE = Rule(
    code="AL904",
    name="undecided-access",
    severity="note",
    summary="Under --strict: an access or statement was neither proved nor found faulty.",
    explanation="""
    Every access is proved, a fault with a witness, or unknown with a reason. Unknown is never reported as a
    fault; the summary counts it. With --strict each unknown becomes a finding of this code, so that a build
    can insist on a complete proof. Without --strict the code does not occur.
    """,
    bad="""
    out_ptr0[index[x0]] = v;            // nothing bounds a value loaded from memory
    """,
    good="""
    auto i = index[x0];
    AOTI_TORCH_CHECK((0 <= i) & (i < 64L), "index out of bounds");
    out_ptr0[i] = v;
    """,
    since="0.1.0",
    help="Read the reason: a size may need bounds (--size), an index a check in the model; or suppress it.",
)
