"""Cold start of ``aoti-lint check`` against compilers on a CPU wrapper with torch's headers.

    python benchmarks/cold_start.py WRAPPER [--torch-wrapper FILE] [--repeat N]

WRAPPER is what aoti-lint checks.  FILE is a CPU wrapper that includes torch's headers (default: one exported
on the spot); it is given to ``g++ -fsyntax-only`` and, where installed, ``clang-tidy``.  Prints medians and
ratios; needs torch for the headers.  Install the package first (not in place with bytecode switched off): the
first run of a source tree compiles it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

EXPORT = """
import sys, torch
class M(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1
with torch.no_grad():
    ep = torch.export.export(M().eval(), (torch.randn(8, 16),))
    torch._inductor.aoti_compile_and_package(ep, package_path=sys.argv[1])
"""


def seconds(command: list[str], repeat: int) -> float:
    """Median wall time of a command over several runs, after one that warms the file cache."""
    times = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def exported(folder: Path) -> Path:
    package = folder / "m.pt2"
    subprocess.run([sys.executable, "-c", EXPORT, str(package)], check=True, stderr=subprocess.DEVNULL)
    with zipfile.ZipFile(package) as z:
        (name,) = [n for n in z.namelist() if n.endswith(".wrapper.cpp")]
        out = folder / "m.wrapper.cpp"
        out.write_bytes(z.read(name))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wrapper", type=Path)
    parser.add_argument("--torch-wrapper", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    import torch

    base = Path(torch.__file__).parent / "include"
    includes = [f"-I{base}", f"-I{base / 'torch/csrc/api/include'}"]
    with tempfile.TemporaryDirectory() as folder:
        reference = args.torch_wrapper or exported(Path(folder))
        flags = ["-std=c++20", "-DCPU_CAPABILITY_DEFAULT", *includes]
        lint = seconds([sys.executable, "-m", "aoti_lint", "check", str(args.wrapper)], args.repeat)
        gcc = seconds(["g++", "-fsyntax-only", *flags, str(reference)], args.repeat)
        print(f"aoti-lint check      {lint:8.3f} s")
        print(f"g++ -fsyntax-only    {gcc:8.3f} s   ratio {gcc / lint:6.1f}")
        if shutil.which("clang-tidy"):
            tidy = seconds(
                ["clang-tidy", "--checks=bugprone-*,clang-analyzer-*", str(reference), "--", *flags], 1
            )
            print(f"clang-tidy           {tidy:8.3f} s   ratio {tidy / lint:6.1f}")


if __name__ == "__main__":
    main()
