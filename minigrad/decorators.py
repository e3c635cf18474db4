"""Context managers that decorate functions too: plain ones, generators and coroutines.

PyTorch counterpart: ``torch/utils/_contextlib.py``.
"""

import functools
import inspect
import warnings

from .messages import CLASS_DECORATED


class DecoratorContextManager:
    """The base class of a context manager that is a decorator too."""

    def clone(self):
        """A fresh instance for each call of a decorated function, so that recursion is safe."""
        return self.__class__()

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn(CLASS_DECORATED, FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args, **kwargs):
                with self.clone():
                    return await function(*args, **kwargs)
        else:

            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                with self.clone():
                    return function(*args, **kwargs)

        return wrapper

    def _wrap_generator(self, function):
        """The mode holds while the generator's own body runs, not while its consumer's does."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            generator = function(*args, **kwargs)
            resume, value = generator.send, None
            while True:
                try:
                    with self.clone():
                        item = resume(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    resume, value = generator.send, (yield item)
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    resume, value = generator.throw, error

        return wrapper


class NoParamDecoratorContextManager:
    """One that works without parentheses: ``@no_grad`` is the same as ``@no_grad()``."""

    def __new__(cls, function=None):
        self = object.__new__(cls)
        return self if function is None else self(function)
