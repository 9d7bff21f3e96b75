"""Headless Chromium for tests of pages: the document after its script ran, screenshots, print."""

from __future__ import annotations

import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

_QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=2000",
)  # fmt: skip


class Browser:
    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def _run(self, page: Path, *options: str, fragment: str = "") -> str:
        profile = self.folder / "profile"
        call = [
            self.program,
            *_QUIET,
            f"--user-data-dir={profile}",
            *options,
            page.resolve().as_uri() + fragment,
        ]
        done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=120)
        return done.stdout

    def dom(self, page: Path, fragment: str = "", width: int = 1300) -> str:
        """The document after its script ran in a window of this width, as markup."""
        return self._run(page, "--dump-dom", f"--window-size={width},900", fragment=fragment)

    def corner(self, page: Path, *, dark: bool) -> tuple[int, ...]:
        """Red, green and blue of the first pixel of a screenshot."""
        file = self.folder / "page.png"
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        self._run(page, scheme, "--window-size=600,400", f"--screenshot={file}")
        return first_pixel(file.read_bytes())

    def pdf(self, page: Path) -> bytes:
        file = self.folder / "page.pdf"
        self._run(page, f"--print-to-pdf={file}")
        return file.read_bytes()


def first_pixel(png: bytes) -> tuple[int, ...]:
    """The first pixel is stored as it is: every filter of a PNG predicts it from nothing, as zero."""
    assert png.startswith(b"\x89PNG")
    at, data = 8, b""
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += size + 12
    return tuple(zlib.decompress(data)[1:4])


def browser(folder: Path) -> Browser:
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium")
    return Browser(program, folder)
