"""minigrad: PyTorch's autograd, small enough to read.

Names, rules and error sentences are PyTorch's; write ``import minigrad as mg`` where you would write
``import torch``. README.md has the reading order: small_engine.py, then the files from tensor.py to autograd/engine.py.
"""

import sys

from . import autograd, nn, utils
from .autograd import anomaly_mode, forward_ad, function, functional, grad_mode, graph, hooks, saved_tensors
from .autograd.backward import backward as _backward
from .autograd.backward import tensor_backward as _tensor_backward
from .autograd.grad import grad as _grad
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .autograd.gradcheck import GradcheckError as _GradcheckError
from .autograd.gradcheck import gradcheck as _gradcheck
from .autograd.gradcheck import gradgradcheck as _gradgradcheck
from .dtypes import (
    bool,
    double,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    long,
    set_default_dtype,
    short,
    uint8,
)
from .factories import (
    arange,
    empty,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from .messages import is_warn_always_enabled, set_warn_always
from .numpy_warnings import silence_numpy as _silence_numpy
from .ops import (
    abs,
    acos,
    add,
    addmm,
    all,
    any,
    argmax,
    argmin,
    argsort,
    asin,
    atan,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    bmm,
    cat,
    ceil,
    chunk,
    clamp,
    clone,
    cos,
    cosh,
    cumprod,
    cumsum,
    diag,
    diagonal,
    div,
    dot,
    einsum,
    eq,
    erf,
    exp,
    expm1,
    flatten,
    flip,
    floor,
    floor_divide,
    gather,
    ge,
    gt,
    index_select,
    isnan,
    le,
    lerp,
    log,
    log1p,
    log2,
    log10,
    log_softmax,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    logsumexp,
    lt,
    masked_fill,
    matmul,
    max,
    maximum,
    mean,
    median,
    min,
    minimum,
    mm,
    movedim,
    mul,
    mv,
    narrow,
    ne,
    neg,
    norm,
    outer,
    permute,
    pow,
    prod,
    reciprocal,
    relu,
    remainder,
    reshape,
    roll,
    round,
    rsqrt,
    rsub,
    scatter_add,
    sigmoid,
    sign,
    sin,
    sinh,
    softmax,
    sort,
    split,
    sqrt,
    square,
    squeeze,
    stack,
    std,
    sub,
    sum,
    t,
    tan,
    tanh,
    trace,
    transpose,
    tril,
    triu,
    trunc,
    unbind,
    unsqueeze,
    var,
    where,
)
from .ops.index import pick as select
from .ops.inplace import with_out
from .ops.methods import allclose, amax, amin, broadcast_to, empty_like, equal, isclose, isfinite, isinf
from .printing import tensor_repr as _tensor_repr
from .random import get_rng_state, manual_seed, rand, rand_like, randn, randn_like, set_rng_state
from .size import Size
from .tensor import Tensor, is_inference, is_tensor
from .tensor_new import as_tensor, from_numpy, tensor

__version__ = "0.1.0"

_silence_numpy()

# PyTorch's other names, which are Python's own: so they are not to be imported.
float, int = float32, int32

# What can write into a tensor that is there, and whose first argument has PyTorch's name.
abs, add, cos, div, exp, log, matmul, mm, mul, neg, pow, sigmoid, sin, sqrt, sub, sum, tanh = map(
    with_out, (abs, add, cos, div, exp, log, matmul, mm, mul, neg, pow, sigmoid, sin, sqrt, sub, sum, tanh)
)
addmm, ceil, diag, floor, lerp, max, maximum, mean, min, minimum, outer, prod, round, sign, std, var = map(
    with_out, (addmm, ceil, diag, floor, lerp, max, maximum, mean, min, minimum, outer, prod, round, sign, std, var)
)

# The other names of these, and those that are methods first.
absolute, clip, multiply, negative, subtract = abs, clamp, mul, neg, sub
divide = true_divide = div
concat = concatenate = cat
swapaxes, swapdims, moveaxis = transpose, transpose, movedim
detach, detach_, numel, is_floating_point = Tensor.detach, Tensor.detach_, Tensor.numel, Tensor.is_floating_point
for _name in (
    "abs",
    "clamp",
    "cos",
    "exp",
    "fill",
    "log",
    "neg",
    "relu",
    "round",
    "sigmoid",
    "sin",
    "sqrt",
    "tanh",
    "zero",
):
    globals()[f"{_name}_"] = getattr(Tensor, f"{_name}_")

Tensor.backward = _tensor_backward
Tensor.register_hook, Tensor.retain_grad = hooks.register_hook, hooks.retain_grad
Tensor.register_post_accumulate_grad_hook = hooks.register_post_accumulate_grad_hook
Tensor.__repr__ = _tensor_repr

# The public face of minigrad.autograd; see autograd/__init__.py for why it is put on here.
# Its stub has the names as they are afterwards.
autograd.backward, autograd.grad = _backward, _grad
autograd.Function = function.Function
autograd.Variable = Tensor  # PyTorch's name for it until 0.4, and torchviz's still
autograd.gradcheck, autograd.gradgradcheck = _gradcheck, _gradgradcheck
autograd.SavedTensor = saved_tensors.SavedTensor
autograd.set_detect_anomaly = anomaly_mode.set_detect_anomaly
autograd.detect_anomaly = anomaly_mode.detect_anomaly
is_anomaly_enabled = anomaly_mode.is_anomaly_enabled
is_anomaly_check_nan_enabled = anomaly_mode.is_anomaly_check_nan_enabled
autograd.GradcheckError = _GradcheckError
autograd.no_grad, autograd.enable_grad = no_grad, enable_grad
autograd.set_grad_enabled, autograd.inference_mode = set_grad_enabled, inference_mode

# Pictures need Graphviz's packages, which take longer to import than all the rest: they are imported on first use.
_PICTURES = ("draw", "make_dot", "viz")


def __getattr__(name: str):
    if name not in _PICTURES:
        raise AttributeError(f"module 'minigrad' has no attribute '{name}'")
    from importlib import import_module

    viz = import_module("minigrad.viz")
    return viz if name == "viz" else getattr(viz, name)


def load_ipython_extension(shell) -> None:
    """Make the magics %%expect, %%explain and %%versus known: what ``%load_ext minigrad`` calls."""
    from importlib import import_module

    for module in ("notebook", "predictions", "versus"):
        import_module(f"minigrad.jupyter.{module}").register()


if "IPython" in sys.modules:
    load_ipython_extension(None)
