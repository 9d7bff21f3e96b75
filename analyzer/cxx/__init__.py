"""C++ and Metal text to small syntax trees, through libclang and preludes of its own."""
