"""A learner's server on a hub or on Binder: their desk in their own folder, the first chapter on the screen."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools import desk, lab

c = get_config()  # type: ignore[name-defined] # noqa: F821
home = Path(os.environ.get("REPO_DIR", Path.home()))  # repo2docker's servers start in REPO_DIR
os.environ.setdefault("MINIGRAD_DESK", str(home / "desk"))
os.environ.setdefault("MINIGRAD_PROGRESS", str(desk.place() / desk.PROGRESS))  # for fetched assignments, too
desk.prepared()
c.ServerApp.default_url = f"/lab/tree/desk/{lab.FIRST_NOTEBOOK}"
c.LabApp.custom_css = True
# Jupyter's own is a login shell, which on Debian forgets the PATH of an environment, and nbgrader with it.
c.ServerApp.terminado_settings = {"shell_command": [os.environ.get("SHELL", "/bin/sh")]}
