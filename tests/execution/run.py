"""Run all kernels of a wrapper and tell what each launch touched."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from aoti_lint.analyzer.sources import WrapperSource
from aoti_lint.analyzer.wrapper.reader import read_program

from .build import program
from .emulate import Emulation
from .numpy_machine import Arg, NumpyMachine
from .results import Execution, NotRun, result
from .rewrite import Parameter, Runnable, cpp_runnables, metal_runnables
from .script import ALIASES, Memory
from .triton_kernels import MAX_PROGRAMS, TritonKernel, run_launch, triton_kernels
from .triton_language import Unsupported

#: Most memory the emulated storages may take at a time, bytes (each byte also has a state byte).
MAX_BYTES = 3 << 30


def execute(
    source: WrapperSource,
    memory: Memory = ALIASES,
    sizes: Mapping[str, int] | None = None,
    timeout: float = 600,
) -> Execution:
    """Run the model's main body once on random inputs. Raises NotRun, NotBuilt."""
    kernels, dialect = runnables(source)
    files = [(k.path, k.text) for k in source.kernels]
    wrapper = read_program(source.wrapper.text, source.wrapper.path, files, source.wrapper.first_line)
    emulation = Emulation(wrapper, kernels, memory, sizes)
    emulation.function(wrapper.functions[-1])
    if emulation.script.peak > MAX_BYTES:
        raise NotRun(f"needs {emulation.script.peak >> 20} MiB of storages")
    lines = emulation.script.lines
    if dialect == "triton":
        answers = _in_python(source, kernels, lines)
    else:
        width = 32 if "CPU_CAPABILITY_AVX2" in "".join(k.text for k in source.kernels) else 64
        answers = _compiled(kernels, dialect, width, lines, timeout)
    ran = [result(q, a) for q, a in zip(emulation.asked, answers, strict=True)]
    return Execution(tuple(ran), tuple(emulation.skipped), emulation.sizes)


def runnables(source: WrapperSource) -> tuple[list[Runnable], str]:
    """The kernels of a wrapper and the dialect they are in."""
    text = source.wrapper.text
    if metal := metal_runnables(text):
        return metal, "metal"
    if "async_compile.triton" in text:
        return [_runnable(name, k) for name, k in triton_kernels(text).items()], "triton"
    return [k for t in ([k.text for k in source.kernels] or [text]) for k in cpp_runnables(t)], "cpp"


def _runnable(name: str, kernel: TritonKernel) -> Runnable:
    params = (
        Parameter(p, kernel.types[p].name if p in kernel.types else "scalar", p in kernel.types)
        for p in kernel.params
    )
    return Runnable(name, tuple(params), "", "", (("uint3", "program"),))


def _compiled(
    kernels: Sequence[Runnable], dialect: str, width: int, lines: Sequence[str], timeout: float
) -> list[dict[str, Any]]:
    binary = program(kernels, dialect, width)
    script = "\n".join(lines) + "\n"
    done = subprocess.run([str(binary)], input=script, capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise NotRun(f"the emulation ended with {done.returncode}: {done.stderr[-200:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _in_python(
    source: WrapperSource, kernels: Sequence[Runnable], lines: Sequence[str]
) -> list[dict[str, Any]]:
    functions = triton_kernels(source.wrapper.text)

    def launch(kernel: int, args: Sequence[Arg | int | float]) -> str:
        grid = [int(g) for g in args[-6:-3] if not isinstance(g, Arg)]
        if prod(grid) > MAX_PROGRAMS:
            return f"{prod(grid)} programs are too many"
        try:
            return run_launch(functions[kernels[kernel].name], args[:-6], grid)
        except Unsupported as e:
            return f"not supported: {e}"
        except (TypeError, NameError) as e:  # Python that Triton's compiler understands and Python doesn't
            return f"not supported: {e}"

    return NumpyMachine(launch).run(lines)
