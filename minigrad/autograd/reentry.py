"""Reentrant backwards, each called inside another: at MAX_DEPTH they go on in a new thread.

Python's recursion limit is about a thousand calls in a thread. PyTorch does the same to spare the C++ stack:
``MAX_DEPTH`` in ``torch/csrc/autograd/engine.h``.
"""

from threading import Thread, local

from .grad_mode import mode, set_mode

MAX_DEPTH = 40  # walks inside each other, in one thread


class _Running(local):
    """The walks of this thread, as GraphTasks: a hook or a Function that calls backward starts one inside another."""

    def __init__(self):
        self.tasks: list = []


running = _Running()


def in_a_new_thread(call, *args):
    """Call a function in another thread, in this one's grad mode, and wait for its result or its exception."""
    before, results, errors = (mode.recording, mode.inference), [], []

    def work():
        set_mode(*before)
        try:
            results.append(call(*args))
        except BaseException as error:
            errors.append(error)
        finally:
            set_mode(True)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        thread.join()  # wait: the graph must not be left half walked
        raise
    for error in errors:
        raise error
    return results[0]
