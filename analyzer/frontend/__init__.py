"""Readers of wrapper and kernel code; each lowers to the program model."""
