"""C++/OpenMP kernels."""
