"""A backward inside a backward, inside a backward ...: every so many go on in a new thread.

Python allows a thread about a thousand calls inside each other, and no more. PyTorch does the same, for the
stack of C: ``MAX_DEPTH`` in ``torch/csrc/autograd/engine.h``.
"""

from threading import Thread, local

from .grad_mode import mode, set_mode

DEEPEST = 40  # walks inside each other, in one thread


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
        thread.join()  # what it is doing to the graph has to come to an end
        raise
    for error in errors:
        raise error
    return results[0]
