"""Open the course, test it, or grade a class, in a virtual environment that it makes for itself.

    python3 course.py               open JupyterLab on your desk: chapters and exercises that are yours to write in
    python3 course.py fresh 05      give chapter 05 back as new, and keep yours beside it
    python3 course.py test          run every test
    python3 course.py grade FOLDER  grade collected exercise notebooks (--help says how)
    python3 course.py site          make the site, pages to read that ask nothing of the network
    python3 course.py --version     say what runs here

On Windows type `py course.py`. What follows is passed on: `course.py --no-browser --port 9999` to JupyterLab,
`course.py test -k leaf` to pytest. --help after a command says more about it, and does nothing else. The environment
is the folder .venv, or the one that the variable MINIGRAD_VENV names; to start afresh, delete it.
"""

# Standard library only, in syntax that Python 3.6 can read: an old Python must be able to say that it is too old.

import os
import sys

# A folder in PYTHONPATH may hold a module with the name of one of Python's own, and would hide it.
for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    if folder and os.path.abspath(folder) in sys.path:
        sys.path.remove(os.path.abspath(folder))

import ast
import difflib
import platform
import re
import signal
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))
try:
    from tools.environment import COURSE, OLDEST_PYTHON, TESTS, Environment, Problem, say, too_old
except ImportError:
    sys.exit("The folder tools is missing: get the whole course, with every folder, and not this file alone.")

FIRST_NOTEBOOK = Path("notebooks", "00_start_here.ipynb")
TYPED = "py course.py" if os.name == "nt" else "python3 course.py"
TEST_HELP = """Run every test: the tests, the examples in the docstrings, and each notebook against its stored outputs.

    python3 course.py test          all of them
    python3 course.py test -k leaf  those with "leaf" in their name

What follows is passed on to pytest: https://docs.pytest.org has its options.
"""
AUTHOR_HELP = """What writes the course, for those who write it. CONTRIBUTING.md says what to run when.

    python3 course.py author new exercise 05 NAME   begin an exercise of chapter 05
    python3 course.py author new chapter NN NAME    begin a chapter
    python3 course.py author transcripts   record what PyTorch says to %%versus cells (needs PyTorch)
    python3 course.py author outputs       run chapters and solutions and store what they show
    python3 course.py author pages         make the map, the glossary, the recap and the links between chapters
    python3 course.py author exercises     make the exercise notebooks from the solutions

--help after each says more about it. `course.py new` is short for `course.py author new`.
"""
COMMANDS = ("fresh", "test", "grade", "site")
AUTHOR = {
    "new": "new",
    "transcripts": "record_transcripts",
    "outputs": "refresh_outputs",
    "pages": "pages",
    "exercises": "generate",
}


def main(words):
    """Do what was typed and return the exit code."""
    if sys.version_info < OLDEST_PYTHON:
        raise Problem(too_old())
    if words[:1] == ["new"]:
        words = ["author", *words]
    environment = Environment(os.environ.get("MINIGRAD_VENV") or ROOT / ".venv")
    if words == ["author"] or {"-h", "--help"} & set(words):
        return show_help(words, environment)
    if words[:1] == ["--version"]:
        say(versions(environment))
        return 0
    arguments = command_line(words)
    environment.prepare(TESTS if words[:1] == ["test"] else COURSE)
    # Ctrl-C is from now on the business of what runs in this terminal.
    signal.signal(signal.SIGINT, lambda *_: None)
    return environment.run(arguments)


def command_line(words):
    """The arguments for the environment's Python that do what was typed."""
    if not words or words[0].startswith("-"):
        refuse_mistyped(words)
        existing(FIRST_NOTEBOOK)
        return tool("lab", words)
    command, options = words[0], words[1:]
    if command == "test":
        return run_tests(options)
    if command == "grade":
        return tool("grading", ["--base", os.getcwd(), *options])
    if command in ("fresh", "site"):
        return tool("desk" if command == "fresh" else "site", options)
    if command == "author":
        if options[0] not in AUTHOR:
            raise Problem(unknown(options[0], [*AUTHOR, "--help"], "author "))
        if options[0] in ("pages", "transcripts") and options[1:]:
            raise Problem(f"`{TYPED} author {options[0]}` takes nothing more, no {options[1]!r}. Nothing was run.")
        return tool(AUTHOR[options[0]], options[1:])
    raise Problem(unknown(command, [*COMMANDS, "--help", "--version"]))


def refuse_mistyped(options):
    """Stop at an option that is nearly one of ours: JupyterLab would answer it with sixty lines of its own."""
    near = [word for word in options if difflib.get_close_matches(word, ["--help", "--version"], 1, 0.8)]
    if near:
        raise Problem(unknown(near[0], ["--help", "--version"]))


def run_tests(options):
    """One pytest for all: tests, doctests, and every notebook against its stored outputs."""
    notebooks = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=60"]
    # One more than there are cores, for many tests wait: for kernels, for graders, for programs of their own.
    parallel = ["-n", str(min(4, (os.cpu_count() or 1) + 1)), "--dist=loadfile"]
    return ["-m", "pytest", *notebooks, *parallel, *options]


def tool(name, options):
    """A module of tools/, by its name."""
    source(name)
    return ["-m", "tools." + name, *options]


def source(name):
    """The file of a module of tools/."""
    package = Path("tools", name, "__main__.py")
    return package if (ROOT / package).exists() else existing(Path("tools", name + ".py"))


def existing(path):
    """`path`, relative to the course; a Problem when it is not there."""
    if not (ROOT / path).exists():
        raise Problem(f"The file {path} is missing: get the whole course again, with every folder.")
    return path


def show_help(words, environment):
    """Say what a command does, and do nothing else: no environment is made for it."""
    command = "" if words[0].startswith("-") else words[0]
    part = next((word for word in words[1:] if word in AUTHOR), "")
    if command not in ("", "author", *COMMANDS):
        raise Problem(unknown(command, [*COMMANDS, "--help", "--version"]))
    if command == "grade" and environment.is_complete():
        return environment.run(tool("grading", ["--help"]))
    if command == "grade":
        say(docstring("grading") + "\n\nAfter the first start this also lists the options.")
    elif command in ("fresh", "site") or part:
        say(docstring(AUTHOR[part] if part else {"fresh": "desk"}.get(command, command)))
    else:
        say({"test": TEST_HELP, "author": AUTHOR_HELP}.get(command, __doc__).strip())
    return 0


def docstring(name):
    """What a module of tools/ says of itself, without running it."""
    return ast.get_docstring(ast.parse((ROOT / source(name)).read_text(encoding="utf-8")))


def unknown(word, known, before=""):
    """The sentence for a command that does not exist: the nearest one that does, and nothing is run."""
    near = difflib.get_close_matches(word, known, 1, 0.7)
    if near:
        return f"There is no command {word!r}. Did you mean `{TYPED} {before}{near[0]}`? Nothing was run."
    opens = "" if before else f" `{TYPED}` alone opens the course;"
    return f"There is no command {word!r}.{opens} `{TYPED} {before}--help` says what there is. Nothing was run."


def versions(environment):
    """What runs here, for a report of an error."""
    number = re.search(r'__version__ = "(.*)"', (ROOT / "minigrad" / "__init__.py").read_text(encoding="utf-8"))
    state = "complete" if environment.is_complete() else "not made yet, or not up to date"
    return (
        f"minigrad {number and number[1]}, Python {platform.python_version()}, {platform.platform()}\n"
        f"environment: {environment.folder} ({state})"
    )


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a path may have letters that the terminal has not
            stream.reconfigure(errors="replace")
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        say("\nStopped: run the same line again to go on.")
        sys.exit(130)
