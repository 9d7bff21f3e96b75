"""Why a text is not read."""

from __future__ import annotations


class NotAWrapper(Exception):
    """The text is no wrapper, or it is cut short; the message says which, in one line."""
