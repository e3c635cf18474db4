"""The spine: what runs between `x = tensor(...)` and `x.grad`. A stranger reads it in an hour, so it has a budget."""

import json
import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "minigrad"
# Lines, docs and comments included, of the files in which a function was entered, and of the code assembled for mul.
BUDGET = 1800
PROGRAM = f"""
import json, linecache, sys
import minigrad as mg

entered = set()

def note(frame, event, argument):
    entered.add(frame.f_code.co_filename)

sys.settrace(note)
x = mg.tensor(2.0, requires_grad=True)
w = mg.tensor(3.0, requires_grad=True)
y = x * w
y.backward()
x.grad
sys.settrace(None)
entered = sorted(file for file in entered if file.startswith(({str(PACKAGE)!r}, "<operation")))
print(json.dumps({{file: len(linecache.getlines(file)) for file in entered}}))
"""


def test_the_spine_is_short_enough_to_read(record_property):
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    lines = {file.removeprefix(f"{PACKAGE}{os.sep}").replace(os.sep, "/"): n for file, n in json.loads(found).items()}
    total = sum(lines.values())
    table = [f"{count:5} {file}" for file, count in lines.items()]
    print("\n".join([*table, f"{total:5} in all"]))
    record_property("spine_lines", total)
    assert {"tensor.py", "dispatch.py", "assemble.py", "autograd/node.py", "autograd/engine.py"} <= lines.keys()
    assert any(name.startswith("<operation mul") for name in lines)
    assert total <= BUDGET, "\n".join(table)
    walk = (PACKAGE / "README.md").read_text("utf-8").partition("## Where is")[0]
    assert not [file for file in lines if not file.startswith("<") and f"`{file}`" not in walk], "not in the walk"
