"""Kernels behind a wall for `nbgrader autograde`: else answers run as the teacher, and can write the gradebook.

nbgrader starts each notebook in the kernel `python3`. While it grades, that is one which sees Python and the course
alone, and which it reaches through sockets in a folder, for behind the wall there is no network.
"""

import atexit
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from traitlets.config import Config

from tools.grading import processes, walls


def build(config: Config) -> None:
    """Have this process start its kernels behind the wall; where none stands, say so and start them without."""
    reason = walls.unfit([])
    if reason:
        print(f"There is no wall ({reason}): answers run as you, and can read and change what you can.", flush=True)
        return
    room = Path(tempfile.mkdtemp(prefix="wall-"))
    atexit.register(shutil.rmtree, room, ignore_errors=True)
    sockets, connection = room / "sockets", room / "kernel.json"
    kernel = room / "kernels" / "python3"
    sockets.mkdir()
    kernel.mkdir(parents=True)
    words = walls.around([sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], [])
    at = words.index("--remount-ro")
    words[at:at] = ["--bind", str(sockets), str(sockets), "--ro-bind", str(connection), str(connection)]
    # The teacher's variables hold a token of the hub, and what an answer prints goes back to the learner.
    variables = [word for pair in processes.environment(walls.ROOM).items() for word in ("--setenv", *pair)]
    words[at:at] = ["--clearenv", *variables]
    spec = {"argv": words, "display_name": "Python 3", "language": "python", "interrupt_mode": "message"}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    os.environ["JUPYTER_PATH"] = str(room)
    config.KernelManager.transport = "ipc"
    config.KernelManager.ip = str(sockets / "kernel")
    config.KernelManager.connection_file = str(connection)
