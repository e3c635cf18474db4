"""What pytest needs to know about every folder, notebooks included; hence at the top."""

import gc
import importlib.util
import os
import re
import signal
import tempfile
from pathlib import Path

import pytest

# Not tests: they need playwright or torch, and pytest would import them in its search for doctests.
collect_ignore = [
    "tests/browser/hub.py",
    "tests/browser/lab.py",
    "tests/browser/screenshot.py",
    "tests/browser/web.py",
    "tests/fuzz/explore.py",
]
# The pictures differ between layout engines and fonts; their stable text form is compared.
DRAWN = ("image/svg+xml", "text/html")
BY_NUMBER = (
    "tests/test_graders.py",
    "tests/test_mutants.py",
    "tests/test_exercises_generated.py",
    "tests/test_without_engines.py",
    "tests/fuzz/test_fuzz.py",
    "tests/browser/test_jupyterlab.py",
    "tests/browser/test_site_pages.py",
)
PROGRESS = pytest.StashKey[Path]()


def pytest_configure(config):
    """Keep progress away from the learner's own file."""
    folder = tempfile.TemporaryDirectory(prefix="minigrad-progress-")
    config.add_cleanup(folder.cleanup)
    config.stash[PROGRESS] = Path(folder.name)
    gc.disable()
    # For workers and kernels, which share the cores: more threads for small matrices only cost time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A shell's background jobs ignore Ctrl-C, and so would the programs that tests interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process more than there are cores, for tests wait: for kernels, for pip, for endless answers to end."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Share the work by file (a notebook's cells need each other), and what is long by the number in its id."""
    from xdist.scheduler import LoadScopeScheduling

    # Not what has most tests first, but in order: that ends with short notebooks, so that no worker waits for long.
    config.option.loadscopereorder = False

    class ByFileAndNumber(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file, *_ = nodeid.split("::", 1)
            number = re.search(r"\[[a-z/-]*(\d+)", nodeid) if file in BY_NUMBER else None
            return f"{file}::{number[1]}" if number else file

    return ByFileAndNumber(config, log)


def pytest_collectstart(collector):
    """Let nbval compare what notebooks say, not how their pictures are drawn."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += DRAWN


def pytest_collection_finish():
    """Spare the garbage collector what was collected: 11,000 tests would be looked through again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before nbval starts the kernel, which inherits the variable
def pytest_runtest_setup(item):
    """Start every file without progress; skip what compares with a PyTorch that is not there."""
    name = f"{item.path.parent.name}-{item.path.stem}.json"
    os.environ["MINIGRAD_PROGRESS"] = str(item.config.stash[PROGRESS] / name)
    if item.get_closest_marker("torch") and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed: only comparisons with PyTorch need it")
