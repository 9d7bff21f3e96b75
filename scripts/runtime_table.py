"""Which runtime versions take a folder of wrappers, as the Markdown table of docs/runtimes.md.

python scripts/runtime_table.py FOLDER
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict

import aoti_lint
from aoti_lint.analyzer.model.codes import CODES
from aoti_lint.analyzer.reporting.compare import Row, rows
from aoti_lint.analyzer.reporting.formats.compared import refused

_HEAD = "| runtime | takes | of these with warnings | wrong results | stops | wrappers with errors, by code |"


def table(found: list[Row]) -> str:
    """A row for each runtime; what could not be analysed is left out."""
    by_runtime: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        if row.verdict != "failed":
            by_runtime[row.file.runtime].append(row)
    lines = [_HEAD, "| --- | ---: | ---: | ---: | ---: | --- |"]
    for runtime, mine in by_runtime.items():
        n = Counter(row.verdict for row in mine)
        why = ", ".join(f"{code} {CODES[code].name} {count}" for code, count in refused(mine)[:4])
        numbers = (n["takes"] + n["warnings"], n["warnings"], n["wrong"], n["stops"])
        lines.append(f"| `{runtime}` | {' | '.join(map(str, numbers))} | {why} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    print(table(rows(aoti_lint.check(parser.parse_args().folder, "all", jobs=None))), end="")


if __name__ == "__main__":
    main()
