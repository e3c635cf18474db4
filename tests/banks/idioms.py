"""What honest notebooks have around an answer. None of it may cost a point.

`IDIOMS` are put above a right answer, in the same cell; those that begin with `%%` in a cell of their own.
`needs` names the packages without which a few of them mean nothing.
"""

NEEDS = {"import-torch": "torch", "torch-tensor": "torch", "sympy": "sympy", "torch-numpy": "torch"}
BESIDE = {
    "helper.py": "def double(x):\n    return 2 * x\n",
    "data/points.csv": "x,y\n1,2\n3,4\n",
    "note.txt": "hello\n",
    "helper.ipynb": '{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "outputs": [],'
    ' "source": "helped = 9"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "minigrad/__init__.py": "from .gone import tensor\n",  # a part of the course, which somebody copied there
}


def _split(text: str) -> dict[str, str]:
    blocks = [block.partition("\n") for block in text.split("\n## ")[1:]]
    return {name.strip(): source.rstrip() for name, _, source in blocks}


IDIOMS = _split('''
## plot
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], [4, 5, 6]); plt.title("a line"); plt.show()
## inline
%matplotlib inline
import matplotlib.pyplot as plt
## subplots
import matplotlib.pyplot as plt
fig, ax = plt.subplots(1, 2, figsize=(4, 2))
ax[0].hist([1, 2, 2, 3]); fig
## savefig
import matplotlib.pyplot as plt
plt.figure(); plt.plot([1, 2]); plt.savefig("figure.png"); plt.close("all")
## agg
import matplotlib
matplotlib.use("Agg")
## rcparams
import matplotlib.pyplot as plt
plt.rcParams["figure.dpi"] = 50
plt.style.use("ggplot")
## pylab
%pylab inline
## config-inline
%config InlineBackend.figure_format = "svg"
## xkcd
import matplotlib.pyplot as plt
with plt.xkcd():
    plt.plot([1, 2])
## help-one
mg.tensor?
## help-two
mg.tensor??
## help-call
help(mg.tensor)
## pinfo-of-mine
def mine(): "doc"
mine?
%pinfo2 mine
## shell
!ls
## shell-result
files = !ls -a
assert "." in files
## shell-variable
where = "."
!echo {where} $where
## pip
%pip install numpy
## pip-shell
!pip install -q numpy
## pip-missing
%pip install -q no-such-package-of-mine
## time-line
%time sum(range(1000))
## timeit
%timeit -n 1 -r 1 sum(range(10))
## time-cell
%%time
sum(range(1000))
## timeit-cell
%%timeit -n 1 -r 1
sum(range(10))
## capture
%%capture output
print("hello")
## captured
from IPython.utils.capture import capture_output
with capture_output() as kept:
    print("hello"); display(3)
assert kept.stdout == "hello\\n" and kept.outputs[0].data["text/plain"] == "3"
## writefile
%%writefile mine.py
def triple(x):
    return 3 * x
## import-written
from pathlib import Path
Path("written.py").write_text("value = 7")
import written
assert written.value == 7
## run-file
from pathlib import Path
Path("script.py").write_text("made = 5")
%run script.py
assert made == 5
## run-notebook
%run helper.ipynb
assert helped == 9
## clear
%clear
%man ls
%edit mine.py
## bash
%%bash
echo hello
## sh
%%sh
pwd
## python-cell
%%script true
nothing
## html
%%html
<b>bold</b>
## javascript
%%javascript
console.log(1)
## markdown
%%markdown
# A title
## latex
%%latex
$x^2$
## expect
%%expect ZeroDivisionError
1 / 0
## expect-backward
%%expect RuntimeError "a second time"
z = (mg.tensor(3.0, requires_grad=True) ** 2)
z.backward()
z.backward()
## expect-unmet
%%expect RuntimeError
1 + 1
## versus
%%versus
print(mg.tensor(2.0) * 3)
## autoreload
%load_ext autoreload
%autoreload 2
## autosave
%autosave 60
## precision
%precision 3
## who
%who
%whos
%lsmagic
## env
%env MINE=1
%env
## cd
%cd .
%pwd
%ls
## xmode
%xmode Verbose
## history
%history -n 1
In[-1], Out, _, __
## store
%alias hello echo hello
%hello
## prun
%prun -q sum(range(100))
## debug-off
%pdb off
## reset-selective
gone = 1
%reset_selective -f gone
## logging
import logging
logging.basicConfig(level=logging.DEBUG)
logging.warning("careful"); logging.getLogger("mine").error("bad")
## logging-file
import logging
logging.basicConfig(filename="log.txt", force=True); logging.info("x")
## logging-off
import logging
logging.disable(logging.CRITICAL)
## warn
import warnings
warnings.warn("mine")
## warnings-ignore
import warnings
warnings.filterwarnings("ignore")
## warnings-error
import warnings
warnings.simplefilter("error")
## traceback
import traceback
try:
    1 / 0
except ZeroDivisionError:
    traceback.print_exc()
## traceback-stack
import traceback
traceback.print_stack(); traceback.format_stack()
## exc-info
import sys
try:
    {}["a"]
except KeyError as error:
    kind, value, tb = sys.exc_info(); name = tb.tb_frame.f_code.co_name
## frame
import inspect, sys
inspect.currentframe().f_lineno, sys._getframe().f_globals["__name__"]
inspect.stack()
## source
import inspect
def shown(x):
    return x
print(inspect.getsource(shown)); inspect.signature(mg.tensor)
## excepthook
import sys
sys.excepthook = lambda *a: None
## thread
import threading
done = []
t = threading.Thread(target=lambda: done.append(1)); t.start(); t.join(); assert done
## timer
import threading
threading.Timer(0.01, print).start()
## pool
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    assert list(pool.map(abs, [-1, 2])) == [1, 2]
## processes
from multiprocessing import get_context
with get_context("fork").Pool(2) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
## subprocess
import subprocess, sys
assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True).stdout == "1\\n"
## os-system
import os
os.system("echo hello")
## await
import asyncio
await asyncio.sleep(0.01)
## task
import asyncio
task = asyncio.create_task(asyncio.sleep(0.01))
await task
## background-task
import asyncio
async def later(): await asyncio.sleep(0)
asyncio.ensure_future(later())
loop = asyncio.get_event_loop(); assert loop.is_running()
## temporary
import tempfile, pathlib
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "a").write_text("x")
tempfile.NamedTemporaryFile().write(b"x"); open(tempfile.gettempdir() + "/mine.txt", "w").write("x")
## tmp
import os
if os.path.isdir("/tmp"):
    open("/tmp/minigrad-honest.txt", "w").write("x"); os.remove("/tmp/minigrad-honest.txt")
## home
from pathlib import Path
Path.home().joinpath("mine.txt").write_text("x"); Path("~").expanduser()
## folders
import os
os.makedirs("out/deep", exist_ok=True); os.listdir("."); os.chdir("out")
## save-array
import numpy as np
np.save("a.npy", np.ones(3)); assert np.load("a.npy").sum() == 3
## pickle
import pickle
pickle.dump({"a": 1}, open("a.pickle", "wb")); assert pickle.load(open("a.pickle", "rb"))
## json
import json
json.dump([1], open("a.json", "w"))
## sqlite
import sqlite3
sqlite3.connect(":memory:").execute("select 1").fetchall()
## memory-map
import mmap, numpy as np
mmap.mmap(-1, 4096).close(); np.memmap("map.bin", dtype="float32", mode="w+", shape=(4,))
## beside-import
import helper
assert helper.double(2) == 4
## beside-read
import numpy as np, csv
assert len(list(csv.reader(open("data/points.csv")))) == 3
np.loadtxt("data/points.csv", delimiter=",", skiprows=1)
## beside-write
open("note.txt", "a").write("more")
## platform
import platform, sys, os
platform.platform(), platform.uname(), sys.version, os.cpu_count(), os.getpid()
## import-torch
import torch
torch.tensor([1.0, 2.0]).sum()
## torch-tensor
import torch
t = torch.ones(2, requires_grad=True); (t * t).sum().backward(); t.grad
## torch-numpy
import torch, numpy as np
torch.from_numpy(np.ones(2)); torch.set_default_dtype(torch.float64); torch.manual_seed(0)
## sympy
import sympy
x = sympy.symbols("x"); sympy.diff(x**2, x)
## stdlib
import collections, itertools, functools, random, time, math, datetime, re, string, statistics, decimal, fractions
random.seed(0); time.sleep(0.01); decimal.getcontext().prec = 5
## doctest
import doctest
def twice(x):
    """
    >>> twice(2)
    4
    """
    return 2 * x
doctest.testmod(); doctest.run_docstring_examples(twice, globals())
## unittest
import unittest
class Mine(unittest.TestCase):
    def test(self): self.assertEqual(1, 1)
unittest.main(argv=[""], exit=False)
## dtype
mg.set_default_dtype(mg.float64)
## grad-off
mg.set_grad_enabled(False); mg.set_grad_enabled(True)
## grad-stays-off
with mg.no_grad():
    y = mg.tensor(1.0) * 2
## anomaly
mg.autograd.set_detect_anomaly(True)
## seed
mg.manual_seed(7); mg.randn(3)
## numpy-raise
import numpy as np
np.seterr(all="raise")
## numpy-print
import numpy as np
np.set_printoptions(precision=2, suppress=True, formatter={"float": lambda x: "f"})
## numpy-seed
import numpy as np
np.random.seed(0); np.random.rand(3); rng = np.random.default_rng(1)
## recursion
import sys
sys.setrecursionlimit(10_000)
## low-recursion
import sys
sys.setrecursionlimit(200)
## gc
import gc
gc.collect(); gc.disable(); len(gc.get_objects()); gc.get_referrers(mg)
## weakref
import weakref
t = mg.tensor(1.0); r = weakref.ref(t); del t
## ctypes
import ctypes
ctypes.c_int(3).value; id(ctypes.pythonapi)
## trace
import sys
sys.settrace(None); sys.setprofile(None)
## profile
import cProfile, tracemalloc
cProfile.run("sum(range(10))"); tracemalloc.start(); tracemalloc.stop()
## trace-left
import sys
lines = set()
def trace(frame, event, arg):
    lines.add(frame.f_lineno); return trace
sys.settrace(trace)
## profile-left
import sys, collections
counts = collections.Counter()
sys.setprofile(lambda frame, event, arg: counts.update([event]))
## signal
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
## faulthandler
import faulthandler, io
## atexit
import atexit
atexit.register(print, "bye")
## stdout
import sys, io, contextlib
with contextlib.redirect_stdout(io.StringIO()) as said:
    print("hello")
assert said.getvalue() == "hello\\n"; sys.stdout.write("x"); sys.stdout.flush(); sys.stderr.write("y")
## stdout-replaced
import sys, io
sys.stdout = io.StringIO()
## print-replaced
import builtins, functools
print = functools.partial(print, flush=True)
builtins.print = print
## shadowed
list = [1, 2]; sum = 3; dict = None; id = 4; max = min = len = 0
## shadowed-builtins
import builtins, functools
builtins.sum = functools.partial(builtins.sum)
## check-shadowed
check = True
## input
name = input("Your name? ")
## getpass
import getpass
word = getpass.getpass("Password: ")
## breakpoint
def stops(x):
    breakpoint()
    return x
stops(3)
## set-trace
from IPython.core.debugger import set_trace
set_trace()
import pdb; pdb.set_trace()
## debug
%pdb on
get_ipython().run_cell("1 / 0")
%debug
%pdb off
## ask-shell
get_ipython().__class__.__name__, "IPKernelApp" in get_ipython().config
assert get_ipython().__class__.__name__ == "ZMQInteractiveShell"
## shell-run-cell
get_ipython().run_cell("inner = 1"); get_ipython().run_line_magic("time", "1")
## hook
get_ipython().events.register("post_run_cell", lambda result: None)
## interactivity
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.ast_node_interactivity = "all"
1
2
## display
from IPython.display import display, HTML, Markdown, Image, clear_output, Math
display(HTML("<b>x</b>"), Markdown("# x")); clear_output(wait=True); display({"a": 1}, display_id="mine")
## formatter
get_ipython().display_formatter.formatters["text/html"].for_type(int, lambda n: f"<b>{n}</b>")
3
## display-tensor
display(mg.tensor([1.0, 2.0], requires_grad=True)); mg.tensor(1.0)
## draw
x = mg.tensor(2.0, requires_grad=True)
mg.draw(x * x)
## draw-both
x = mg.tensor(2.0, requires_grad=True)
mg.draw(x * x + x, view="both", saved=True)
## monkeypatch-repr
mg.Tensor.pretty = lambda self: f"<{self.shape}>"
mg.tensor(1.0).pretty()
## replaced-in-the-library
import numpy as np
mg.sum = np.sum; mg.relu = lambda x: (x + abs(x)) / 2
## reload
import importlib, json
importlib.reload(json)
## hint
check.hint("{exercise}")
## score
check.score()
## read-checks
import inspect, exercises.checks.kit as kit
inspect.getsource(kit.judge); dir(check)
## sigmoid
mg.sigmoid(mg.tensor(0.0)); mg.tanh(mg.tensor(0.0))
## assertion-below-nothing
assert 1 + 1 == 2, "arithmetic"
## walrus-and-match
if (n := 3) > 2:
    match n:
        case 3: pass
## future
from __future__ import annotations
## dataclass
from dataclasses import dataclass
from typing import NamedTuple, Optional
@dataclass
class Point:
    x: float = 0.0
class Pair(NamedTuple):
    a: int
## class-module
class Mine:
    __module__ = "mine"
## abc
from abc import ABC, abstractmethod
from enum import Enum
Colour = Enum("Colour", "RED GREEN")
## contextvar
import contextvars
contextvars.ContextVar("mine").set(1)
## locale
import locale
locale.setlocale(locale.LC_ALL, "C")
## environment
import os
os.environ["MINE"] = "1"; os.environ.setdefault("OMP_NUM_THREADS", "2"); os.environ.pop("HOME", None)
## path
import sys
sys.path.insert(0, "."); sys.path.append(".."); sys.argv
## exit-caught
try:
    exit()
except SystemExit:
    pass
## big-print
for _ in range(2000): print("x" * 1000)
## big-array
import numpy as np
big = np.zeros((5000, 2000)); del big
## nan
import math
x = float("nan"); y = math.inf; mg.tensor([x, y])
## url
try:
    import urllib.request
    urllib.request.urlopen("http://localhost:9/", timeout=1)
except OSError:
    pass
## unicode
été = "déjà vu"; print("ü", "日本", "😀")
## comment-only
# ===== my solution =====
# TODO: nothing
## semicolons
a = 1; b = 2;
a;
## continuation
total = 1 + \\
    2
## tabs
if True:
	tabbed = 1
## windows-lines
first = 1\r
second = 2\r
## as-torch
from minigrad.compat import as_torch
as_torch()
''')
