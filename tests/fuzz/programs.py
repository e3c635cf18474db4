"""Random programs: each line is chosen by looking at the tensors that the lines before it made on PyTorch.

`choose(n)` gives a number below n. Hypothesis gives it (and shrinks it: the simplest choice is always the first),
or a seeded generator of Python's own, which is quicker where thousands of differences are collected.
"""

import math
import re

from .known import known, unlike
from .run import Side, listening

LINES = 14
CHOICES = 128  # more than any one choice has possibilities
SHAPES = [(2, 3), (3,), (), (2, 2), (1, 3), (2, 1), (3, 2), (1,), (2,), (2, 2, 3), (0, 3), (0,)]
VALUES = [2.0, 3.0, 0.5, -1.25, 0.75, -0.4, 1.5, -2.0, 0.3, 1.1, -0.75, 2.5, 0.0, 1.0, 0.9, -0.6]
# What masks, quotients and ties of gradients go wrong at.
EDGES = [0.0, math.inf, 1.0, 1.0, -1.0, math.nan, 0.0, -math.inf, 2.0, 2.0, 0.0]
HUGE = [3.0, 1e30, 0.0, 1.0, -2.0, 1e-30, 0.5]  # what squares of float32 overflow and vanish at
FLOATS = ["torch.float64", "torch.float64", "torch.float64", "torch.float32", "torch.float32", "torch.float16"]
NAMES = "abcdefgh"

MODES = ["no_grad()", "enable_grad()", "set_grad_enabled(False)"]
INFERENCE = ["inference_mode()", "inference_mode(False)"]

# {x} and {y} are tensors; {n} a number, {d} a dimension, {i} an index.
UNARY = """
    {x}.exp() {x}.sin() {x}.cos() {x}.tanh() {x}.sigmoid() {x}.relu() {x}.abs() {x}.sign() {x}.clone() -{x} {x}**2
    {x}**{n} {n}**{x} {x}*{n} {x}+{n} {n}-{x} {x}/{n} {n}/{x} {x}-{n} {x}.square() {x}.reciprocal() {x}.atan()
    {x}.floor() {x}.round() {x}.clamp(-1,1) {x}.clamp(min={n}) {x}.clamp(max={n}) {x}%{n} {x}.sqrt() {x}.log()
    {x}.expm1() {x}.erf() {x}.sinh() {x}.log1p() {x}.rsqrt() {x}.ceil() {x}.trunc() {x}.masked_fill({x}>0,{n})
    {x}.double() {x}.float() {x}.long() {x}.bool() {x}.to(torch.float64) {x}.int() torch.ones_like({x}) {x}.isnan()
    torch.zeros_like({x}) ({x}>{n}) {x}.logical_not() {x}*True {x}.type_as({y}) torch.full_like({x},{n})
    torch.nn.functional.softplus({x}) torch.nn.functional.leaky_relu({x},0.1) {x}.tan() {x}.cosh() {x}.log2()
    {x}.asin() {x}.acos() {x}.log10() +{x} ~{x} {x}<={n} {x}.pow({n}) {x}.clip({n},2) {x}.new_zeros(2) {x}.neg()
    {x}.clamp({n},{x}.sum()) {x}.remainder({n})
    """.split()
BINARY = """
    {x}*{y} {x}+{y} {x}-{y} {x}/{y} torch.maximum({x},{y}) torch.minimum({x},{y}) {x}**{y}
    torch.where({x}>0,{x},{y}) {x}>{y} {x}=={y} {x}%{y} torch.lerp({x},{y},0.25) {x}.masked_fill({y}>0,{n})
    {x}.add({y}) {x}&{y} {x}|{y} torch.mul({x},{y}) torch.lerp({x},{x},{y}) {x}!={y} {x}.logical_and({y})
    {x}^{y} {x}<={y} {x}.logical_or({y}) {x}.logical_xor({y}) {x}//{y} torch.max({x},{y}) {x}.clamp({y}) {x}*{x}
    """.split()
SHAPELESS = """
    {x}@{y} torch.cat([{x},{y}]) torch.stack([{x},{y}]) torch.cat([{x},{y}],{d}) torch.stack([{x},{y}],{d})
    {x}.mm({y}) torch.nn.functional.mse_loss({x},{y}) {x}.dot({y}) {x}.mv({y}) torch.outer({x},{y}) {x}.bmm({y})
    torch.nn.functional.linear({x},{y}) torch.addmm({x},{y},{y}) {x}.view_as({y}) {x}.expand_as({y})
    torch.addmm({x},{y},{y},beta={n},alpha=2) {x}.reshape_as({y}) torch.nn.functional.linear({x},{y},{x})
    torch.nn.functional.conv2d({x}[None,None],{y}[None,None]) torch.nn.functional.conv2d({x}[None],{y}[None],padding=1)
    torch.nn.functional.conv_transpose2d({x}[None,None],{y}[None,None])
    torch.nn.functional.conv_transpose2d({x}[None,None],{y}[None,None],stride=2,padding=1)
    """.split()
REDUCE = """
    {x}.sum() {x}.mean() {x}.sum({d}) {x}.mean({d}) {x}.sum({d},keepdim=True) {x}.max() {x}.min() {x}.prod()
    {x}.norm() {x}.max({d})[0] {x}.max({d})[1] {x}.min({d}).values {x}.var() {x}.std({d}) {x}.logsumexp({d})
    {x}.softmax({d}) {x}.log_softmax({d}) {x}.cumsum({d}) {x}.cumprod({d}) {x}.prod({d}) {x}.norm(dim={d})
    {x}.norm(1) {x}.norm(1,{d}) {x}.argmax() {x}.argmax({d}) {x}.argmin() {x}.any() {x}.all({d}) {x}.sort({d})[0]
    {x}.sort({d})[1] {x}.median() {x}.median({d})[0] {x}.argsort({d}) {x}.mean({d},True) {x}.var({d}) {x}.std()
    {x}.trace() {x}.sum((0,{d})) {x}.amax({d}) {x}.amin() {x}.amax() {x}.std(0,correction=2)
    {x}.sum(dtype=torch.float64) {x}.mean({d},dtype=torch.float32) {x}.norm(inf) {x}.norm(0) {x}.norm(3,{d})
    {x}.any({d}) {x}.all() {x}.var({d},correction=2) {x}.var((0,{d}),keepdim=True) {x}.min({d})[1] {x}.prod({d},True)
    {x}.logsumexp((0,{d})) {x}.norm(2,(0,{d})) {x}.amin((0,{d})) {x}.softmax({d},dtype=torch.float64) {x}.argmin({d})
    """.split()
VIEWS = """
    {x}[{i}] {x}[:1] {x}[...,:2] {x}.view(-1) {x}.t() {x}.T {x}.unsqueeze({d}) {x}.detach() {x}.view({s})
    {x}.reshape({s}) {x}.squeeze() {x}.squeeze({d}) {x}.transpose(0,{d}) {x}[None] {x}[...] {x}.select({d},{i})
    {x}[1:] {x}[:,{i}] {x}[::2] {x}.expand({s}) {x}.narrow({d},0,1) {x}.diagonal() {x}.unbind({d})[0]
    {x}.split(1,{d})[0] {x}.chunk(2,{d})[-1] {x}.flatten() {x}.movedim(0,{d}) {x}.mT {x}.unfold({d},1,1)
    {x}.permute(1,0) {x}.flatten(0,1) {x}[{i},{i}] {x}[{i},:1] {x}.unsqueeze(0).expand(2,-1,-1) {x}[:0]
    {x}.view({x}.shape) {x}.reshape({x}.shape) {x}.swapaxes(0,{d}) {x}.expand({x}.shape) {x}.double() {x}[:2][{i}]
    {x}.view(-1)[1:] {x}.t()[{i}] {x}.t() {x}.transpose(0,{d}) {x}.split([1,1],{d})[0] {x}.split([1,2],{d})[-1]
    torch.broadcast_to({x},[{s}]) {x}.diagonal(1) {x}.squeeze((0,{d})) {x}[None,...,0] {x}[{i}:] {x}.unbind()[-1]
    """.split()
# Copies with other names, and what is seldom called.
RARE = """
    copy.deepcopy({x}) copy.copy({x}) pickle.loads(pickle.dumps({x})) torch.rsub({x},{y}) {x}.add({y},alpha={n})
    {x}.sub({n},alpha=2) {x}.div({y},rounding_mode=None) {x}.div({y},rounding_mode="floor") {x}//{n} {n}%{x}
    {x}.var(()) {x}.isfinite() {x}.isinf() {x}.isclose({y}) {x}.clamp(max={y}) {x}.clamp({y},{x})
    torch.addmm({x},{y},{y},beta=0)
    torch.nn.functional.linear({x},{y},{y}[0]) torch.einsum("...i,...i->...",{x},{y}) torch.einsum("ij,kj->ki",{x},{y})
    torch.einsum("ii->i",{x}) torch.einsum("jij,...i->i...j",{x},{y}) torch.einsum("ji,jj,i",{x},{y},{x}[0])
    torch.empty_like({x}).zero_()
    torch.nn.functional.cross_entropy({x},{y}) torch.nn.functional.cross_entropy({x},{y}.softmax(0))
    torch.nn.functional.cross_entropy({x},torch.tensor([1,0]),label_smoothing=0.1) {x}.half() {x}.to(torch.uint8)
    torch.as_tensor({x}.detach().numpy()) torch.from_numpy({x}.detach().numpy().copy()) {x}.contiguous()
    {x}.masked_fill({x}==0,{y}.sum()) {x}.reshape(-2) {x}.logical_and({n}) {x}*None torch.maximum({x},{n})
    torch.nn.functional.nll_loss({x},torch.tensor([1,0]),ignore_index=0)
    torch.nn.functional.nll_loss({x},torch.tensor([1,0]),reduction="none",ignore_index=1)
    torch.nn.functional.cross_entropy({x},torch.tensor(0),ignore_index=0)
    torch.nn.functional.cross_entropy({x},torch.tensor([0,1]),{y}[0],reduction="sum")
    torch.nn.functional.mse_loss({x},{y},reduction="none") torch.nn.functional.mse_loss({x},{y},reduction="sum")
    torch.from_numpy(pickle.loads(pickle.dumps({x}.detach().numpy()))) torch.tensor({x}.tolist()) torch.arange({n})
    torch.no_grad()(lambda:{x}*2)() torch.enable_grad()(lambda:{x}*{y})() torch.inference_mode()(lambda:{x}+{y})()
    torch.mul({x},{y},out=torch.empty(0)) torch.sum({x},{d},out=torch.empty(0)) torch.tensor({n}) {x}.to({y})
    {x}.div({n},rounding_mode="trunc")
    None+{x} {x}@None torch.max({x},{n}) torch.min({x},{n}) torch.linspace(0,{n},3) {x}.rsub({y}) {x}-None {x}.rsub({n})
    """.split()
COPIES = """
    {x}[[0,0]] {x}[{x}>0] {x}[[{i}]] {x}.repeat(2,1) {x}.flip({d}) {x}.roll(1) {x}.roll(1,{d}) {x}.tril() {x}.triu()
    {x}.diag() {x}.index_select({d},torch.tensor([0])) {x}.gather({d},torch.zeros_like({x}).long())
    {x}.scatter_add({d},torch.zeros_like({x}).long(),{x}) {x}[torch.tensor([0,1])] {x}[:,[0]] {x}[torch.tensor(0)]
    {x}[...,[0]] {x}[[0],[0]] {x}[{x}>9] {x}[None,[0]] {x}.gather({d},{x}.argsort({d})) {x}.diag(1) {x}[[True]] {x}[[]]
    {x}.index_select({d},torch.tensor([0,0])) {x}.roll((1,1),(0,{d})) {x}.flip((0,{d})) {x}.tril(-1) {x}.repeat(2)
    """.split()
FUNCTIONS = """
    Cube.apply({x}) Exp.apply({x}) SumAndDifference.apply({x},{y})[0] SumAndDifference.apply({x},{y})[1] Same.apply({x})
    Part.apply({x}) Steps.apply({x})[0] Steps.apply({x})[1] Once.apply({x}) Wrong.apply({x}) Tripled.apply({x})
    Product.apply({x},{x}) Product.apply({x},{y}) Cut.apply({x}) Masked.apply({x})[0] Failing.apply({x})
    Returned.apply({x}) Misfit.apply({x},{x}) Masked.apply({x})[1] threaded(lambda:{x}*{y})
    SumAndDifference.apply({x},{x})[1] Kept.apply({x}) Viewed.apply({x})[0] Viewed.apply({x})[1]
    Viewed.apply({x}.exp())[0] Mixed.apply({x},{n})[0] Mixed.apply({x},None)[0] Mixed.apply({x},[{y}])[1]
    Slope.apply({x})
    threaded(lambda:torch.autograd.grad({x}.sum(),{y})[0]) Middle.apply({x}) Inner.apply({x}) Handed.apply({x},{y})[0]
    """.split()
IN_PLACE = """
    {x}.add_({n}) {x}.mul_({n}) {x}.add_({y}) {x}.mul_({y}) {x}.sub_({y}) {x}.div_({n}) {x}.div_({y}) {x}.zero_()
    {x}.fill_({n}) {x}.copy_({y}) {x}.exp_() {x}.sin_() {x}.sigmoid_() {x}.relu_() {x}+={n} {x}*={y} {x}-={n}
    {x}/={n} {x}[{i}]={n} {x}[:1]={n} {x}[{i}]={y} {x}[...]={y} {x}[:,{i}]={n} {x}[{x}>0]={n} {x}[[0]]={n}
    {x}[{i}].add_({n}) {x}.view(-1).mul_({n}) {x}.t().add_({y}) {x}.detach().add_({n}) {x}.data.mul_({n})
    {x}[{i}]+={n} {x}[:1]*={y} {x}.unbind({d})[0].add_({n}) {x}.detach_() {x}[:]={y} {x}[{x}>0]={y} {x}.sub_({n})
    {x}[...,0]={n} {x}.fill_({y}) {x}[{i},{i}]={n} {x}[None]={y} {x}[[0,1]]={y} {x}.expand({s}).add_({n})
    {x}.diagonal().fill_({n}) {x}.tanh_() {x}.neg_() {x}.abs_() {x}.sqrt_() {x}.clamp_(0,1) {x}.pow_({n}) {x}.square_()
    {x}.masked_fill_({x}>0,{n}) {x}.add_({y},alpha={n}) {x}.t_() {x}.unsqueeze_({d}) {x}.squeeze_() {x}//={n} {x}%={n}
    {x}**={n} {x}.transpose_(0,{d}) {x}&={y} {x}[{i}:]={y} {x}[{x}==0]={y}.sum()
    torch.relu_({x}) {x}.copy_({x}) {x}[:]={x}
    """.split()
DATA = ["{x}.data", "{x}.data={y}", "{x}.data={y}.data", "{x}.data=torch.ones({s})"]
FLAGS = """
    {x}.requires_grad_() {x}.requires_grad_(False) {x}.requires_grad=True {x}.requires_grad=False {x}.retain_grad()
    {x}.grad=None {x}.grad.zero_() {x}.grad={y} {x}.grad.add_({n}) {x}.grad=torch.ones_like({x})
    {x}.grad=torch.ones(2)
    """.split()
HOOKS = """
    {x}.register_hook(seen) {x}.register_hook(doubled) {x}.register_post_accumulate_grad_hook(full)
    {x}.register_post_accumulate_grad_hook(emptied) {x}.register_hook(failing) {x}.grad_fn.register_hook(node_seen)
    {x}.grad_fn.register_prehook(node_seen) handle={x}.register_hook(seen) handle.remove()
    torch.autograd.graph.register_multi_grad_hook([{x},{y}],several) {x}.register_hook(turned)
    torch.autograd.graph.register_multi_grad_hook([{x},{y}],seen,mode="any") {x}.grad_fn.register_hook(node_seen)
    torch.autograd.graph.register_multi_grad_hook([{x},{x}],several) {x}.register_hook(edgy) {x}.register_hook(kept)
    torch.autograd.graph.register_multi_grad_hook([{x},{y},{z}],several) {x}.register_hook(backward_again)
    {x}.register_post_accumulate_grad_hook(failing) {x}.grad_fn.register_prehook(node_doubled)
    {x}.grad_fn.register_hook(node_doubled) {x}.grad_fn.register_hook(failing_node) handle.__exit__(None,None,None)
    torch.autograd.graph.register_multi_grad_hook(({x},{y}),failing)
    {x}.grad_fn.next_functions[0][0].register_hook(node_seen)
    """.split()
# Around a line: what its operations save is counted, and a grad mode may be left by an exception.
AROUND = [f"with torch.autograd.graph.{each}: " for each in (
    "saved_tensors_hooks(packed, unpacked)", "saved_tensors_hooks(packed, unpacked)", "save_on_cpu()",
    "saved_tensors_hooks(packed, failing)", "saved_tensors_hooks(failing, unpacked)",
    "saved_tensors_hooks(id, unpacked)",
    "disable_saved_tensors_hooks('off')", "saved_tensors_hooks(lambda t: t.numpy(), torch.from_numpy)",
)] + ["with torch.autograd.detect_anomaly(): ", "with torch.autograd.set_detect_anomaly(True): "]  # fmt: skip
# What is looked at beside the state.
PROBES = """
    repr({x}) str({x}) saved({x}.grad_fn) {x}.item() bool({x}) float({x}) int({x}) len({x}) [r.tolist()for(r)in{x}]
    {x}.is_contiguous() {x}.size({d}) {x}.numel() f"{{{x}:.2f}}" {x}.numpy().dtype.name {x}.detach().numpy().tolist()
    {x}.grad_fn.name() sorted({x}.grad_fn.metadata) [{n}]in{x} {n}in{x} list({x}.size()) {x}.allclose({y})
    torch.is_tensor({x}) torch.autograd.graph.get_gradient_edge({x})[1] {x}.is_floating_point() {x}.grad
    repr({x}.dtype) torch.equal({x},{y}) {x}.type() saved({x}.grad_fn) {x}.__array__().shape
    {x}.grad_fn.next_functions[0][0](torch.ones_like({x})) [(id(r)>0)for(r)in{x}] type({x}).__name__
    """.split()
FUNCTIONALS = """
    jacobian(torch.sin,{x}) jacobian(lambda(t):t*{y},{x}) vjp(torch.exp,{x},torch.ones_like({x}))[1] hessian(cubes,{x})
    jvp(torch.sigmoid,{x},torch.ones_like({x}))[1] hvp(cubes,{x},torch.ones_like({x}))[1] vhp(cubes,{x},{y})[1]
    jacobian(torch.mul,({x},{y}))[1] jacobian(torch.sin,{x},create_graph=True) jacobian(lambda(t):{y},{x},strict=True)
    hessian(cubes,{x},vectorize=True) vjp(torch.exp,{x},{y},create_graph=True)[1] hessian(torch.sin,{x})
    jacobian(torch.mul,({x},{y}),vectorize=True)[0] jacobian(torch.sum,{x},strategy="forward-mode",vectorize=True)
    """.split()
ROOTS = ["{x}.sum()", "{x}", "{x}.mean()", "({x}*{x}).sum()", "({x}*{x})", "({x}*{y}).sum()"]
STARTS = ["torch.ones_like({x})", "torch.full_like({x}, inf)", "torch.full_like({x}, 2.0)", "edges({x})", "edges({x})",
          "{y}", "torch.zeros_like({x})", "torch.full_like({x}, nan)", "torch.ones(3)", "None",
          "torch.ones(())"]  # fmt: skip
OPTIONS = ["", "", "", "retain_graph=True", "create_graph=True", "inputs=[{y}]", "inputs=[{y},{z}]", "inputs={y}",
           "retain_graph=True,inputs=[{y}]", "inputs=[]", "retain_graph=False,create_graph=True"]  # fmt: skip
GRAD_OPTIONS = ["", "", "create_graph=True", "allow_unused=True", "retain_graph=True", "materialize_grads=True",
                "create_graph=True,allow_unused=True", "create_graph=True,materialize_grads=True"]  # fmt: skip
NUMBERS = ["2", "0.5", "3", "-1", "1.5", "0", "-0.25", "True", "1"]


class Writer:
    """Writes a program line by line, while it runs on PyTorch."""

    def __init__(self, torch, choose):
        self.torch, self.side, self.choose, self.lines = torch, Side(torch), choose, []
        self.seen = []  # after each line, its error and what can be seen; None if a line that was left out ran, too

    def pick(self, options):
        """One of several; the first is the simplest."""
        return options[self.choose(len(options))]

    def program(self) -> list[str]:
        """A whole program."""
        with listening(self.torch):
            for _ in range(2 + self.choose(2)):
                self.add(self.creation(self.fresh()))
            while len(self.lines) < LINES and self.choose(16):
                self.add(self.line())
        return self.lines

    def add(self, line: str) -> None:
        if unlike(line, self.side):
            return
        logged = len(self.side.names["log"])
        error = self.side.step(line)
        by_rows = re.search("is_grads_batched|vectorize", line) and len(self.side.names["log"]) > logged
        if by_rows or known(line, error):  # hooks see all rows at once, or one after the other
            self.seen = None
            self.side.seen()  # or PyTorch crashes, where a view was changed through another and has not been looked at
            return
        seen = self.side.seen()
        self.lines.append(line)
        if self.seen is not None:
            self.seen.append((error, seen))

    def fresh(self) -> str:
        """The name that the next result gets: a new one, or, when there are many, an old one."""
        used = self.side.tensors()
        free = [name for name in NAMES if name not in used]
        return free[0] if free else self.pick(NAMES)

    def existing(self) -> str:
        """The name of a tensor, more often of a late one."""
        names = list(self.side.tensors())
        if not names:
            return "a"
        return names[-1 - min(self.choose(len(names)), self.choose(len(names)))]

    def partner(self, name: str) -> str:
        """The name of a tensor whose shape goes with another's, if there is one (mostly)."""
        tensors = self.side.tensors()
        if name not in tensors or not self.choose(12):
            return self.existing()
        shape = tensors[name].shape
        fitting = [n for n, t in tensors.items() if fits(t.shape, shape)]
        return self.pick(fitting)

    def creation(self, name: str) -> str:
        kind = self.choose(10)
        flag = ", requires_grad=True" if self.choose(3) < 2 else ""
        shape = self.pick(SHAPES)
        if kind == 9 and self.choose(4) == 2:
            return f"{name} = torch.tensor({self.nested(shape, HUGE)}, dtype={self.pick(FLOATS[3:5])}{flag})"
        if kind == 8:
            return f"{name} = torch.{self.pick(['ones', 'zeros'])}({shape}{flag})"
        if kind == 9 and not self.choose(4):
            return f"{name} = torch.tensor({self.nested(shape, [1, 2, 0, 3, 255])}, dtype=torch.uint8)"
        if kind == 9:
            return f"{name} = torch.tensor({self.nested(shape, [1, 2, 0, -3, True])})"
        if kind == 7:
            values = self.from_start(shape, EDGES, self.choose(len(EDGES)))
            return f"{name} = torch.tensor({values}, dtype={self.pick(FLOATS)}{flag})"
        return f"{name} = torch.tensor({self.nested(shape, VALUES)}, dtype={self.pick(FLOATS)}{flag})"

    def nested(self, shape: tuple, values: list):
        if not shape:
            return self.pick(values)
        if len(set(values)) < 6 or shape[0] == 0:
            return [self.nested(shape[1:], values) for _ in range(shape[0])]
        return self.from_start(shape, values, self.choose(len(values)))

    def from_start(self, shape: tuple, values: list, start: int):
        """Values from a place in the list on, so that one choice makes a whole tensor."""
        if not shape:
            return values[start % len(values)]
        size = 1
        for length in shape[1:]:
            size *= length
        return [self.from_start(shape[1:], values, start + i * size) for i in range(shape[0])]

    def line(self) -> str:
        """A line of a kind, in a mode."""
        kinds = [self.result] * 16 + [self.in_place] * 5 + [self.backward] * 3 + [self.grad] * 2 + [self.change] * 3
        kinds += [self.forward_mode, self.probe, self.functional]
        line = self.pick(kinds)()
        mode = self.choose(28)
        if line.startswith("with") or mode < 20:
            return line
        line += "; failing(0)" * (self.choose(8) == 7)  # the end of a block is reached by an exception
        if mode < 24:
            return self.pick(AROUND) + line
        return f"with torch.{self.pick(INFERENCE) if mode == 24 else self.pick(MODES)}: {line}"

    def filled(self, template: str) -> str:
        """The template with names and numbers in its gaps."""
        x = self.existing()
        gaps = {"x": x}
        tensor = self.side.names.get(x)
        ndim = getattr(tensor, "ndim", 1)
        if "{y}" in template:
            gaps["y"] = self.partner(x)
        if "{z}" in template:
            gaps["z"] = self.existing()
        if "{n}" in template:
            gaps["n"] = self.pick(NUMBERS)
        if "{d}" in template:
            gaps["d"] = self.choose(ndim) if ndim and self.choose(10) else self.pick([0, -1, 1, 2])
        if "{i}" in template:
            gaps["i"] = self.pick(["0", "1", "-1", "0", "1"])
        if "{s}" in template:
            gaps["s"] = self.shape_for(tensor)
        return template.format(**gaps)

    def shape_for(self, tensor) -> str:
        size = 1 if tensor is None else tensor.numel()
        shapes = [s for s in [(2, 3), (3, 2), (6,), (1, 3), (3,), (3, 1), (2, 1), (1,), (2, 2), (4,), (1, 6), (2,)]]
        fitting = [s for s in shapes if s and _size(s) == size] or [(2, 3)]
        return str(self.pick(fitting if self.choose(4) else shapes)).strip("()").rstrip(",")

    def result(self) -> str:
        tables = [UNARY, BINARY, BINARY, REDUCE, VIEWS, VIEWS, UNARY, FUNCTIONS, SHAPELESS, COPIES, DATA[:1], RARE]
        return f"{self.fresh()} = {self.filled(self.pick(self.pick(tables)))}"

    def probe(self) -> str:
        """What is not part of the state is looked at."""
        return f"look(lambda: {self.filled(self.pick(PROBES))})"

    def functional(self) -> str:
        """A derivative by functions."""
        call = self.filled(self.pick(FUNCTIONALS)).replace("lambda(t)", "lambda t")
        return f"{self.fresh()} = torch.autograd.functional.{call}"

    def forward_mode(self) -> str:
        """The tangent of one or two operations, computed along with them."""
        name, x = self.fresh(), self.existing()
        table = self.pick(
            [UNARY, REDUCE, UNARY, BINARY, SHAPELESS, VIEWS, COPIES, ["{x}.norm({n})", "Slope.apply({x})"]]
        )
        operation = re.sub(r"(?<![\w.])X(?!\w)", "dual", self.filled(self.pick(table).replace("{x}", "X")))
        if x not in self.side.names or not self.side.names[x].is_floating_point():
            return self.result()
        start = f"dual = forward_ad.make_dual({x}, torch.full_like({x}, {self.pick(['1', '-0.5', '2'])}))"
        return f"with forward_ad.dual_level(): {start}; {name} = forward_ad.unpack_dual({operation}).tangent; del dual"

    def in_place(self) -> str:
        return self.filled(self.pick(IN_PLACE))

    def change(self) -> str:
        kind = self.choose(10)
        if kind == 9:
            return f"del {self.existing()}"
        if kind == 8:
            return self.filled(self.pick(DATA[1:]))
        if kind == 7:
            return f"{self.fresh()} = {self.existing()}.grad"
        return self.filled(self.pick(HOOKS if kind in (2, 3, 4) else FLAGS))

    def backward(self) -> str:
        kind, options = self.choose(8), self.filled(self.pick(OPTIONS))
        if kind == 7:
            x, y = self.existing(), self.existing()
            starts = f"[{self.start(x)}, {self.start(y)}]"
            return f"torch.autograd.backward([{x}, {y}], {starts}, {options})"
        if kind in (5, 6):
            x = self.existing()
            return f"{x}.backward({', '.join(filter(None, [self.start(x), options]))})"
        line = f"{self.filled(self.pick(ROOTS))}.backward({options})"
        return f"threaded(lambda: {line})" if kind == 4 and not self.choose(3) else line

    def start(self, x: str) -> str:
        """A gradient to start with from a tensor."""
        return self.pick(STARTS).format(x=x, y=self.existing())

    def grad(self) -> str:
        options = self.pick(GRAD_OPTIONS)
        root, name, x = self.filled(self.pick(ROOTS)), self.fresh(), self.existing()
        if self.choose(4) == 3:
            y = self.existing()
            return f"{name} = torch.autograd.grad({root}, [{x}, {y}], {options})[1]"
        if self.choose(4) == 3:
            root = self.existing()
            edge = f"torch.autograd.graph.get_gradient_edge({x})" if self.choose(4) == 3 else x
            return f"{name} = torch.autograd.grad({root}, {edge}, {self.start(root)}, {options})[0]"
        if self.choose(6) == 5:
            root, y = self.existing(), self.existing()
            rows = f"torch.stack([torch.ones_like({root}), {self.start(root)}])"
            return f"{name} = torch.autograd.grad({root}, [{x}, {y}], {rows}, is_grads_batched=True, {options})[0]"
        return f"{name} = torch.autograd.grad({root}, {x}, {options})[0]"


def fits(shape, other) -> bool:
    """Whether two shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(shape), reversed(other)))  # noqa: B905


def _size(shape) -> int:
    size = 1
    for length in shape:
        size *= length
    return size
