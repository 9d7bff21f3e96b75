"""Analysis of generated wrappers: sources, wrapper and kernel readers, memory under a runtime, verdicts, reports."""
