"""The text of kernels to accesses: one folder a dialect."""
