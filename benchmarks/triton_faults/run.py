"""Faults of hand-written Triton kernels: what aoti-lint says about each and about its twin, and in what time.

    python benchmarks/triton_faults/run.py [--write FOLDER]

Prints one line a case: the codes reported for the faulty kernel, for its twin, and the median seconds of reading and
judging one wrapper in this process.  ``--write`` leaves the wrappers in a folder, to try other tools on them.  Nothing
is executed; ``tests/test_triton_faults.py`` executes those that are small enough.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from aoti_lint.analyzer.pipeline import analyse
from aoti_lint.analyzer.sources import SourceText, WrapperSource
from aoti_lint.rules.registry import run_rules
from cases import CASES, Case, wrapper

REPEAT = 3


def judged(c: Case) -> tuple[list[str], str, float]:
    """(codes of errors, counts of accesses, seconds)"""
    text, times = wrapper(c), []
    for _ in range(REPEAT):
        start = time.perf_counter()
        analysis = analyse(WrapperSource(SourceText(f"{c.name}.wrapper.cpp", text)), "libtorch", {})
        findings = run_rules(analysis)
        times.append(time.perf_counter() - start)
    statuses = [v.decision.status for v in analysis.verdicts]
    said = ", ".join(f"{statuses.count(s)} {s}" for s in ("proved", "fault", "unknown") if s in statuses)  # type: ignore[arg-type]
    return sorted({f.code for f in findings if f.severity == "error"}), said, statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="leave the wrappers there")
    folder: Path | None = parser.parse_args().write
    seconds: list[float] = []
    found = alarms = 0
    print("| kernel | fault | twin | seconds |\n| --- | --- | --- | ---: |")
    for c in CASES:
        bad, good = judged(c), judged(c.ok())
        found += bool(set(bad[0]) & set(c.codes))
        alarms += bool(good[0])
        seconds += [bad[2], good[2]]
        print(
            f"| {c.name} | {' '.join(bad[0]) or 'nothing'} ({bad[1]}) | {' '.join(good[0]) or good[1]} | {bad[2]:.3f} |"
        )
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for kind, case in (("bad", c), ("ok", c.ok())):
                (folder / f"{c.name}.{kind}.wrapper.cpp").write_text(wrapper(case))
    print(
        f"\n{found} of {len(CASES)} faults, {alarms} alarms on twins, median {statistics.median(seconds):.3f} s"
    )


if __name__ == "__main__":
    main()
