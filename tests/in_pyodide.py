"""What of the course runs in Pyodide without NumPy, which tests/test_lite.py has run there."""

import ast
import importlib
import importlib.util
import json
import sys
import types
from pathlib import Path

COURSE = Path("/course")
PACKAGES = ("minigrad", "minigrad.viz", "minigrad.jupyter", "exercises", "exercises.checks")


def without_numpy():
    """Packages whose __init__ imports NumPy, as empty ones: their modules can be imported one by one."""
    for name in PACKAGES:
        package = types.ModuleType(name)
        package.__path__ = [str(COURSE.joinpath(*name.split(".")))]
        sys.modules[name] = package


def imported():
    """The modules that are imported here, and what all others miss."""
    done, missed = [], {}
    for path in sorted(path for root in ("minigrad", "exercises") for path in (COURSE / root).rglob("*.py")):
        name = ".".join(path.relative_to(COURSE).with_suffix("").parts)
        try:
            importlib.import_module(name)
            done.append(name)
        except ImportError as error:
            missed[name] = getattr(error, "name", None) or str(error)
    return done, missed


def standard_library():
    """What minigrad and the checks import of Python's own that is not there."""
    found = set()
    for path in (path for root in ("minigrad", "exercises") for path in (COURSE / root).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level and node.module else []
            found |= {name.split(".")[0] for name in names}
    return sorted(name for name in found & sys.stdlib_module_names if importlib.util.find_spec(name) is None)


async def drawn():
    """The graph of /files/graph.dot, drawn by viz.js."""
    from minigrad.viz import browser, layout, palette

    before, refused = layout.engine(), ""
    await browser.load(Path("/npm/@viz-js/viz/dist/viz-global.js"))
    svg = palette.themed(layout.normalised(layout.render(Path("/files/graph.dot").read_text())))
    try:
        layout.render("digraph {")
    except layout.NoPicture as reason:
        refused = str(reason)
    return {"before": before, "engine": layout.engine(), "svg": svg, "refused": refused}


def judged():
    """The sandbox of the checks, without threads: a value, an error, and a loop without an end."""
    from exercises.checks import sandbox

    names = {}
    loop = "def work():\n    while True:\n        try: 1\n        except BaseException: pass\n"
    exec(compile(loop, "a-learners-cell", "exec"), names)
    answer, error = sandbox.run(lambda: 42, 5), sandbox.run(lambda: 1 / 0, 5)
    endless = sandbox.run(names["work"], 0.5)
    return {"value": answer.value, "error": repr(error.error), "timed_out": endless.timed_out}


async def main():
    """All of it, as JSON."""
    sys.path[:0] = [str(COURSE)]
    sys.dont_write_bytecode = True
    without_numpy()
    done, missed = imported()
    result = {"python": sys.version.split()[0], "imported": done, "missed": missed, "gone": standard_library()}
    return json.dumps({**result, "judged": judged(), "drawn": await drawn()})
