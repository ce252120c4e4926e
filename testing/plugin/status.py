"""Tells what this process runs, and in which stage that is."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextvars import Token

import pytest

from testing.execution.stages import listener
from testing.mixin import export_case_of
from testing.session import SESSION
from testing.status import MAIN, StatusFile

__all__: list[str] = []

_FILE = pytest.StashKey[StatusFile]()
_LISTENING = pytest.StashKey[Token[Callable[[str], None] | None]]()


@pytest.hookimpl(trylast=True)  # the session is open by then
def pytest_configure(config: pytest.Config) -> None:
    """Listen to the stages of cases."""
    shared = config.stash[SESSION].shared
    if shared is not None:
        file = StatusFile(shared, os.environ.get("PYTEST_XDIST_WORKER", MAIN))
        config.stash[_FILE] = file
        config.stash[_LISTENING] = listener.set(file.enter)


@pytest.hookimpl(tryfirst=True)  # before the shared directory goes
def pytest_unconfigure(config: pytest.Config) -> None:
    """Listen no more."""
    if _LISTENING in config.stash:
        listener.reset(config.stash[_LISTENING])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tell the begin and the end of a test."""
    file = item.config.stash[_FILE]
    file.begin(item.nodeid, export_case_of(item))
    ended = yield
    file.end()
    return ended
