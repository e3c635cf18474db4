"""`explain(error)`: the graph with the culprit marked, and the usual repairs, run side by side.

A refusal says which tensor or node it is about; the frame that your line ran in has the names of your variables.
"""

import ast
import io
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from types import FrameType
from typing import Any, NamedTuple

from ..autograd.grad import grad
from ..autograd.grad_fn import grad_fn_of
from ..autograd.grad_mode import enable_grad
from ..autograd.node import Node
from ..messages import REFUSALS
from . import pytorch
from .collect import panel
from .lines import Log, last_log, paused
from .live import engine_node, reachable, saved_state
from .misuses import CASES, Case
from .picture import Picture
from .records import Names, Options, is_tensor
from .source import code_of, is_yours
from .story import REPAIRS, Story, Teller

TORCH = "torch"
PACKAGE = __name__.partition(".")[0]
VERDICTS = {"right": "\N{CHECK MARK} right", "wrong": "\N{BALLOT X} wrong", "depends": "~ depends"}
INTRODUCTION = "The same misuse in a small program of ours, and what people do about it. Each was run just now:"
UNKNOWN = "explain() does not know this error: it knows what autograd refuses."
ASK_FOR_LINES = (
    "Which line did it? Write `%%explain` as the first line of the cell, or `with mg.viz.lines():` around the code."
)
ASK_FOR_MORE_LINES = (
    "Which line did it? The graph was made before the block, or by what it does not see: begin it earlier."
)
VIEW = "is a view and is being modified inplace"  # in several sentences, each about another kind of view
MAX_ERROR = 100  # characters of the error that a repair raises


# -- what the exception says ---------------------------------------------------------------------------


def key_of(error: BaseException) -> str:
    """Which refusal it is: a key of `messages.REFUSALS`; "" if it is none.

    >>> key_of(RuntimeError("a Tensor with 3 elements cannot be converted to Scalar"))
    'item of several'
    """
    for key, (kind, sentence, _) in REFUSALS.items():
        pattern = re.escape(sentence).replace(r"\{\}", ".*")
        if type(error) is kind and re.fullmatch(pattern, str(error), re.DOTALL):
            return key
    return ""


def cases_of(key: str, error: BaseException) -> tuple[Case, ...]:
    """The small programs for a refusal, likeliest first."""
    passed = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if key == "no history" and grad.__code__ in passed:
        return CASES[key][::-1]
    if key == "in place" and str(error).startswith("a view"):
        return CASES["in place, view"]
    return CASES.get("flag of integers" if "of integers" in key and "data" not in key else key, ())


def users_line(error: BaseException) -> tuple[FrameType | None, str]:
    """Where you called what raised the error: the frame, which has your variables, and the line as you wrote it."""
    yours = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if _is_yours(frame)]
    if not yours:
        return None, ""
    frame, line = yours[-1]
    return frame, code_of(frame.f_code.co_filename, line)


def _is_yours(frame: FrameType) -> bool:
    """Whether it runs the user's code: not minigrad's, PyTorch's or the standard library's (``copy.deepcopy``)."""
    return is_yours(frame.f_code.co_filename)


# -- what is to blame -----------------------------------------------------------------------------------


class Blame(NamedTuple):
    """The tensors or the node to draw the graph of, and what to point at in it: the `marks` of `draw`."""

    roots: tuple = ()
    marks: dict = {}  # noqa: RUF012 (never changed)
    node: Any = None


def blame_of(key: str, error: BaseException, names: Names, log: Log | None = None) -> Blame:
    """What to draw and to mark: what the refusal is about, as far as it says so."""
    about = about_of(key, error)
    subject, *others = about or (None,)
    if isinstance(subject, Node):
        node = grad_fn_of(subject)
        return Blame(made_through(subject, names) or (node,), _marks_at(key, node, error), node)
    if key in AT_NODE and is_tensor(subject):
        return _their_blame(key, error, about, log)
    marks = {subject: AT_TENSOR[key]} if is_tensor(subject) and key in AT_TENSOR else {}
    return Blame(tuple(filter(is_tensor, (*others, subject))), marks)


def _marks_at(key: str, node: Any, error: BaseException) -> dict:
    note = AT_NODE.get(key, "")
    return note(node, error) if callable(note) else {node: note} if note else {}


def _their_blame(key: str, error: BaseException, roots: tuple, log: Log | None) -> Blame:
    """The same for PyTorch's graph: its errors do not say which node it was."""
    found = pytorch.culprits(roots, error)
    if key == "second time" and log is not None:
        freed = [node for node in found if log.freed_before(TORCH, pytorch.order(node))]
        found = freed[:1] or found
    if len(found) > 1:
        return Blame(roots, dict.fromkeys(found, "freed before, or by this backward until it stopped"))
    return Blame(roots, _marks_at(key, found[0], error), found[0]) if found else Blame(roots)


def about_of(key: str, error: BaseException) -> tuple:
    """What a refusal is about, what it blames first: as minigrad says, or as far as PyTorch's call shows it."""
    about = getattr(error, "about", None)
    if about and not is_tensor(about[0]):
        return about
    if about is None or key in UNTRACKED or key in AT_NODE or key == "grad of an unused input":
        about = pytorch.subjects(error) or about or ()
    if key in UNTRACKED:
        about = sorted(about, key=lambda tensor: tensor.requires_grad)
    if key == "inference tensor saved":
        about = sorted(about, key=lambda tensor: not tensor.is_inference())
    if key == "grad of an unused input":
        about = sorted(about, key=lambda tensor: tensor.grad_fn is not None or id(tensor) in _reached(about))
    return tuple(about)


def _reached(tensors) -> set[int]:
    """The ids of the leaves behind some tensors."""
    nodes = pytorch.reachable(t.grad_fn for t in tensors if engine_node(t) is None)
    return {id(node.variable) for node in nodes if hasattr(node, "variable")}


def made_through(node: Node, names: Names) -> tuple:
    """Your tensors that were computed through a node, without those from which others of them were computed."""
    behind = {t: set(reachable([own])) for t in names.held() if (own := engine_node(t)) is not None}
    made = [tensor for tensor in behind if node in behind[tensor]]
    return tuple(t for t in made if not any(engine_node(t) in behind[other] for other in made if other is not t))


def _overwritten(node, error) -> dict:
    """The saved values whose version is not the one that was saved."""
    stale = [name for name, value, then, now in saved_state(node) if value is not None and then != now]
    return {(node, name): "overwritten since" for name in stale} or {node: "a saved value was overwritten"}


def _misfit(node, error) -> dict:
    """The edge to the input whose gradient has another shape."""
    index = re.search(r"at index (\d+)", str(error))
    return {(node, int(index.group(1))): "its gradient does not fit"} if index else {node: ""}


# What is written on a node, or a function of node and error that says what to mark.
AT_NODE = {
    "second time": "what it saved has been freed",
    "modified": _overwritten,
    "modified, anomaly mode": _overwritten,
    "nan found": "its derivatives gave nan",
    "gradient does not fit": _misfit,
    "number of gradients": "returned too few or too many gradients",
    "gradient is no tensor": "returned something that is no tensor",
    "differentiable once": "can be differentiated once only",
    "hook changes the shape": "a hook here returned another shape",
    "hook changes the dtype": "a hook here returned another dtype",
    "hook returns no tensor": "a hook here returned no tensor",
    "gradient of no tensor": "returned a gradient for what is no tensor",
    "no derivative": "has no derivative",
}
UNTRACKED = ("no history", "grad of a constant")
AT_TENSOR = {
    "in place": "to be changed in place",
    "no history": "no grad_fn: there is no way back",
    "backward of several": "has several entries",
    "start of another shape": "asks for a gradient of its own shape",
    "grad of an unused input": "not reached",
    "grad of a constant": "not part of any graph",
    "flag of a result": "a result: its flag follows from its inputs",
    "deepcopy of a result": "a result: it has a history",
    "numpy of a tracked tensor": "requires grad",
    "item of several": "has several entries",
    "bool of several": "has several entries",
    "number of several": "has several entries",
    "view of strides": "its rows do not lie in order",
    "detach_ of a view": "a view: its history is that of its base",
    "post-accumulate hook of a result": "a result: nothing is added to its .grad",
    "grad of another shape": "its .grad has its shape",
    "data of integers": "requires grad: it cannot hold integers",
    "in place, inference tensor": "made in inference_mode, to be changed in place",
    "in place, overlapping": "several of its entries are one place in memory",
    "retain_grad of a constant": "no gradient comes by",
    "hook on a constant": "no gradient comes by",
    "flag of integers, attribute": "integers",
    "flag of integers, method": "integers",
}


# -- the repairs, run -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attempt:
    """A program and what it gave when it was run."""

    title: str
    program: str
    gives: str
    came_through: bool
    verdict: str = ""
    why: str = ""


def run(program: str, framework: Any) -> tuple[str, bool]:
    """What the last line of a program gives, or what it raised, and whether it came so far.

    It has a namespace of its own, and gradients are recorded, wherever it is called from.
    """
    body = ast.parse(program).body
    last = body.pop()
    space = {"mg": framework}
    try:
        with warnings.catch_warnings(), enable_grad(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            exec(compile(ast.Module(body, []), "<repair>", "exec"), space)
            if isinstance(last, ast.Expr):
                return repr(eval(compile(ast.Expression(last.value), "<repair>", "eval"), space)), True
            exec(compile(ast.Module([last], []), "<repair>", "exec"), space)
            return "no error", True
    except Exception as error:
        text = f"{type(error).__name__}: {error}".split("\n", 1)[0]
        return (text if len(text) <= MAX_ERROR else text[:MAX_ERROR].rsplit(" ", 1)[0] + " ..."), False


def attempts(case: Case) -> list[Attempt]:
    """The misuse itself and each of its repairs, run."""
    framework = sys.modules[PACKAGE]
    first = Attempt("as it is", case.program, *run(case.program, framework))
    rest = (Attempt(r.title, r.program, *run(r.program, framework), r.verdict, r.why) for r in case.repairs)
    return [first, *rest]


# -- the explanation ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explanation:
    """What `explain` answers. The last line of a cell shows it; ``print`` lists it.

    ``message`` is what was raised, with minigrad's advice; ``code`` your line; ``story`` which lines led there, if a
    `lines` block has seen them, else None, and then ``advice`` says how to see them; ``picture`` your graph, what is to
    blame marked, or None; ``cases`` pairs of a title and the attempts made on a small program; ``known`` whether it is
    an error of autograd at all.
    """

    message: str
    code: str = ""
    picture: Picture | None = None
    cases: tuple[tuple[str, list[Attempt]], ...] = field(default=())
    story: Story | None = None
    advice: str = ""
    known: bool = True

    @cached_property
    def text(self) -> str:
        """The explanation in words."""
        parts = [self.message]
        if self.code:
            parts.append(f"raised by your line: {self.code}")
        if self.known and self.told:
            parts.append("\n".join(self.told))
        if self.picture is not None:
            parts.append(f"your graph: {self.picture.text}")
        if self.cases:
            parts.append(INTRODUCTION)
        parts += ["\n".join(self._case_lines(*case)) for case in self.cases]
        return "\n\n".join(parts)

    @property
    def told(self) -> tuple[str, ...]:
        """The story's sentences, and the repair for this program; without a story, how to come by one."""
        if not self.known:
            return (UNKNOWN,)
        story = self.story or Story((self.advice,) if self.advice else ())
        return (*story.sentences, *((f"repair: {story.repair}",) if story.repair else ()))

    def _case_lines(self, title: str, made: list[Attempt]) -> Iterator[str]:
        yield title
        for attempt in made:
            judged = f" ({attempt.verdict}: {attempt.why})" if attempt.verdict else ""
            yield f"  {attempt.title}{judged}"
            yield from (f"    {line}" for line in attempt.program.splitlines())
            yield f"    -> {attempt.gives}"

    @cached_property
    def html(self) -> str:
        """The same as a page: the picture, and a table of repairs."""
        sentence, *advice = self.message.split("\n")
        parts = [f"<p><b>{escape(sentence)}</b></p>", *(f"<p>{_with_code(line)}</p>" for line in advice)]
        if self.code:
            parts.append(f"<p>Raised by your line <code>{escape(self.code)}</code></p>")
        if self.known and self.told:
            parts.append("<ul>" + "".join(f"<li>{_with_code(line)}</li>" for line in self.told) + "</ul>")
        if self.picture is not None:
            parts += ["<p>Your graph:</p>", self.picture._repr_mimebundle_()["text/html"]]
        if self.cases:
            parts.append(f"<p>{INTRODUCTION}</p>")
        return "".join([*parts, *(table(*case) for case in self.cases)])

    def __repr__(self):
        return self.text

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.text, "text/html": self.html}


def table(title: str, made: list[Attempt]) -> str:
    """A misuse and its repairs: what was tried and what to think of it, the program, what it gives."""
    rows = [f"<p><b>{escape(title)}</b></p><table><thead><tr>"]
    rows += [f'<th style="text-align:left">{head}</th>' for head in ("tried", "program", "gives")]
    rows.append("</tr></thead><tbody>")
    for attempt in made:
        judged = f"<br>{VERDICTS[attempt.verdict]}: {escape(attempt.why)}" if attempt.verdict else ""
        cells = (
            f"<b>{escape(attempt.title)}</b>{judged}",
            changed(attempt.program, made[0].program),
            f"<code>{_unbroken(attempt.gives) if attempt.came_through else escape(attempt.gives)}</code>",
        )
        rows += ["<tr>", *(f'<td style="text-align:left;vertical-align:top">{cell}</td>' for cell in cells), "</tr>"]
    return "".join([*rows, "</tbody></table>"])


def changed(program: str, before: str) -> str:
    """A program with the lines that are not in the one before in bold."""
    old = before.splitlines()
    # Each line is code of its own: a page's margin around code would indent the first alone.
    code = (f"<code>{_unbroken(line)}</code>" for line in program.splitlines())
    lines = (line if text in old else f"<b>{line}</b>" for line, text in zip(code, program.splitlines(), strict=True))
    return "<br>".join(lines)


def _with_code(text: str) -> str:
    """Escaped text, in which what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _unbroken(text: str) -> str:
    """HTML of lines that stay whole, which a page's style for <pre> may not grant."""
    return escape(text).replace(" ", "&nbsp;").replace("\n", "<br>")


def explain(error: BaseException | None = None, *, params: dict | None = None, width: int | None = None):
    """Say why something was refused: your graph with what is to blame marked, and the usual repairs, run.

    `error` is the exception that you caught; without it, it is the last one that a cell ended with. (A cell
    with ``%%expect RuntimeError --explain`` asks at once.) Names come from `params`, then from your variables.
    The graph is yours, as it is now. The repairs are run on a small program of ours, which is shown beside what
    it gives. An error that is not known is answered with one sentence; what is no exception raises TypeError.

    >>> import minigrad as mg
    >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    >>> try:
    ...     x.item()
    ... except RuntimeError as error:
    ...     explanation = explain(error)
    >>> print(explanation.picture)
    what autograd keeps
      x is a leaf: no grad_fn
      x = [1., 2.] (leaf, .grad None, ! has several entries)
    >>> for attempt in explanation.cases[0][1]:
    ...     print(attempt.title, "->", attempt.gives)
    as it is -> RuntimeError: a Tensor with 2 elements cannot be converted to Scalar
    tolist() -> [1.0, 2.0]
    reduce first -> 3.0
    """
    error = getattr(sys, "last_value", None) if error is None else error
    if error is None:
        return Explanation("There is no error to explain: no cell has ended with one yet.")
    if not isinstance(error, BaseException):
        raise TypeError(f"explain() takes an exception, as in `except RuntimeError as e`, not {type(error).__name__}")
    with paused():
        return _explained(error, params, width, sys._getframe(1))


def _explained(error: BaseException, params: dict | None, width: int | None, caller: FrameType) -> Explanation:
    notes = [note for note in getattr(error, "__notes__", ()) if note.startswith("minigrad:")]
    message = "\n".join([f"{type(error).__name__}: {error}".split("\n", 1)[0], *notes])
    key = key_of(error) or ("view in place" if VIEW in str(error) and hasattr(error, "about") else "")
    if not key:
        return Explanation(f"{message}\n{UNKNOWN}", known=False)
    frame, code = users_line(error)
    names = Names(filter(is_tensor, about_of(key, error)), params, frame or caller)
    cases = tuple((case.title, attempts(case)) for case in cases_of(key, error))
    log = getattr(error, "lines", None) or last_log()
    blame = blame_of(key, error, names, log)
    story = None if log is None else story_of(key, error, blame, names, log)
    theirs = any(type(root).__module__.partition(".")[0] != PACKAGE for root in blame.roots)
    ask = ASK_FOR_MORE_LINES if hasattr(error, "lines") else ASK_FOR_LINES
    advice = ask if story is None and theirs else ""
    return Explanation(message, code, _picture(blame, names, width), cases, story, advice)


def story_of(key: str, error: BaseException, blame: Blame, names: Names, log: Log) -> Story | None:
    """How it came to the refusal, as far as a `lines` block has seen it."""
    teller, repair = Teller(log, names), REPAIRS.get(key, "")
    if blame.node is not None:
        return _story_of_node(key, error, blame, teller)
    subject: Any = next(iter(about_of(key, error)), None)
    if subject is None or not is_tensor(subject) or not hasattr(error, "lines"):
        return None  # of a block that is over a tensor is not known again: its id may be another's by now
    name = names.of(subject)
    if key in UNTRACKED and not (key == "grad of a constant" and subject.is_leaf and not log.returned(subject)):
        return teller.untracked(id(subject), name)
    story = teller.refused(subject, repair)
    return story if story.sentences else None


def _story_of_node(key: str, error: BaseException, blame: Blame, teller: Teller) -> Story | None:
    """The story of a node: of what it saved, and of what became of that."""
    node = blame.node
    index = teller.log.call_of(node)
    if index is None:
        return None
    kind = type(node).__name__
    if key.startswith("modified"):
        stale = [entry for entry in saved_state(node) if entry[1] is not None and entry[2] != entry[3]]
        for name, _, then, now in stale:
            return teller.overwritten(index, kind, name, then or 0, now or 0)
        return None
    if key == "second time":
        return teller.freed(index, kind)
    return Story((f"{kind} was made by {teller.log.line(index)}",), REPAIRS.get(key, ""), "", teller.log.line(index))


def _picture(blame: Blame, names: Names, width: int | None) -> Picture | None:
    """Your graph with what is to blame marked. It keeps nothing of the graph alive."""
    if not blame.roots:
        return None
    record = panel(blame.roots, "kept", names, None, Options(marks=blame.marks))
    return Picture((replace(record, options=Options()),), width)
