"""The text of a wrapper to a program: events in order, with the kernels they launch."""
