"""Static analyzer for the code that PyTorch's AOTInductor generates.

>>> import aoti_lint
>>> report = aoti_lint.check("model.pt2", runtime="libtorch")      # doctest: +SKIP
>>> [f.message for r in report.files for f in r.findings]          # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from .analyzer.model.findings import Report
    from .integrations.watching import LintError, watch

__version__ = "0.2.0"
__all__ = ["LintError", "check", "check_many", "watch"]

Path: TypeAlias = "str | PathLike[str]"


def __getattr__(name: str) -> Any:
    # The command line does without what these import.
    if name in ("LintError", "watch"):
        from .integrations import watching

        return getattr(watching, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def check(
    path_or_paths: Path | Iterable[Path],
    runtime: str | Iterable[str] = "auto",
    *,
    sizes: Mapping[str, tuple[int | None, int | None]] | None = None,
    jobs: int | None = 1,
) -> Report:
    """Check wrappers, packages or folders; the report has the content of ``--format json``.

    ``runtime`` may be several, or ``all``: then every wrapper is in the report once under each.
    ``sizes`` narrows dynamic sizes: ``{"s77": (8, 8)}``. ``jobs`` None uses every core. Inputs that can't be
    analysed are in the report with ``status`` failed. Raises LookupError for an unknown runtime.
    """
    from .analyzer.pipeline import check_paths
    from .rules.registry import run_rules

    return check_paths(_listed(path_or_paths), run_rules, runtime=runtime, sizes=sizes, jobs=jobs)


def check_many(
    paths: Iterable[Path],
    *,
    executor: Executor,
    runtime: str | Iterable[str] = "auto",
    sizes: Mapping[str, tuple[int | None, int | None]] | None = None,
) -> Report:
    """Check many inputs on any executor: a process pool, or the client of a cluster."""
    from .analyzer.pipeline import check_paths
    from .rules.registry import run_rules

    return check_paths(_listed(paths), run_rules, runtime=runtime, sizes=sizes, executor=executor)


def _listed(paths: Path | Iterable[Path]) -> list[str]:
    if isinstance(paths, (str, PathLike)):
        return [fspath(paths)]
    return [fspath(p) for p in paths]
