"""How an error came about: which variable, saved by which line, overwritten by which, and the repair for this program.

Told from what a `lines` block has noted.
"""

import ast
import re
from dataclasses import dataclass
from typing import Any

from .lines import LEAVES_TORCH, WALKS, Call, Change, Log, Seen, is_in_place
from .live import storage
from .records import Names, is_tensor, value_text
from .source import Line, Spot

MAX_OVERWRITES = 4  # that are told; of more the rest is counted


@dataclass(frozen=True)
class Story:
    """What the lines say about a refusal.

    ``variable`` is what the program calls the tensor; ``made`` the line that made it, or that lost its history;
    ``saved`` the line of the operation that saved it; ``overwritten`` every line that overwrote it since; ``freed``
    the line of the backward that freed what was saved. ``sentences`` say all of it, ``repair`` what to do.
    """

    sentences: tuple[str, ...] = ()
    repair: str = ""
    variable: str = ""
    made: Line | None = None
    saved: Line | None = None
    overwritten: tuple[Line, ...] = ()
    freed: Line | None = None


class Teller:
    """A log, and the names of the tensors that still live."""

    def __init__(self, log: Log, names: Names):
        self.log, self.names = log, names

    def name(self, index: int, seen: Seen, result: bool = False) -> str:
        """What a tensor that a call met is called: in its line, else among your variables, else where it was made."""
        call, spot = self.log.calls[index], self.log.spot(index)
        text = spot.target if result else spot.operand(call.op, seen.where, call.count)
        made = self.made_name(seen.id, index)
        known = "" if self.log.is_born(seen.id, index) or made else self.named(seen)
        in_list = isinstance(seen.where, tuple)  # of a list the line says less than its parts are called
        if re.fullmatch(r"[^\W\d][\w.]*(\[.*\])?", text) and not (in_list and (made or known)):
            return text
        return made or known or text

    def named(self, seen: Seen) -> str:
        """The name of a variable that still holds a tensor that was seen: another one may have its id by now."""
        for thing in self.names.things:
            if _id(thing) == seen.id and is_tensor(thing):
                same = (storage(thing) or 0) == seen.memory and thing.requires_grad >= seen.tracked
                return self.names.by_id(seen.id) if same else ""
        return ""

    def made_name(self, id: int, before: int | None = None) -> str:
        """What the line that made a tensor calls it. (What a Module's line calls is not the weights that it made.)"""
        made = self.made(id) if before is None else self.log.last_output(id, before)
        if made is None:
            return ""
        call, spot = self.log.calls[made], self.log.spot(made)
        return spot.target if call.last > call.first or spot.calls(call.op) else ""

    def made(self, id: int) -> int | None:
        """The index of the call that made or overwrote a tensor: as the refused call met it, if the last one was."""
        calls = self.log.calls
        met = next((seen for seen in calls[-1].inputs if seen.id == id), None) if calls and calls[-1].failed else None
        return self.log.last_output(id) if met is None else self.log.source(met, len(calls) - 1)

    def source(self, index: int) -> str:
        """The expression of a call, as it is written."""
        expression = self.log.spot(index).expression
        return "" if expression is None else ast.unparse(expression)

    # -- a saved value was overwritten -----------------------------------------------------------------

    def overwritten(self, index: int, kind: str, saved: str, expected: int, current: int) -> Story:
        """The story of a value that call `index` saved at version `expected`, and that is at `current` now."""
        seen, changes, is_result = self._saved_value(index, saved, expected, current)
        line = self.log.line(index)
        if seen is None:
            return Story((f"{kind} was made by {line}", UNSEEN), CHANGE_A_CLONE, saved=line)
        name = self.name(index, seen, is_result)
        called = f"`{name}`" if name else f"What `{self.log.calls[index].op}` {'gave' if is_result else 'was given'}"
        sentences = [f"{called} was saved by {line}: {kind} keeps it for backward, at version {expected}"]
        found = []
        for at, _ in changes:
            there = self.log.line(at)
            if there is not None and there not in found:
                found.append(there)
        sentences += [f"It was overwritten by {there}" for there in found[:MAX_OVERWRITES]]
        if len(found) > MAX_OVERWRITES:
            sentences.append(f"and by {len(found) - MAX_OVERWRITES} more rounds or lines.")
        first = changes[0][1] if changes else None
        value = first.value if first is not None and first.seen.id == seen.id else None  # of a view it is a part
        if value is not None:
            sentences.append(f"It was {value_text(value)} when it was saved")
        counted = sum(change.after - change.seen.version for _, change in changes)
        if counted < current - expected:
            sentences.append(UNSEEN)
        return Story(
            tuple(sentences), self._repair(index, changes, name), name, self._made(seen, index), line, tuple(found)
        )

    def _made(self, seen: Seen, index: int) -> Line | None:
        made = self.log.last_output(seen.id, index + 1)
        return None if made is None else self.log.line(made)

    def _saved_value(self, index: int, saved: str, expected: int, current: int) -> tuple:
        """(the tensor as the call met it, the changes since then, whether it is the call's result)."""
        call = self.log.calls[index]
        results, inputs = [(s, True) for s in call.outputs], [(s, False) for s in call.inputs]
        second = saved in ("other", "mat2", "weight", "exponent", "batch2", "tensor2", "target")
        if second or saved.endswith("[1]"):
            inputs = [*inputs[1:], *inputs[:1]]
        found = []
        for seen, is_result in [*results, *inputs] if saved == "result" else [*inputs, *results]:
            changes = self._changes(seen, index, expected) if seen.version == expected else []
            reached = changes[-1][1].after if changes else -1
            found.append((reached == current, bool(changes), (seen, changes, is_result)))
        found = [each for each in found if each[1]] or self._of_any_memory(index, expected, current)
        return max(found, key=lambda each: each[0])[2] if found else (None, [], False)

    def _of_any_memory(self, index: int, expected: int, current: int) -> list:
        """The memories that were raised from one version to the other since: a Function may save what it computes."""
        found = []
        for at in range(index + 1, len(self.log.calls)):
            for change in self.log.calls[at].changes:
                if change.seen.version == expected:
                    changes = self._changes(change.seen, index, expected)
                    found.append((changes[-1][1].after == current, True, (change.seen, changes, False)))
        return found[:1]

    def _changes(self, seen: Seen, index: int, version: int) -> list[tuple[int, Change]]:
        """The changes of a memory that raised its version from the given one on; what .data raises is another's."""
        found = []
        for at, change in self.log.changes_of(seen.memory, index):
            if change.seen.version == version:
                found.append((at, change))
                version = change.after
        return found

    def _repair(self, index: int, changes: list, name: str) -> str:
        """What to do about an overwrite: the same change out of place, if the line shows it."""
        if not changes:
            return CHANGE_A_CLONE
        at = changes[0][0]
        call, spot = self.log.calls[at], self.log.spot(at)
        statement = spot.statement
        text = "" if statement is None else ast.unparse(statement)
        made = self.log.source(changes[0][1].seen, at)
        is_result = made is not None and self.log.calls[made].last > self.log.calls[made].first
        if "step(" in text or not (call.recording or is_result):
            return STEP_AFTER_BACKWARD.format(f"`{name}`" if name else "it")
        base, taken = self._view(changes[0][1].seen, at, index)
        if base:
            return f"Write `{base} = {base}.clone()` before {taken}: then the view is one of the copy."
        # No other operation changes its first input than one with inplace=True, or a Function with mark_dirty.
        hidden = not is_in_place(call.op) and changes[0][1].seen.where == 0 and call.op != "apply"
        if "inplace" in text or (hidden and spot.calls(call.op)):
            return "Leave `inplace=True` out."
        if hidden:
            return f"Leave `inplace=True` out where the Module of `{call.op}` is made."
        instead = out_of_place(spot)
        if instead:
            return f"Write `{instead}` there: a new tensor, while the saved one stays as it was."
        part = getattr(statement, "target", spot.expression)  # of h[0] += 1, or of h[0] = 1
        if isinstance(part, ast.Subscript):
            whole = ast.unparse(part.value) if isinstance(part.value, ast.Name | ast.Attribute) else name
            return f"Write `{whole} = {whole}.clone()` before that line: then the copy is changed."
        return CHANGE_A_CLONE

    def _view(self, seen: Seen, at: int, saved: int) -> tuple[str, Line | None]:
        """What was changed through a view that was taken after the save: the name of its base, and the view's line."""
        made = self.log.source(seen, at)
        taken_later = made is not None and made > saved and seen.tracked  # of a detach() the copy is made there
        inputs = self.log.calls[made].inputs if made is not None and taken_later else ()
        base = next((each for each in inputs if each.memory == seen.memory and each.id != seen.id), None)
        if made is None or base is None or self.log.calls[made].place == self.log.calls[at].place:
            return "", None
        name = self.name(made, base)
        return name if name.replace(".", "").isidentifier() else "", self.log.line(made)

    # -- a second backward -----------------------------------------------------------------------------

    def freed(self, index: int, kind: str) -> Story:
        """The story of a node that call `index` made, and that a backward has freed."""
        calls, line = self.log.calls, self.log.line(index)
        last = len(calls) - 1 if calls[-1].op in WALKS and calls[-1].failed else None
        freeing = self.log.walks_that_freed(index)
        name = self.log.spot(index).target
        sentences = [f"{kind} was made by {line}"]
        if not freeing:
            return Story((*sentences, "The backward that freed it was not seen"), ADD_LOSSES, name, line)
        by = self.log.line(freeing[0])
        sentences.append(f"What it saved was freed by the backward of {by}")
        if last is not None:
            sentences.append(f"It is wanted once more by {self.log.line(last)}")
        carried = self._carried(freeing[0], last)
        repair, variable = self._repair_of_second(freeing[0], last, carried)
        if carried:
            reached = f" through `{variable}`, which is used" if variable else ""
            sentences.insert(1, f"The old graph is reached{reached} by {self.log.line(carried[0])}")
        return Story(tuple(sentences), repair, variable or name, line, line, (), by)

    def _carried(self, freeing: int, last: int | None) -> tuple[int, Seen] | None:
        """The first call after the freeing backward, on the way to the failing one, that uses a result of before it."""
        if last is None:
            return None
        calls, source = self.log.calls, self.log.source
        stack, found, visited = [(seen, last) for seen in calls[last].inputs], [], set()
        while stack:
            made = source(*stack.pop())
            if made is None or made <= freeing or made in visited or calls[made].last == calls[made].first:
                continue
            visited.add(made)
            for seen in calls[made].inputs:
                earlier = source(seen, made)
                if earlier is not None and earlier < freeing and calls[earlier].last > calls[earlier].first:
                    found.append((made, seen))
                stack.append((seen, made))
        return min(found, key=lambda each: each[0]) if found else None

    def _repair_of_second(self, freeing: int, last: int | None, carried) -> tuple[str, str]:
        """What to do about a second backward, and the variable through which it reaches the old graph."""
        calls, made = self.log.calls, self.log.source(carried[1], carried[0]) if carried else None
        in_loop = last is not None and calls[last].place == calls[freeing].place
        names, many = self._carried_names(carried[0], carried[1], freeing) if carried else ([], False)
        name = names[0] if names else ""
        again = made is not None and calls[made].place in [call.place for call in calls[freeing:last]]
        if in_loop and name and again:
            parts = "tuple(part.detach() for part in {0})" if many else "{0}.detach()"
            return CUT_OFF.format("; ".join(f"{each} = {parts.format(each)}" for each in names)), name
        if in_loop:
            return f"Compute {f'`{name}`' if name else 'it'} in the loop: {NEW_FORWARD}", name
        shared = (
            self._shared_with(freeing, carried[1]) if carried and name and self._is_updated(freeing, last) else None
        )
        if shared is not None:  # the losses of a generator and its critic are not to be added
            return DETACH_THERE.format(f"{name}.detach()", shared, name), name
        return ADD_LOSSES, name

    def _shared_with(self, freeing: int, seen: Seen) -> Line | None:
        """The line that used a tensor for the loss of an earlier backward."""
        made = self.log.source(seen, freeing)
        for index in range(0 if made is None else made + 1, freeing):
            used = seen.id in {each.id for each in self.log.calls[index].inputs}
            if used and self.log.calls[index].outputs and self.log.leads_to(freeing, index):
                return self.log.line(index)
        return None

    def _is_updated(self, after: int, before: int | None) -> bool:
        """Whether something was updated between two backwards, as an optimizer's step does."""
        between = self.log.calls[after:before]
        return any(not call.recording and call.changes and call.op not in WALKS for call in between)

    def _carried_names(self, at: int, seen: Seen, freeing: int) -> tuple[list[str], bool]:
        """What the program calls the state that call `at` was given, and whether one name stands for several tensors.

        Where several tensors go together, or the line calls a Module, it is what one line assigns and the next reads.
        """
        calls, name, earlier = self.log.calls, self.name(at, seen), self.log.source(seen, at)
        if earlier is None:
            return [name] if name else [], False
        together = {seen.id}  # what that line made, and this one is given
        for later in range(at, len(calls)):
            for each in calls[later].inputs if calls[later].place == calls[at].place else ():
                made = self.log.source(each, later) if each.tracked else None
                if made is not None and made < freeing and calls[made].place == calls[earlier].place:
                    together.add(each.id)
        several = len(together) > 1
        if name and not several:
            return [name], False
        shared = carried_between(calls[earlier].place, calls[at].place)
        names = shared or ([name] if name else [])
        return names, several and len(shared) == 1

    # -- no history --------------------------------------------------------------------------------------

    def untracked(self, id: int, name: str) -> Story:
        """The story of a tensor without history: where it was lost."""
        lost = self._loss(id)
        name = name or self.made_name(id)
        called = f"`{name}`" if name else "The tensor"
        if lost is None:
            made = self.made(id)
            line = None if made is None else self.log.line(made)
            source = f". It was made by {line}, of nothing that requires grad" if line else ""
            return Story((f"{called} has no history{source}",), REQUIRE_GRAD, name, line)
        index, reason, repair = lost
        line = self.log.line(index)
        return Story((f"{called} has no history. It was lost by {line}", reason), repair, name, line)

    def _loss(self, id: int) -> tuple[int, str, str] | None:
        """(index of the call that lost the history, why, repair), of what the tensor was computed from."""
        made, calls = self.made(id), self.log.calls
        if made is None and calls and calls[-1].failed:
            return self._number_behind(len(calls) - 1, calls[-1])
        return self._loss_behind(made, id)

    def _loss_behind(self, made: int | None, id: int) -> tuple[int, str, str] | None:
        """The same of the tensor that a call returned."""
        stack, visited = [(made, id)], set()
        while stack:
            made, wanted = stack.pop(0)
            if made is None or made in visited:
                continue
            visited.add(made)
            call = self.log.calls[made]
            lost = any(seen.id == wanted and not seen.tracked for seen in call.outputs)
            if lost and any(seen.tracked for seen in call.inputs) and call.op not in WALKS:
                return self._why_lost(made, call)
            if call.op in WALKS:
                return made, "A gradient has a history only with create_graph=True", "Write `create_graph=True` there."
            numbers = self._number_behind(made, call)
            if numbers is not None:
                return numbers
            stack.extend((self.log.source(seen, made), seen.id) for seen in call.inputs)
        return None

    def _why_lost(self, index: int, call: Call) -> tuple[int, str, str]:
        what = self.source(index) or call.op
        if call.op in ("requires_grad=", "requires_grad_"):
            return index, "There its requires_grad is set to False", "Leave it True for what is to be trained."
        if not call.recording:
            block = no_grad_line(self.log.spot(index))
            return index, f"Nothing is recorded there: it stands in {block}", "Compute it outside of that block."
        if call.op in ("detach", "detach_", "data"):
            return index, f"`{what}` has the value without the history", f"Leave `.{call.op}` out there."
        if call.op in ("tensor", "as_tensor", "from_numpy", "Tensor", "new_tensor"):
            return index, f"`{what}` copies numbers into a new tensor", KEEP_THE_TENSOR
        return (
            index,
            f"`{what}` gives integers or truth values, which have no derivative",
            ("Compute the loss from the floats, before they are turned into integers."),
        )

    def _number_behind(self, index: int, call: Call) -> tuple[int, str, str] | None:
        """A tensor made of plain numbers: the call before that took those out of a tensor with a history.

        What PyTorch does not tell of, as torch.Tensor([1.0]), is seen where it is used first.
        """
        if any(seen.tracked or self.log.source(seen, index) is not None for seen in call.inputs):
            return None
        spot = self.log.spot(index)
        used = names_in(spot.expression)
        for at in range(index - 1, -1, -1):
            other = self.log.calls[at]
            if other.op in LEAVES_TORCH and other.inputs:
                same_line = other.place[:1] == call.place[:1] and _line_number(self, at) == _line_number(self, index)
                within = (
                    spot.statement is not None and self.log.spot(at).statement is spot.statement
                )  # in a [... for ...]
                taken = other.inputs[0]
                if not (same_line or within or self._reaches(at, used)):
                    continue
                if taken.tracked or self._loss_behind(self.log.source(taken, at), taken.id):  # .detach().numpy()
                    what = f"`{self.source(at) or other.op}` gives plain numbers"
                    maker = "a new tensor is made" if call.inputs else f"{self.log.line(index)} makes a new tensor"
                    return at, f"{what}; {maker} of them", KEEP_THE_TENSOR
        return None

    def _reaches(self, index: int, used: set[str]) -> bool:
        """Whether the numbers that a call took out go by one of these names."""
        spot = self.log.spot(index)
        statement = spot.statement
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            return any(names_in(target) & used for target in targets)
        called = {getattr(getattr(node, "func", None), "value", None) for node in spot.around}
        return any(isinstance(node, ast.Name) and node.id in used for node in called)

    # -- any other refusal ---------------------------------------------------------------------------------

    def refused(self, tensor: Any, repair: str = "") -> Story:
        """The story of a tensor that was refused something: what it is called, and the line that made it."""
        calls, id, name = self.log.calls, _id(tensor), self.names.of(tensor)
        if calls and calls[-1].failed and calls[-1].inputs:
            seen = next((s for s in calls[-1].inputs if s.id == id), calls[-1].inputs[0])
            name, id = self.name(len(calls) - 1, seen) or name, seen.id
        name, base = name or self.made_name(id), getattr(tensor, "_base", None)
        made = self.made(id if base is None else _id(base))
        line, words = None if made is None else self.log.line(made), []
        if name:
            words.append(f"It is about `{name}`")
        if base is not None and self.base_name(base) not in ("", name):
            words.append(f"a view of `{self.base_name(base)}`")
        if line is not None:
            words.append(f"made by {line}")
        return Story((", ".join(words),) if words else (), repair, name, line)

    def base_name(self, base: Any) -> str:
        return self.names.of(base) or self.made_name(_id(base))


_id = id  # of a tensor, where a parameter has that name


def out_of_place(spot: Spot) -> str:
    """The statement of an in-place operation, written out of place; "" where the line does not show how."""
    statement = spot.statement
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name | ast.Attribute):
        value = ast.unparse(ast.BinOp(statement.target, statement.op, statement.value))
        return f"{ast.unparse(statement.target)} = {value}"
    call = spot.expression
    function = getattr(call, "func", None)
    if isinstance(call, ast.Call) and isinstance(function, ast.Attribute) and function.attr.endswith("_"):
        plain = ast.Attribute(function.value, function.attr[:-1], ast.Load())
        instead = ast.unparse(ast.Call(plain, call.args, call.keywords))
        if isinstance(statement, ast.Expr) and function.attr not in ("zero_", "fill_", "copy_"):
            return f"{ast.unparse(function.value)} = {instead}"
    return ""


def no_grad_line(spot: Spot) -> str:
    """The block, or the function, in which nothing is recorded."""
    for node in spot.inside((ast.With, ast.FunctionDef)):
        parts = node.items if isinstance(node, ast.With) else node.decorator_list
        for part in parts:
            text = ast.unparse(part)
            if "no_grad" in text or "inference_mode" in text or "set_grad_enabled" in text:
                block = isinstance(node, ast.With)
                return f"`with {text}:` of line {node.lineno}" if block else f"`@{text}` of {node.name}()"
    return "a no_grad block"


def carried_between(earlier: tuple, later: tuple) -> list[str]:
    """The variables that a line of one call assigns and a line of another one reads, in the innermost common function.

    A call has the places of all lines through which it was called.
    """
    later_at = {id(later[i]): i for i in range(0, len(later), 2)}
    for i in range(0, len(earlier), 2):
        if id(earlier[i]) in later_at:
            assigned, read = Spot(earlier[i:]).statement, Spot(later[later_at[id(earlier[i])] :]).statement
            used = {ast.unparse(node) for node in variables_in(read) if isinstance(node.ctx, ast.Load)}
            names = [ast.unparse(node) for node in variables_in(assigned) if isinstance(node.ctx, ast.Store)]
            shared = [name for name in names if name in used]
            if shared:
                return shared
    return []


def variables_in(tree: Any) -> list:
    """The variables and attributes in a statement, in their order."""
    return [] if tree is None else [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]


def names_in(tree: Any) -> set[str]:
    """The names in an expression."""
    return set() if tree is None else {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _line_number(teller: Teller, index: int) -> int:
    line = teller.log.line(index)
    return 0 if line is None else line.number


UNSEEN = "Not all that overwrote it was seen: it happened before the block, in another thread, in C++ or compiled code"
CHANGE_A_CLONE = "Change a clone() instead, or use the out-of-place operation."
STEP_AFTER_BACKWARD = (
    "Go backward before {0} is updated; or run the forward again after the update, so that it has the new value."
)
CUT_OFF = "Write `{0}` after each round, if no gradient is to flow through earlier rounds."
NEW_FORWARD = "each backward needs a forward of its own."
DETACH_THERE = (
    "Write `{}` in {}, if that loss is not to train what made `{}`; if it is, write `retain_graph=True` in the first "
    "backward."
)
ADD_LOSSES = "Add the losses and go backward once; or write `retain_graph=True` in the first backward."
REQUIRE_GRAD = "Make what you want a gradient for with `requires_grad=True`, before the forward."
KEEP_THE_TENSOR = "Keep the tensor itself in the computation: take numbers out for printing only."


# What to do about the other refusals, where the line shows which tensor it is.
REPAIRS = {
    "in place": "Change it inside `with no_grad():` if it is an update; write it out of place if it is computed with.",
    "view in place": "Change a clone() of it, or use the out-of-place operation.",
    "numpy of a tracked tensor": "Write `.detach().numpy()` if no gradient has to come back from there.",
    "backward of several": "Make one number of it first, with `.sum()` or `.mean()`.",
    "grad of an unused input": "Use it in the forward; or write `allow_unused=True`, and look for None.",
    "flag of a result": "Write `.detach()` for a tensor without history.",
    "flag of a result, set": "Only a leaf can be told so: set it where the leaf is made.",
    "deepcopy of a result": "Write `.detach().clone()`.",
    "item of several": "Reduce it first, with `.sum()` or `.mean()`, or take `.tolist()`.",
    "retain_grad of a constant": "Write `requires_grad=True` where it, or what it is made of, is made.",
    "hook on a constant": "Write `requires_grad=True` where it, or what it is made of, is made.",
    "flag of integers": "Write floats, `2.` for `2`, or convert with `.float()`.",
}
for _key in ("inference tensor saved", "in place, inference tensor", "flag of an inference tensor"):
    REPAIRS[_key] = "Make it under `no_grad()` instead of `inference_mode()`, or take a `.clone()` of it outside."
for _key in ("flag of integers, attribute", "flag of integers, method", "factory of integers"):
    REPAIRS[_key] = REPAIRS["flag of integers"]
