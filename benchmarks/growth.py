"""Time against the number of kernels: one wrapper's body repeated 1, 4 and 16 times.

    python benchmarks/growth.py WRAPPER [--repeat N]

The launches and the kernels of the wrapper are repeated under new names, so that nothing is read from a
cache.  Prints CPU seconds and the exponent of growth (1.0 is linear), and peak memory.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import resource
import statistics
import time
from pathlib import Path

import aoti_lint


def deeper(text: str, times: int) -> str:
    """The wrapper with its Metal kernels and the statements of ``run_impl`` repeated."""
    kernels = list(re.finditer(r'const char\* (mps_lib_\d+)_source = \(R"MTL\(.*?\)MTL"\);\n', text, re.S))
    body = re.search(r"(inputs\.clear\(\);\n.*?\n)(    output_handles\[0\].*)", text, re.S)
    if not kernels or body is None:
        raise SystemExit("give a Metal wrapper")
    statements = re.sub(
        r"(?m)^    (?:arg\w+)\.reset\(\);.*\n|^.*kernels = static_cast.*\n|^\s*inputs\.clear.*\n",
        "",
        body.group(1),
    )
    sources, bodies = [], []
    for i in range(1, times):
        for m in kernels:
            # a different constant makes a different kernel
            one = m.group(0).replace(m.group(1), f"{m.group(1)}9{i}", 1)
            sources.append(
                re.sub(r"\n(\s*)out_ptr0\[", rf"\n\1auto unused{i} = {i};\n\1out_ptr0[", one, count=1)
            )
        copy = re.sub(r"\b(mps_lib_\d+)", rf"\g<1>9{i}", statements)
        copy = re.sub(r"\b((?:buf|int_array_)\d+)", rf"\g<1>9{i}", copy)
        bodies.append("    {\n" + copy + "    }\n")
    at = kernels[-1].end()
    cut = body.start(2)
    return text[:at] + "".join(sources) + text[at:cut] + "".join(bodies) + text[cut:]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wrapper", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    text = args.wrapper.read_text()
    aoti_lint.check(args.wrapper)  # imports and warm caches are not what is measured
    rows = []
    folder = args.wrapper.parent
    for times in (1, 4, 16):
        path = Path(folder if folder.is_dir() else ".") / f".growth{times}.wrapper.cpp"
        path.write_text(deeper(text, times))
        try:
            spent = []
            for _ in range(args.repeat):
                start = time.process_time()
                (report,) = aoti_lint.check(path).files
                spent.append(time.process_time() - start)
        finally:
            path.unlink()
        rows.append((times, statistics.median(spent), report.counts))
        counts = report.counts
        print(
            f"{times:3d}x  {counts.launches:5d} launches  {counts.accesses['total']:6d} accesses  {rows[-1][1]:8.3f} s"
        )
    for (a, s, _), (b, t, _) in itertools.pairwise(rows):
        print(f"exponent {a}x to {b}x: {math.log(t / s) / math.log(b / a):.2f}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main()
