"""The meaning of kernels, the same for every dialect: one module a concern."""
