"""What a path holds: named texts, or one line about why there are none."""

from __future__ import annotations

from ..model.record import field, record

#: Largest wrapper or kernel file that is read, bytes (the largest known real one has 10 MB).
MAX_TEXT = 32 << 20
#: Most text taken from one package, bytes, all wrappers and kernels together.
MAX_PACKAGE = 256 << 20
#: Most that a member of a package may grow when it is unpacked (real generated text: below 50).
MAX_RATIO = 300
#: Most files looked at in a folder, or members in a package.
MAX_FILES = 200_000


class SourceError(Exception):
    """An input that can't be turned into texts; the message is one line for the user."""


@record(frozen=True)
class Failure:
    """An input that could not be read: ``path`` as displayed, ``error`` one line."""

    path: str
    error: str


@record(frozen=True)
class SourceText:
    """One text of the user's: line 1 of ``text`` is line ``first_line`` of the file at ``path``.

    ``path`` is for display: ``model.pt2!model/data/aotinductor/model/abc.wrapper.cpp`` in a package.
    """

    path: str
    text: str
    first_line: int = 1


@record(frozen=True)
class WrapperSource:
    """A wrapper and the kernel files it calls into.

    Kernels that stand in the wrapper's own text are not repeated in ``kernels``.  ``extern_nodes`` is the
    JSON text that says what proxy-executor calls do; ``metadata`` the flat string map beside the wrapper.
    ``python``: the wrapper's host code is Python, with its kernels in strings.
    """

    wrapper: SourceText
    kernels: tuple[SourceText, ...] = ()
    extern_nodes: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    python: bool = False

    @property
    def size(self) -> int:
        """Characters of source text."""
        return sum(map(len, self.texts))

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(part.text for part in (self.wrapper, *self.kernels))
