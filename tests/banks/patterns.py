"""How the banks write down predictions that differ from the right ones in a few places."""

from collections.abc import Callable


def changed(variable: str, right: dict | None = None, **more) -> Callable[..., str]:
    """A function that gives the source of a prediction: the right one, except for what it is told.

    >>> changed("flags", a=True, b=False)(b=True)
    "flags = {'a': True, 'b': True}"
    """
    truth = (right or {}) | more

    def source(wrong: dict | None = None, **others) -> str:
        return f"{variable} = {truth | (wrong or {}) | others}"

    return source
