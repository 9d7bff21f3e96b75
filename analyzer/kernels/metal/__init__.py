"""Metal kernels."""
