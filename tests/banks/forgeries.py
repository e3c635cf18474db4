"""Tries to be given points for no answer, from inside the process that judges; none may succeed.

Each is the answer cell of one exercise of chapter 01, with the result that it gets instead. `{untouched}`
stands for the cell as it was given.
"""

UNANSWERED, TAMPERED = ("unanswered", "unanswered"), ("not graded", "tampered")

# Found from inside a function that is being judged: the box for the verdict, and the word that it is there.
_TAKE = """
        if 'outcome' in frame.f_locals:
            frame.f_locals['outcome'].value = kit.Verdict('passed', 'passed')
            frame.f_locals['done'].put(True)
        frame = frame.f_back
    while True: pass
"""

FORGERIES = {
    "thread-args": (
        "cut",
        ("wrong", "none"),
        """
def cut(w, x, b):
    import threading, sys
    from exercises.checks import kit
    thread = threading.current_thread()
    found = list(getattr(thread, '_args', ())) + list(vars(thread).get('task', ()))
    outcome = [one for one in found if hasattr(one, 'timed_out')]
    done = [one for one in found if hasattr(one, 'put')]
    if outcome:
        outcome[0].value = kit.Verdict('passed', 'passed'); done[0].put(True)
        while True: pass
""",
    ),
    "traceback-frames": (
        "cut",
        ("wrong", "raised"),
        """
def cut(w, x, b):
    from exercises.checks import kit
    try: 1 / 0
    except ZeroDivisionError as error: frame = error.__traceback__.tb_frame
    while frame:
"""
        + _TAKE,
    ),
    "generator-frames": (
        "cut",
        ("wrong", "raised"),
        """
def cut(w, x, b):
    from exercises.checks import kit
    def steps(): yield me.gi_frame.f_back
    me = steps()
    frame = next(me)
    while frame:
"""
        + _TAKE,
    ),
    "walk-tb": (
        "cut",
        ("wrong", "raised"),
        """
def cut(w, x, b):
    import traceback
    from exercises.checks import kit
    frame = list(traceback.walk_stack(None))[0][0]
    while frame:
"""
        + _TAKE,
    ),
    "settrace": (
        "cut",
        UNANSWERED,
        """
import sys
def spy(frame, event, argument):
    while frame:
        if type(frame.f_locals.get('verdict')) is dict: frame.f_locals['verdict']['status'] = 'passed'
        frame = frame.f_back
    return spy
sys.settrace(spy)
{untouched}
""",
    ),
    "globals-of-the-shell": (
        "cut",
        UNANSWERED,
        """
shell = get_ipython()
for one in list(vars(shell).values()) + [shell.display_formatter.format]:
    space = getattr(one, '__globals__', {})
    for name in ('_run_step', '_judge_of'):
        if name in space: space[name] = lambda *a: dict.fromkeys(('status', 'code'), 'passed')
{untouched}
""",
    ),
    "subclasses": (
        "cut",
        UNANSWERED,
        """
for kind in object.__subclasses__():
    if kind.__module__.startswith('tools.grading'):
        for one in vars(kind).values():
            getattr(one, '__globals__', {}).clear()
{untouched}
""",
    ),
    "melted-exercise": (
        "cut",
        TAMPERED,
        """
object.__setattr__(check.chapter.exercises['cut'], 'judge', lambda answer: 'fine')
{untouched}
""",
    ),
    "judge-code": (
        "cut",
        TAMPERED,
        """
check.chapter.exercises['cut'].judge.__code__ = (lambda answer: 'fine').__code__
{untouched}
""",
    ),
    "target": (
        "diamond",
        TAMPERED,
        """
from exercises.checks import ch01
from exercises.checks.targets import Targets
for value in vars(ch01).values():
    if type(value) is Targets: value.makers['diamond'] = value.makers['with_constants']
{untouched}
""",
    ),
    "worker-by-name": (
        "cut",
        UNANSWERED,
        """
from tools import grading
print(grading.worker)
{untouched}
""",
    ),
    "json": (
        "cut",
        TAMPERED,
        """
import json
json.JSONEncoder.encode = lambda self, o: '{}'
{untouched}
""",
    ),
    "proc-mem": (
        "cut",
        UNANSWERED,
        """
open('/proc/self/mem', 'rb').read(10)
{untouched}
""",
    ),
    "verdict-class": (
        "cut",
        TAMPERED,
        """
from exercises.checks import kit
kit.Verdict.status = property(lambda self: 'passed')
{untouched}
""",
    ),
    "verdict-init": (
        "cut",
        TAMPERED,
        """
from exercises.checks import kit
kit.Verdict.__init__ = lambda self, *a: None
{untouched}
""",
    ),
    "atexit": (
        "cut",
        UNANSWERED,
        """
import atexit, os; atexit.register(os._exit, 0)
{untouched}
""",
    ),
    "time": (
        "cut",
        TAMPERED,
        """
import time; time.monotonic = lambda: 0.0
{untouched}
""",
    ),
    "defaults": (
        "cut",
        TAMPERED,
        """
from exercises.checks import kit
kit.close.__defaults__ = (1e9,)
{untouched}
""",
    ),
}
