"""Runs a notebook's code cells in a fresh process, and quickly: for tests that run every notebook once more.

To start a kernel and import matplotlib takes longer than most notebooks. Here each process is forked from one that
has imported what takes long. The same notebooks run in real kernels, too: by nbval, under nbgrader and in the browser.
"""

import gc
import multiprocessing
import os
import sys
import tempfile

import nbformat
from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import activate_matplotlib
from IPython.utils.capture import capture_output
from matplotlib_inline.backend_inline import configure_inline_support
from traitlets.config import Config

SECONDS = 120
INLINE = "module://matplotlib_inline.backend_inline"  # what kernels draw with
# macOS has libraries that do not survive a fork, and Windows has no fork: there a process starts from nothing.
PROCESSES = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
if sys.platform == "linux":
    PROCESSES.set_forkserver_preload(["tools", "IPython.core.interactiveshell", "matplotlib.pyplot", "nbformat"])


def run_notebook(path, environment, answers=None, without=()):
    """The outputs of a notebook's code cells, by cell id.

    `answers` are other sources for some cells, by id; modules named in `without` cannot be imported.
    """
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    sources = {cell.id: cell.source for cell in cells} | (answers or {})
    receiver, sender = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=_run_cells, args=(sender, sources, str(path.parent), environment, without))
    process.start()
    sender.close()  # so that the end of the process ends the waiting, too
    try:
        assert receiver.poll(SECONDS), f"{path.name} was still running after {SECONDS} seconds"
        return receiver.recv()
    finally:
        process.kill()
        process.join()
        receiver.close()


def _run_cells(sender, sources, folder, environment, without):
    gc.freeze()  # a collection that goes through what was imported before the fork copies all of it
    os.environ.clear()
    os.environ.update(environment)
    sys.modules.update(dict.fromkeys(without))
    os.chdir(folder)
    outputs = {}
    with tempfile.TemporaryDirectory() as home:
        shell = plain_shell(home)
        shell.config.InlineBackend.figure_formats = set()  # minigrad's SVG of each figure will do, without a PNG
        activate_matplotlib(INLINE)
        configure_inline_support(shell, INLINE)
        for id, source in sources.items():
            outputs[id] = _outputs(shell, source)
    sender.send(outputs)


def _outputs(shell, source):
    """What one cell shows, in the form in which notebooks store it."""
    results = []
    shell.display_trap.hook = CapturingDisplayHook(shell, results)
    with capture_output() as said:
        ran = shell.run_cell(source)
    streams = {"stdout": said.stdout, "stderr": said.stderr}
    outputs = [{"output_type": "stream", "name": name, "text": text} for name, text in streams.items() if text]
    outputs += [{"output_type": "display_data", "data": shown.data} for shown in said.outputs]
    outputs += [{"output_type": "execute_result", "data": result["data"]} for result in results]
    error = ran.error_before_exec or ran.error_in_exec
    return outputs + [{"output_type": "error", "ename": type(error).__name__, "evalue": str(error)}] * bool(error)


def plain_shell(home):
    """The IPython shell of this process, with its files in the folder `home`."""
    config = Config()
    config.HistoryManager.enabled = False
    return InteractiveShell.instance(config=config, ipython_dir=home)
