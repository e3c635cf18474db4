"""A backward inside a backward, inside a backward ...: each so many go on in a thread of their own.

Python allows a thread about a thousand calls inside each other, and no more. PyTorch does the same, for the
stack of C: ``MAX_DEPTH`` in ``torch/csrc/autograd/engine.h``.
"""

import contextlib
from threading import Thread, get_ident

from .grad_mode import ON, mode, set_state

DEEPEST = 40  # walks inside each other, in one thread

# Threads that walk for one that waits for them, and holds the engine's lock: how many walks there were before theirs.
stand_ins: dict = {}

# What such a thread enters in the place of the lock.
OPEN = contextlib.nullcontext()


def in_a_thread_of_its_own(depth: int, call, *args):
    """Call a function in another thread, in this one's grad mode, and wait for its result or its exception."""
    state, results, errors = mode.state, [], []

    def work():
        stand_ins[get_ident()] = depth
        set_state(state)
        try:
            results.append(call(*args))
        except BaseException as error:
            errors.append(error)
        finally:
            set_state(ON)
            del stand_ins[get_ident()]

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
