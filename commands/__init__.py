"""The command line behind its options."""
