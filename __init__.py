"""Static analyzer for AOTInductor wrappers."""
