"""JupyterLab on the learner's desk: `python -m tools.lab`, with options of JupyterLab's own after it.

The terminal shows what is new on the desk, errors alone, and as its last line where the course is and how to stop it.
"""

import os
import platform
import sys
from pathlib import Path

from jupyter_server.serverapp import ServerApp
from jupyterlab.labapp import LabApp
from traitlets import default

from tools import desk

FIRST_NOTEBOOK = "notebooks/00_start_here.ipynb"
STYLE = Path(__file__).with_name("style")


class Server(ServerApp):
    """Jupyter's server with the course's style, and a last line of its own."""

    @default("static_custom_path")
    def _style(self) -> list[str]:
        return [str(STYLE)]  # no option sets it

    def start_app(self) -> None:
        how = "Ctrl-C" if os.name == "nt" else "Ctrl-C twice"
        last = f"The course is at {self.public_url} (to stop it: {how}, here)"
        self.identity_provider.token_generated = False  # else Jupyter prints the address in its own way
        self.io_loop.add_callback(print, last, flush=True)
        super().start_app()


def options(folder: Path, typed: list[str]) -> list[str]:
    """What JupyterLab is started with: what is typed, and of what the course sets all else."""
    # Not the folder of the notebook alone, or links to the exercises are dead.
    ours = [f"--ServerApp.root_dir={folder}", "--Application.log_level=ERROR"]
    # Without a browser the address that is printed leads to the first chapter, too.
    ours.append(f"--LabApp.default_url=/lab/tree/{FIRST_NOTEBOOK}")
    ours.append("--LabApp.custom_css=True")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        ours.append("--allow-root")
    # The browser gets a file that leads to the address, for the token in it is secret and a command line is not.
    # Under WSL the browser is a Windows program that cannot read it.
    if "microsoft" in platform.release().lower():
        ours.append("--ServerApp.use_redirect_file=False")
    names = {word.partition("=")[0] for word in typed}
    return [option for option in ours if option.partition("=")[0] not in names] + typed


if __name__ == "__main__":
    LabApp.serverapp_class = Server
    LabApp.launch_instance(options(desk.prepared(), sys.argv[1:]))
