"""Proof or witness that an access stays inside its memory."""

from .ladder import decide, index_range
from .model import Decision, IndexRange

__all__ = ["Decision", "IndexRange", "decide", "index_range"]
