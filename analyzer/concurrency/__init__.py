"""Iterations of one launch, or launches a runtime does not order, that meet at one element."""
