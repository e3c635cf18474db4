"""Fixtures of several test files: each layout engine by itself, and none."""

import sys

import pytest

from minigrad.viz import layout


@pytest.fixture(params=["dot", "pygraphviz"])
def engine(request, monkeypatch):
    """Pictures are laid out by this engine alone."""
    monkeypatch.setenv(layout.SETTING, request.param)
    if layout.engine() != request.param:
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def no_engine(monkeypatch):
    """There is nothing on this machine that lays out pictures."""
    monkeypatch.delenv(layout.SETTING, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
