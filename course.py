"""Open the course, or test it, in a virtual environment that it makes for itself.

    python3 course.py               open JupyterLab on the first chapter
    python3 course.py test          run every test
    python3 course.py exercises     make the exercise notebooks again from the solutions
    python3 course.py pages         make the map, the glossary, the recap and the links between chapters again
    python3 course.py outputs       run chapters and solutions and store what they show
    python3 course.py grade FOLDER  grade collected exercise notebooks (--help says how)
    python3 course.py transcripts   record what PyTorch says to their %%versus cells (needs PyTorch)

On Windows type `py course.py`. What follows is passed on: `course.py --no-browser --port 9999`
to JupyterLab, `course.py test -k leaf` to pytest. The environment is the folder .venv, or the
one that the variable MINIGRAD_VENV names; to start afresh, delete it.

Standard library only, in syntax that Python 3.6 can read: an old Python must be able to say
that it is too old.
"""

import hashlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parent
FIRST_NOTEBOOK = Path("notebooks", "00_start_here.ipynb")
REQUIREMENTS = ("requirements.txt", "pyproject.toml")
SECONDS_BETWEEN_NEWS = 5
JUPYTERLAB = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}},
}
NO_NETWORK = re.compile(
    r"NewConnectionError|Max retries|Failed to (resolve|establish)|name resolution"
    r"|Connection(Error| broken| aborted| refused| reset)|timed out|Timeout|ProxyError",
    re.IGNORECASE,
)


class Problem(Exception):
    """What is missing and how to mend it, in one sentence."""


class Environment:
    """The virtual environment of the course: made, mended, or found to be complete."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.python = self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        self.stamp = self.folder / "minigrad-installed"
        self.log = self.folder / "minigrad-install.log"
        self.unfinished = self.folder / "minigrad-unfinished"

    def prepare(self):
        """Make whatever is not there yet; a complete environment costs one start of Python."""
        if self.is_complete():
            return
        # A pip that was killed may leave half a package, which it later takes for a whole one.
        if self.unfinished.exists() or not self.runs("import pip"):
            self.make()
        self.install()
        self.set_up_jupyterlab()
        self.stamp.write_bytes(fingerprint().encode())
        say("The environment is ready.")

    def is_complete(self):
        """Whether everything in requirements.txt as it is now was installed here."""
        wanted = fingerprint()
        try:
            installed = self.stamp.read_bytes()
        except OSError:
            return False
        return installed == wanted.encode() and self.runs("pass")

    def runs(self, code):
        """Whether the environment's Python starts, is new enough, and runs `code`."""
        check = "import sys; assert sys.version_info >= {}; {}".format(OLDEST_PYTHON, code)
        command = [str(self.python), "-c", check]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            return subprocess.run(command, **quiet).returncode == 0
        except OSError:
            return False

    def make(self):
        """Create the virtual environment, over the remains of an earlier attempt."""
        if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
            raise Problem(
                "This Python cannot make virtual environments: install its venv module "
                "(on Debian and Ubuntu: sudo apt install python3-venv) and run the same line again."
            )
        self.refuse_to_clear_what_is_not_ours()
        say("Making a virtual environment in {} ...".format(self.folder))
        command = [sys.executable, "-m", "venv", "--clear", str(self.folder)]
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode != 0:
            reason = last_line(made.stdout.decode(errors="replace"))
            raise Problem("Python could not make the environment {}: {}".format(self.folder, reason))

    def refuse_to_clear_what_is_not_ours(self):
        """`venv --clear` empties a folder: never one that MINIGRAD_VENV names by mistake."""
        if self.folder == ROOT / ".venv" or (self.folder / "pyvenv.cfg").exists():
            return
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise Problem(
                "{} is in the way and is no virtual environment: let MINIGRAD_VENV name a folder "
                "that does not exist yet.".format(self.folder)
            )

    def install(self):
        """Install requirements.txt with pip, with a line of news every few seconds."""
        say("Installing the packages of the course (about 100 MB, a minute or two) ...")
        options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
        self.unfinished.touch()
        with self.log.open("wb") as log:
            code = self.watch(
                subprocess.Popen(
                    [str(self.python), "-m", "pip", "install", *options, "-r", "requirements.txt"],
                    cwd=str(ROOT),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
        self.unfinished.unlink()
        if code != 0:
            raise Problem(self.why_pip_failed())

    def set_up_jupyterlab(self):
        """Spare the learner a question about news, which need the network, and show Markdown as it is meant to look."""
        settings = self.folder / "share" / "jupyter" / "lab" / "settings"
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "overrides.json").write_text(json.dumps(JUPYTERLAB), encoding="utf-8")

    def watch(self, process):
        """Wait for pip and say now and then what it is doing; never leave it running."""
        start = time.monotonic()
        try:
            while True:
                try:
                    return process.wait(timeout=SECONDS_BETWEEN_NEWS)
                except subprocess.TimeoutExpired:
                    news = last_line(self.what_pip_said())
                    say("  {:3.0f} s  {}".format(time.monotonic() - start, news[:70]))
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()

    def what_pip_said(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def why_pip_failed(self):
        """The sentence for the most likely cause, read from pip's log."""
        said = self.what_pip_said()
        if NO_NETWORK.search(said):
            return "pip cannot reach the Python package index: connect to the network and run the same line again."
        errors = [line for line in said.splitlines() if line.lower().startswith("error")]
        reason = errors[-1] if errors else last_line(said)
        return "pip could not install the packages ({}): its log is {}.".format(reason, self.log)


def fingerprint():
    """Changes when the requirements change, and when the folder of the course moves."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in REQUIREMENTS:
        try:
            digest.update((ROOT / name).read_bytes())
        except OSError:
            raise Problem("The file {} is missing: get the whole course, not this file alone.".format(name)) from None
    return digest.hexdigest()


def last_line(text):
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was said"


def say(line):
    print(line, flush=True)


def command_line(words):
    """The arguments for the environment's Python that do what was typed."""
    if not words or words[0].startswith("-"):
        return open_course(words)
    if words[0] == "test":
        return run_tests(words[1:])
    if words[0] == "exercises":
        return tool("generate", words[1:])
    if words[0] == "pages":
        return tool("pages", words[1:])
    if words[0] == "outputs":
        return tool("refresh_outputs", words[1:])
    if words[0] == "grade":
        return tool("grading", ["--base", os.getcwd(), *words[1:]])
    if words[0] == "transcripts":
        return tool("record_transcripts", words[1:])
    raise Problem(
        "There is no command {!r}: type `course.py`, `course.py test` or `course.py exercises`; "
        "`course.py --help` says more.".format(words[0])
    )


def tool(name, options):
    """A module of tools/, by its name."""
    existing(Path("tools"))
    return ["-m", "tools." + name, *options]


def open_course(options):
    """JupyterLab on the first chapter."""
    lab = ["-m", "jupyterlab", str(existing(FIRST_NOTEBOOK))]
    # Else JupyterLab serves the folder of the notebook alone, and links to the exercises are dead.
    lab.append("--ServerApp.root_dir={}".format(ROOT))
    # Without a browser the address that is printed leads to the first chapter, too.
    lab.append("--LabApp.default_url=/lab/tree/{}".format(FIRST_NOTEBOOK.as_posix()))
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        lab.append("--allow-root")
    return lab + options


def run_tests(options):
    """One pytest for all: tests, doctests, and every notebook against its stored outputs."""
    notebooks = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=60"]
    parallel = ["-n", "logical", "--maxprocesses=4", "--dist=loadfile"]
    return ["-m", "pytest", *notebooks, *parallel, *options]


def existing(path):
    """`path`, relative to the course; a Problem when it is not there."""
    if not (ROOT / path).exists():
        raise Problem("The file {} is missing: get the whole course again, with every folder.".format(path))
    return path


def hand_over(command):
    """Run `command` in this terminal until it ends; Ctrl-C is its business then, not ours."""
    signal.signal(signal.SIGINT, lambda *_: None)
    return subprocess.run(command, cwd=str(ROOT)).returncode


def main(words):
    """Do what was typed and return the exit code."""
    if sys.version_info < OLDEST_PYTHON:
        raise Problem(
            "The course needs Python {}.{} or newer and this is Python {}.{}: install a newer one "
            "(https://www.python.org/downloads) and run this file with it.".format(
                *OLDEST_PYTHON + sys.version_info[:2]
            )
        )
    if words[:1] in (["-h"], ["--help"]):
        say(__doc__)
        return 0
    arguments = command_line(words)
    environment = Environment(os.environ.get("MINIGRAD_VENV") or ROOT / ".venv")
    environment.prepare()
    return hand_over([str(environment.python), *arguments])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        sys.exit(str(problem))
    except KeyboardInterrupt:
        say("\nStopped: run the same line again to go on.")
        sys.exit(130)
