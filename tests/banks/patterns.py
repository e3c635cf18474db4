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


def functions(signature: str, blocks: str) -> dict[str, str]:
    """Answers that are one function each: a name at the margin, below it the body of ``def signature:``.

    >>> functions("f(x)", "a-sum\\n    return x + x\\n")
    {'a-sum': '\\ndef f(x):\\n    return x + x\\n'}
    """
    answers: dict[str, str] = {}
    for line in blocks.strip("\n").split("\n"):
        if line and not line.startswith(" "):
            name = line
            answers[name] = f"\ndef {signature}:\n"
        else:
            answers[name] += line + "\n"
    return answers
