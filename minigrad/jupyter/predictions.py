"""Predictions in notebooks: what is typed after `# My prediction:` is compared with what the cell then gives.

    # My prediction: 8 and 12
    y, x.grad

The line is a comment, so the cell runs as before, wherever it runs. Empty, it does nothing. `%predictions 05` shows
those of chapter 05: how many came so, which did not, and the belief that each of these is about. A cell of a chapter
may carry in its metadata `prediction`: the `question`, an `answer` and a `belief`. Without an answer only numbers,
True, False, None and errors are compared; what cannot be compared is left to the reader.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, TextIO

LINE = "# My prediction:"
CAME_SO, OTHERWISE, YOURS_TO_JUDGE = "came so", "came otherwise", "for you to judge"
COLOURS = {CAME_SO: "#2e8b62", OTHERWISE: "#c0701c", YOURS_TO_JUDGE: "#7b848f"}
LONGEST = 100  # characters of what came that the summary shows
WORDS = "zero one two three four five six seven eight nine ten".split()
# What readers write for the same thing.
SAME = {word: str(number) for number, word in enumerate(WORDS)}
SAME |= dict.fromkeys(["raise", "raises", "fail", "fails", "failed", "refused", "refuses", "exception"], "error")
SAME |= {"nothing": "none", "infinity": "inf", "not": "no", "cannot": "no", "nope": "no", "yep": "yes", "y": "yes"}
AS_AN_ANSWER = {"true": "yes", "false": "no"}
UNSURE = re.compile(r"no idea|not sure|(don.?t|do not) know|or not")
TOKEN = re.compile(r"-?\d+/\d+|-?\d+\.?\d*(?:e[+-]?\d+)?|-?\.\d+|[a-z_]\w*")
# What a printed tensor says besides its numbers.
ASIDE = re.compile(r"(requires_grad|grad_fn|dtype)=[^,)]*|minigrad:.*|(?<=Error: ).*|\w+Warning: .*")


# --- Comparing -----------------------------------------------------------------------------------


def typed_in(source: str) -> str:
    """What is typed after `# My prediction:` in a cell.

    >>> typed_in("# My prediction:  8 and 12 \\ny, x.grad")
    '8 and 12'
    """
    found = re.search(rf"(?m)^{LINE}(.*)$", source)
    return found[1].strip() if found else ""


def without_line(source: str) -> str:
    """A cell without its prediction."""
    return re.sub(rf"(?m)^{LINE}.*\n?", "", source).strip()


def tokens(text: str) -> list[str]:
    """Numbers and words of a text, in one spelling.

    >>> tokens("It fails: NaN, −2. or two")
    ['it', 'error', 'nan', '-2', 'or', '2']
    """
    found = []
    for token in TOKEN.findall(UNSURE.sub("", text.lower().replace("−", "-"))):
        token = "error" if token.endswith("error") else SAME.get(token, token)
        found.append(token.rstrip(".") if token[-1] == "." else token)
    return found


def number(token: str) -> float | None:
    """The number that a token is."""
    above, _, below = token.partition("/")
    try:
        return float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        return None


def is_same(said: str, came: str) -> bool:
    """Whether two tokens agree: numbers to as many places as were typed.

    >>> is_same("8.15", "8.1548"), is_same("12", "12.0001"), is_same("1/2", "0.5"), is_same("0", "none")
    (True, True, True, False)
    """
    one, other = number(said), number(came)
    if one is None or other is None or "inf" in (said, came) or "nan" in (said, came):
        return said == came
    places = len(said.partition(".")[2])
    return abs(one - other) <= max(0.5 * 10**-places if places else 0, 1e-3 * abs(other)) + 1e-9


def compare(said: str, came: str, answer: str = "") -> str:
    """Whether it came as somebody said: by the answer if there is one, else by what a cell gave.

    An answer has a group of words for each thing that is asked for, in order: `|` stands between words that mean the
    same, `!` before those of a wrong answer. Of what was said, only words count that are of the same kind.

    >>> compare("8 and 12", "(tensor(8., grad_fn=<PowBackward0>), tensor(12.))"), compare("8, 13", "(8, 12)")
    ('came so', 'came otherwise')
    >>> [compare(said, "", "no|stays !circle") for said in ("no", "False, it stays", "in a circle", "I wonder")]
    ['came so', 'came so', 'came otherwise', 'for you to judge']
    """
    groups = [[tokens(word)[0] for word in group.strip("!").split("|")] for group in answer.split() if group[0] != "!"]
    wrong = {word for group in answer.split() if group[0] == "!" for word in group[1:].split("|")}
    as_asked = AS_AN_ANSWER if answer else {}
    asked = groups or [[token] for token in tokens(ASIDE.sub("", came)) if kind(token)]
    kinds = {kind(token) for group in asked for token in group} | {"error"}
    if asked == [["error"]]:
        kinds.add("number")
    words = {token for group in asked for token in group} | wrong
    given = [as_asked.get(token, token) for token in tokens(said)]
    given = [token for token in given if token in words or kind(token) in kinds - {""}]
    if not given or not asked:
        return YOURS_TO_JUDGE
    if not answer and ["error"] in asked and "error" in given:
        return CAME_SO
    at, met = -1, set()
    for token in given:
        places = [place for place in (at + 1, at, *range(at + 2, len(asked))) if 0 <= place < len(asked)]
        at = next((place for place in places if any(is_same(token, word) for word in asked[place])), len(asked))
        met.add(at)
    if len(met) == len(asked) and len(asked) not in met:
        return CAME_SO
    if len(asked) in met:  # something that was said came nowhere
        return OTHERWISE if answer or len(given) == len(asked) or "error" in given else YOURS_TO_JUDGE
    return OTHERWISE if len(given) >= len(asked) else YOURS_TO_JUDGE


def kind(token: str) -> str:
    """What a token is compared with; "" for one that is just a word."""
    if number(token) is not None or token == "none":
        return "number"
    return {"true": "flag", "false": "flag", "yes": "flag", "no": "flag", "error": "error"}.get(token, "")


# --- In a notebook -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Note:
    """A prediction and what became of it. In the notebook it is stored with the output that shows it."""

    said: str
    came: str
    became: str

    def __repr__(self) -> str:
        end = {CAME_SO: "It came so.", OTHERWISE: "It came otherwise.", YOURS_TO_JUDGE: "Did it come so?"}
        return f"You predicted “{self.said}”. {end[self.became]}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict, dict]:
        style = f"border-left:3px solid {COLOURS[self.became]};padding-left:10px;margin-top:6px"
        shown = f'<div style="{style}">{escape(repr(self))}</div>'
        return {"text/html": shown, "text/plain": repr(self)}, {"minigrad_prediction": asdict(self)}


class Copy:
    """A stream that passes on what is written, and keeps it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.kept = stream, list[str]()

    def write(self, text: str) -> int:
        self.kept.append(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Watch:
    """Looks at each cell before and after it runs, and remembers this session's predictions by their cell."""

    def __init__(self, shell: Any) -> None:
        self.shell, self.notes = shell, dict[str, Note]()
        self.copy: Copy | None = None

    def before(self, info: Any) -> None:
        if typed_in(info.raw_cell or ""):
            self.copy = Copy(sys.stdout)
            sys.stdout = self.copy

    def after(self, result: Any) -> None:
        if self.copy is None:
            return
        copy, self.copy = self.copy, None
        if sys.stdout is copy:
            sys.stdout = copy.stream
        error = result.error_before_exec or result.error_in_exec
        if isinstance(error, (KeyboardInterrupt, SyntaxError)):
            return
        came = "".join(copy.kept) + (f"{type(error).__name__}: {error}" if error else self.as_text(result.result))
        said, cell = typed_in(result.info.raw_cell), without_line(result.info.raw_cell)
        facts = next((facts for text, facts, _ in cells_here("") if text == cell), {})
        self.notes[cell] = Note(said, in_short(came), compare(said, came, facts.get("answer", "")))
        display(self.notes[cell])

    def as_text(self, value: Any) -> str:
        """How a value is printed; a picture is for the eye."""
        if value is None or hasattr(value, "_repr_mimebundle_"):
            return ""
        return self.shell.display_formatter.format(value)[0].get("text/plain", "")

    def show(self, line: str) -> None:
        """`%predictions 05`: those of chapter 05 in this session, and those that are stored in the notebook."""
        found = []
        for cell, facts, outputs in cells_here(line.strip()):
            stored = [output.get("metadata", {}).get("minigrad_prediction") for output in outputs]
            known = [Note(**note) for note in stored if note]
            if cell in self.notes or known:
                found.append((facts, self.notes.get(cell) or known[-1]))
        display(Summary(found))


class Summary:
    """The predictions of a chapter: how many came so, and each of the others with what it is about."""

    def __init__(self, found: list[tuple[dict, Note]]) -> None:
        self.found = found

    def __repr__(self) -> str:
        if not self.found:
            return f"No predictions yet. Type one after `{LINE}`, and run its cell."
        return "\n".join([self.total, *(line for part in self.parts() for line in part)])

    @property
    def total(self) -> str:
        became = [note.became for _, note in self.found]
        counts = [f"{became.count(what)} {what}" for what in (CAME_SO, OTHERWISE, YOURS_TO_JUDGE) if what in became]
        return f"You predicted {len(became)} times: {', '.join(counts)}."

    def parts(self) -> Iterator[list[str]]:
        """The lines about each prediction that did not come so, or may not have."""
        for facts, note in self.found:
            if note.became == CAME_SO:
                continue
            lines = [f"· {facts.get('question') or 'A question of your own'}", f"  you: {note.said}"]
            lines.append(f"  it: {note.came or '(a picture)'}")
            if note.became == OTHERWISE and facts.get("belief"):
                lines.append(f"  the belief that this is about: “{facts['belief']}”")
            yield lines

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        lines = [f"<p>{escape(repr(self).splitlines()[0])}</p>"]
        lines += [f"<p>{'<br>'.join(map(escape, part))}</p>" for part in self.parts()]
        return {"text/html": re.sub("`([^`]+)`", r"<code>\1</code>", "".join(lines)), "text/plain": repr(self)}


def cells_here(chapter: str) -> Iterator[tuple[str, dict, list[dict]]]:
    """Of the notebooks beside this one: the text of each code cell, what it says of its prediction, its outputs."""
    for path in sorted(Path().glob(f"{chapter}*.ipynb")):
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            for cell in cells:
                if cell["cell_type"] == "code" and LINE in "".join(cell["source"]):
                    facts = cell["metadata"].get("prediction", {})
                    yield without_line("".join(cell["source"])), facts, cell["outputs"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue  # half written, or no notebook


def in_short(text: str) -> str:
    """What came, on one line, without warnings, cut where it is long."""
    line = " ".join(re.sub(r"\w+Warning: .*|minigrad: .*", "", text).split())
    return line if len(line) <= LONGEST else line[:LONGEST] + " …"


def display(shown: Any) -> None:
    sys.modules["IPython"].display.display(shown)


def register() -> None:
    """Compare the predictions of the running IPython, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        watch = Watch(shell)
        shell.events.register("pre_run_cell", watch.before)
        shell.events.register("post_run_cell", watch.after)
        shell.register_magic_function(watch.show, "line", "predictions")
