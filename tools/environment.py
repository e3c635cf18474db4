"""The virtual environment of the course: found to be complete, mended, or made.

Standard library only, in syntax that Python 3.6 can read: course.py imports it before it knows which Python runs it.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = "pyproject.toml"
COURSE = ("course",)  # the parts of it that a learner needs, and those that the tests need
TESTS = ("course", "test")
MEGABYTES = 700  # the environment, and what pip downloads for it
SECONDS_BETWEEN_NEWS = 5
# What a user may have set for another Python or another Jupyter, and would break this one.
OF_OTHERS = ["PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "JUPYTER_PATH", "JUPYTER_CONFIG_PATH"]
OF_OTHERS += ["JUPYTERLAB_DIR", "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
OF_OTHERS += ["PIP_PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"]
# Settings of pip, in variables or in its file, with which it would install nothing, or not here.
PIP_AS_IT_IS = {f"PIP_{name}": "0" for name in ("USER", "DRY_RUN", "NO_DEPS", "REQUIRE_HASHES")}
# Asked of the environment's Python, which may be none, too old, or the user's own.
STATE = (
    "import json, os, sys, sysconfig; print(json.dumps([list(sys.version_info[:2]), "
    "sys.prefix != sys.base_prefix, os.listdir(sysconfig.get_path('purelib'))]))"
)
# How to install Python where it comes with the system: by ID or ID_LIKE in /etc/os-release.
INSTALL = {
    "debian": "sudo apt install python3.11 python3.11-venv",
    "fedora": "sudo dnf install python3.11",
    "suse": "sudo zypper install python311",
}
JUPYTERLAB = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    # No empty screen below the last cell.
    "@jupyterlab/notebook-extension:tracker": {"scrollPastEnd": False},
    "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}},
}
# JupyterLab writes the kernel's name and language_info into a notebook that it opens. With the values that are stored
# in the chapters, opening one does not mark it as unsaved.
AS_STORED = """--IPKernelApp.exec_lines=["get_ipython().kernel.language_info = {'name': 'python'}"]"""
KERNEL = {
    # At its usual level it warns, at every start, that it talks to JupyterLab on this machine in plain text.
    "argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR", AS_STORED],
    "display_name": "Python 3",
    "language": "python",
    "metadata": {"debugger": True},
}
NO_TRUST = re.compile(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|SSLCertVerificationError", re.IGNORECASE)
NO_NETWORK = re.compile(
    r"NewConnectionError|Max retries|Failed to (resolve|establish)|name resolution"
    r"|Connection(Error| broken| aborted| refused| reset)|timed out|Timeout|ProxyError",
    re.IGNORECASE,
)
NO_SPACE = re.compile(r"No space left on device|Errno 28\b|not enough space|Disk quota exceeded", re.IGNORECASE)
NOTHING_FOUND = re.compile(r"\(from versions: none\)")


class Problem(Exception):
    """What is the matter and how to mend it, in one sentence."""


class Environment:
    """The virtual environment in a folder, with what the course keeps there."""

    def __init__(self, folder):
        self.folder = Path(os.path.abspath(os.path.expanduser(str(folder))))
        self.python = self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        self.stamp = self.folder / "minigrad-installed"
        self.unfinished = self.folder / "minigrad-unfinished"
        self.log = self.folder / "minigrad-install.log"
        self.lock = self.folder / "minigrad-lock"
        self.jupyter = self.folder / "jupyter"

    def prepare(self, parts=COURSE):
        """Make whatever is not there yet; a complete environment costs one start of Python."""
        if self.is_complete(parts):
            return
        self.refuse_what_is_not_ours()
        try:
            with self.one_start_at_a_time() as lock:
                if not self.is_complete(parts):  # another start may just have made it
                    self.complete(parts, lock)
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise Problem(
                f"The environment {self.folder} cannot be made: {error.strerror or error}{where}; let the variable "
                "MINIGRAD_VENV name a folder where you may write."
            ) from None

    def complete(self, parts, lock):
        # A pip that was killed may leave half a package, which it later takes for a whole one.
        if self.unfinished.exists() or not self.is_whole():
            self.make()
        self.install(parts, lock)
        self.set_up_jupyter()
        stamp = {"requirements": fingerprint(), "parts": parts, "modules": sorted(self.modules() or ())}
        self.stamp.write_text(json.dumps(stamp), encoding="utf-8")
        say("The environment is ready.")

    # --- What is there ---------------------------------------------------------------------------

    def is_complete(self, parts=COURSE):
        """Whether these parts of pyproject.toml as it is now were installed here, and are still there."""
        return self.has(parts) and self.is_whole()

    def has(self, parts):
        """Whether these parts of pyproject.toml as it is now were installed here."""
        noted = self.stamped()
        return noted.get("requirements") == fingerprint() and set(parts) <= set(noted.get("parts", ()))

    def is_whole(self):
        """Whether this is a virtual environment that works, with all that was installed when it was complete."""
        modules = self.modules()
        return modules is not None and set(self.stamped().get("modules", ["pip"])) <= modules

    def stamped(self):
        """What was noted when the environment was last complete."""
        try:
            noted = json.loads(self.stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return noted if isinstance(noted, dict) else {}

    def modules(self):
        """The names of the installed modules; None where no virtual environment of a new enough Python answers."""
        try:
            quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            answer = subprocess.run([str(self.python), "-I", "-c", STATE], **quiet)
            version, is_virtual, files = json.loads(answer.stdout.decode())
        except (OSError, ValueError):
            return None
        if tuple(version) < OLDEST_PYTHON or not is_virtual:
            return None
        names = {name.partition(".")[0] for name in files}
        return {name for name in names if name.isidentifier() and not name.startswith("_")}

    def refuse_what_is_not_ours(self):
        """Stop at a read-only course, another user's environment, a folder that MINIGRAD_VENV names by mistake."""
        if not os.access(str(ROOT), os.W_OK):
            raise Problem(
                f"The folder of the course, {ROOT}, is read-only: copy it to a place where you may write, "
                "and start it there."
            )
        mend = "let MINIGRAD_VENV name a folder that does not exist yet"
        if self.folder == ROOT / ".venv":
            mend = "delete it, or " + mend
        in_the_way = f"{self.folder} is in the way and is no virtual environment: {mend}."
        if not self.folder.exists():
            if self.folder.is_symlink():
                raise Problem(in_the_way)
            return
        if not os.access(str(self.folder), os.W_OK):
            raise Problem(
                f"The environment {self.folder} is not up to date and belongs to {owner(self.folder)}: delete it, or "
                "set the variable MINIGRAD_VENV to a folder of your own."
            )
        ours = self.folder == ROOT / ".venv" or any(p.exists() for p in (self.lock, self.stamp, self.unfinished))
        if not self.folder.is_dir() or not (ours or self.is_whole() or not any(self.folder.iterdir())):
            raise Problem(in_the_way)

    @contextlib.contextmanager
    def one_start_at_a_time(self):
        """Hold the lock of the environment; the system lets go of it whatever becomes of this process."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.lock.open("ab") as lock:
            if not try_to_lock(lock):
                say("Another start is installing the packages: waiting for it ...")
                while not try_to_lock(lock):
                    time.sleep(0.2)
            yield lock

    # --- Making it -------------------------------------------------------------------------------

    def make(self):
        """Create the virtual environment, where the remains of an earlier one may be."""
        if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
            raise Problem(
                "This Python cannot make virtual environments: install its venv module "
                "(on Debian and Ubuntu: sudo apt install python3-venv) and run the same line again."
            )
        try:
            f"{ROOT}{self.folder}".encode()
        except UnicodeEncodeError:
            raise Problem(f"Python cannot work in {ROOT}: there are bytes in it that are no text. Rename it.") from None
        say(f"Making a virtual environment in {self.folder} ...")
        self.clear()
        if self.megabytes_free() < MEGABYTES:
            raise Problem(self.too_full())
        command = [sys.executable, "-I", "-m", "venv", str(self.folder)]
        made = subprocess.run(command, env=self.variables(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode != 0:
            reason = last_line(made.stdout.decode(errors="replace"))
            raise Problem(f"Python could not make the environment {self.folder}: {reason}")

    def megabytes_free(self):
        return shutil.disk_usage(str(self.folder)).free // 10**6

    def too_full(self):
        """The sentence for a disk without room."""
        return (
            f"The packages need about {MEGABYTES} MB and the disk of {self.folder} has {self.megabytes_free()} MB "
            "left: make room, or let MINIGRAD_VENV name a folder on another disk."
        )

    def clear(self):
        """Empty the folder, but for the lock and the learner's settings of JupyterLab."""
        for entry in self.folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                if entry != self.jupyter:
                    shutil.rmtree(str(entry))
            elif entry != self.lock:
                entry.unlink()

    def install(self, parts, lock):
        """Install minigrad and what these parts of the course need with pip, with a line of news every few seconds."""
        more = self.has(COURSE) and self.is_whole()
        what = "tests (a few MB)" if more else "course (about 100 MB, a minute or two)"
        say("Installing the packages of the {} ...".format(what))
        # Compiling all of it takes longer than the rest; Python compiles what is imported, the first time.
        options = ["--no-compile", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
        options.append("--target=")  # not where pip's file of settings says
        # A pip that outlives this process keeps the lock, so that no other one gets in its way.
        keeping_the_lock = {} if os.name == "nt" else {"pass_fds": [lock.fileno()]}
        self.unfinished.touch()
        with self.log.open("wb") as log:
            code = self.watch(
                subprocess.Popen(
                    [str(self.python), "-I", "-m", "pip", "install", *options, "-e", ".[{}]".format(",".join(parts))],
                    cwd=str(ROOT),
                    env=self.variables(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    **keeping_the_lock,
                )
            )
        self.unfinished.unlink()
        if code != 0:
            raise Problem(self.why_pip_failed())

    def watch(self, process):
        """Wait for pip and say now and then what it is doing; never leave it running."""
        start = time.monotonic()
        try:
            while True:
                try:
                    return process.wait(timeout=SECONDS_BETWEEN_NEWS)
                except subprocess.TimeoutExpired:
                    news = last_line(self.what_pip_said())
                    say(f"  {time.monotonic() - start:3.0f} s  {news[:70]}")
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()

    def what_pip_said(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def why_pip_failed(self):
        """The sentence for the most likely cause, read from pip's log."""
        said = self.what_pip_said()
        if NO_TRUST.search(said):
            return (
                "pip does not trust the certificate that this network shows, as where a proxy or a virus scanner reads "
                "along: get its certificate as a .pem file, set the variable PIP_CERT to that file, and run the same "
                f"line again (pip's log: {self.log})."
            )
        if NO_NETWORK.search(said):
            return (
                "pip cannot reach the Python package index: connect to the network and run the same line again "
                f"(pip's log: {self.log})."
            )
        if NO_SPACE.search(said):
            if self.megabytes_free() < MEGABYTES:
                return self.too_full()
            return (
                f"The disk of {self.folder} has room, but not for you (a quota), or the folder for temporary files, "
                f"{tempfile.gettempdir()}, is full: make room, or let the variable TMPDIR name another folder."
            )
        lines = [line.strip() for line in said.splitlines()]
        # That a process of pip's own has failed is no reason: the reason is what that process said.
        errors = [line for line in lines if line.lower().startswith("error") and "subprocess-exited" not in line]
        reason = errors[-1] if errors else last_line(said)
        if NOTHING_FOUND.search(said):
            return (
                f"pip finds nothing where it looks for packages ({reason}): take index-url, no-index and find-links "
                "out of its settings (`python3 -m pip config debug` lists them) and run the same line again "
                f"(pip's log: {self.log})."
            )
        if "Configuration file" in said:
            return f"pip cannot read its settings: mend or move away the file that its log names, {self.log}."
        return f"pip could not install the packages ({reason}): its log is {self.log}."

    def set_up_jupyter(self):
        """Give JupyterLab the settings of the course, and a kernel that leaves notebooks as they are stored."""
        share = self.folder / "share" / "jupyter"
        for place, content in (("lab/settings/overrides.json", JUPYTERLAB), ("kernels/python3/kernel.json", KERNEL)):
            (share / place).parent.mkdir(parents=True, exist_ok=True)
            (share / place).write_text(json.dumps(content), encoding="utf-8")

    # --- Using it --------------------------------------------------------------------------------

    def run(self, arguments):
        """Run the environment's Python in this terminal until it ends, and return its exit code."""
        variables = {**self.variables(), **self.private_places()}
        return subprocess.run([str(self.python), *arguments], cwd=str(ROOT), env=variables).returncode

    def variables(self):
        """The environment variables without those that would mislead Python, pip or Jupyter."""
        kept = {name: value for name, value in os.environ.items() if name not in OF_OTHERS}
        # The course prints paths, in which there may be letters that the terminal has not.
        encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0] + ":replace"
        return {**kept, **PIP_AS_IT_IS, "JUPYTER_PREFER_ENV_PATH": "1", "PYTHONIOENCODING": encoding}

    def private_places(self):
        """Variables that keep what Jupyter writes here and not in the home folder, which may be read-only.

        Jupyter needs a folder that nobody else can read. Some disks (FAT, network shares) have none, and in another
        user's environment there is none either: then the home folder serves.
        """
        try:
            self.jupyter.mkdir(mode=0o700, exist_ok=True)
            found = self.jupyter.stat()
        except OSError:
            return {}
        if os.name != "nt" and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            return {}
        places = {f"JUPYTER_{name.upper()}_DIR": name for name in ("config", "data", "runtime")}
        places.update(IPYTHONDIR="ipython", MPLCONFIGDIR="matplotlib")
        return {variable: str(self.jupyter / name) for variable, name in places.items()}


def too_old():
    """The sentence for an old Python: a newer one that is here, or how to get one."""
    (major, minor), oldest = sys.version_info[:2], "{}.{}".format(*OLDEST_PYTHON)
    newer = (f"python3.{number}" for number in range(OLDEST_PYTHON[1] + 9, OLDEST_PYTHON[1] - 1, -1))
    here = next(filter(can_make_environments, newer), "")
    mend = f"type `{here} course.py`" if here else f"install a newer one ({how_to_install()}) and run this file with it"
    return f"The course needs Python {oldest} or newer and this is Python {major}.{minor}: {mend}."


def can_make_environments(python):
    """Whether this command is there and works: what pyenv leaves on PATH need not."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return shutil.which(python) and subprocess.call([python, "-c", "import ensurepip, venv"], **quiet) == 0


def how_to_install():
    """Where a newer Python comes from on this system."""
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            system = re.findall(r"[a-z]+", " ".join(line for line in file if line.startswith(("ID=", "ID_LIKE="))))
    except OSError:
        return "https://www.python.org/downloads"
    lines = [line for name, line in INSTALL.items() if name in system]
    return "{}, or https://docs.astral.sh/uv".format(lines[0] if lines else "by the package manager of your system")


def try_to_lock(file):
    """Take the lock if it is free; True when it is ours now, or where the disk has no locks."""
    try:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass
    return True


def owner(path):
    """Whose file this is, by name where there is one."""
    try:
        return f"the user {path.owner()}"
    except (KeyError, NotImplementedError):
        return "another user"


def fingerprint():
    """Changes when the requirements change, and when the folder of the course moves."""
    digest = hashlib.sha256(os.fsencode(str(ROOT)))
    try:
        digest.update((ROOT / REQUIREMENTS).read_bytes())
    except OSError:
        raise Problem(f"The file {REQUIREMENTS} is missing: get the whole course, not this file alone.") from None
    return digest.hexdigest()


def last_line(text):
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was said"


def say(line):
    print(line, flush=True)
