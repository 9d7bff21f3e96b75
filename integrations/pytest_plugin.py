"""pytest: ``--aoti-lint`` lints what every test exports and fails the test whose export has errors."""

from __future__ import annotations

from collections.abc import Generator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("aoti-lint").addoption(
        "--aoti-lint",
        action="store_true",
        help="Lint the code AOTInductor generates in every test and fixture.",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--aoti-lint"):
        config.pluginmanager.register(_Plugin(config), "aoti-lint-watch")


class _Plugin:
    """Watches the set-up and the call of every test, each with a cache of its own.

    The nearest configuration file above the root folder says what fails and what is accepted.
    """

    def __init__(self, config: pytest.Config) -> None:
        from ..analyzer.config import ConfigError, find, load

        try:
            self.settings = load(find(config.rootpath))
        except ConfigError as e:
            raise pytest.UsageError(f"aoti-lint: {e}") from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        return (yield from self._watched())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        return (yield from self._watched())

    def _watched(self) -> Generator[None, object, object]:
        from .watching import LintError, fresh_cache, lint

        with fresh_cache() as watched:
            result = yield
        try:
            lint(watched, self.settings)
        except LintError as e:
            pytest.fail(str(e), pytrace=False)
        return result
