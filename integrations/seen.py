"""What the Python processes of an export command imported: a start-up module of ours writes it down when they end."""

from __future__ import annotations

import json
import os
from pathlib import Path

#: Where the processes of the command write, one file each.
_WHERE = "AOTI_LINT_SEEN"

#: Runs as sitecustomize of the command's own interpreter, whatever its version, and gives way to one that is there.
_START_UP = """\
import atexit, os, sys


def _seen():
    try:
        folder = os.environ["AOTI_LINT_SEEN"]
        names = [m for m in list(sys.modules) if m.startswith("executorch.backends.")]
        if not names:
            return
        try:
            from importlib.metadata import version
            release = version("executorch")
        except Exception:
            release = ""
        import json
        with open(os.path.join(folder, "%d.json" % os.getpid()), "w") as f:
            json.dump({"release": release, "modules": names}, f)
    except Exception:
        pass


atexit.register(_seen)
_here = os.path.dirname(os.path.abspath(__file__))
_path = list(sys.path)
sys.path[:] = [p for p in sys.path if os.path.abspath(p) != _here]
_own = sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError:
    if _own is not None:
        sys.modules["sitecustomize"] = _own
"""


def environment(folder: Path) -> dict[str, str]:
    """Variables for the command; ``folder`` is for this alone. Raises OSError."""
    (folder / "sitecustomize.py").write_text(_START_UP, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    return {"PYTHONPATH": path, _WHERE: str(folder)}


def executorch(folder: Path) -> str | None:
    """The release of ExecuTorch whose Metal or CUDA backend the command imported; None when it did not, "" if the
    release can't be told."""
    for file in sorted(folder.glob("*.json")):
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if any(m.startswith(_BACKENDS) for m in data["modules"]):
                return str(data["release"]).partition("+")[0]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


_BACKENDS = ("executorch.backends.apple.metal", "executorch.backends.cuda")
