"""Proof by execution: kernels of a wrapper compiled with g++ and run with pointers that record and never stray."""
