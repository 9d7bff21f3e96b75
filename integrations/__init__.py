"""The check inside other processes: exports, test suites."""
