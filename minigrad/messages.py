"""What minigrad says when it refuses: PyTorch's sentence first, then what to do about it.

The sentence is the exception's text, word for word, so that a search engine finds the answers people
already wrote. The advice is a note on the exception (PEP 678): Python and Jupyter print it below.
"""

import warnings
from typing import Any

import numpy as np

_warned: set = set()
_warn_always = False


def set_warn_always(b: bool) -> None:
    """Whether a warning that is given once per process is given each time. PyTorch: ``torch.set_warn_always``."""
    global _warn_always
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _warn_always = b


def is_warn_always_enabled() -> bool:
    """Whether ``set_warn_always(True)`` holds.

    >>> is_warn_always_enabled()
    False
    """
    return _warn_always


def warn_once(sentence: str, category: type[Warning] = UserWarning, stacklevel: int = 2) -> None:
    """Warn once in this process, or each time after ``set_warn_always(True)``."""
    if _warn_always or sentence not in _warned:
        _warned.add(sentence)
        warnings.warn(sentence, category, stacklevel=stacklevel + 1)


def type_name(value) -> str:
    """The type's name in PyTorch's sentences: ``int``, ``numpy.ndarray``."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def refuse(kind: type[Exception], sentence: str, advice: str) -> Exception:
    """Build the exception for a misuse; the caller raises it.

    >>> error = refuse(RuntimeError, "no", "try yes")
    >>> str(error), error.__notes__
    ('no', ['minigrad: try yes'])
    """
    error = kind(sentence)
    error.add_note("minigrad: " + advice)
    return error


class CheckpointError(RuntimeError):
    """What a checkpoint computed again does not fit what was computed first."""


class About(tuple):
    """What a refusal is about. Copies of an exception, as other processes get them, leave it behind."""

    def __reduce__(self):
        return About, ()


def refusal(key: str, *values, about=()) -> Exception:
    """The exception for an entry of REFUSALS, with its gaps filled in; the caller raises it.

    `about` is the tensor or node that is refused, or a tuple of it and of tensors to show it with: `viz.explain`
    draws them. It becomes the exception's attribute of that name.

    >>> print(refusal("item of several", 3))
    a Tensor with 3 elements cannot be converted to Scalar
    """
    kind, sentence, advice = REFUSALS[key]
    error: Any = refuse(kind, sentence.format(*values), advice.format(*values))
    error.about = About(about if isinstance(about, tuple) else (about,))
    return error


NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
    "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
    "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)

SCALAR_OF_TRACKED = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)

CLASS_DECORATED = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
    "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
    "and nothing else."
)

TRANSPOSED = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an "
    "error in a future release. Consider `x.mT` to transpose batches of matrices or "
    "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
)

TRANSPOSED_NUMBER = "Tensor.{} is deprecated on 0-D tensors. This function is the identity in these cases."

OTHER_SIZE = (
    "Using a target size ({}) that is different to the input size ({}). This will likely lead to incorrect results due "
    "to broadcasting. Please ensure they have the same size."
)

COPY_OF_TENSOR = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)

NO_FREEDOM = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
    "divided by output numel)."
)

OUT_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output "
    "shape {}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they "
    "have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
    "t.resize_(0)."
)
BYTE_MASK = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
LIST_OF_KEYS = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], "
    "which will result either in an error or a different result"
)

ONLY_INPUTS = (
    "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
    "parts of the graph, please use torch.autograd.backward."
)

CREATE_GRAPH_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
    "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
    "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None "
    "after use to break the cycle and avoid the leak."
)

INSTANTIATED = (
    "{} should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the "
    "class itself. Instantiating an autograd function will raise an error in a future version of PyTorch."
)

DIRTY_NO_INPUT = (
    "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to pass "
    "it to mark_dirty()."
)

# What some of PyTorch's sentences call the types.
C_NAMES = {
    "int64": "long int",
    "float64": "double",
    "float32": "float",
    "int32": "int",
    "bool": "bool",
    "float16": "c10::Half",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short",
}

FILL_OF_EXPANDED = (
    "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
    "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar"
)
UNDEFINED_WARNING = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
    "break existing callers of this function. If this is true for you, you can call this function with "
    '"check_undefined_grad=False" to disable the feature'
)

# Advice, where several sentences share it.
INTEGERS = "a derivative needs values that can move a little; write 2. instead of 2, or convert with .float()."

SAVED_BEFORE = (
    "an operation saved it for its derivative, and it was changed in place since. Use the "
    "out-of-place operation, or change a clone()."
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.{} {}]{} is at version {}; expected version {} instead. "
)

RUN_TWICE = "the function runs a second time in backward: it has to do then what it did first."

# What is refused: the exception's type, PyTorch's sentence, and what to do about it.
REFUSALS = {
    "flag of a result": (
        RuntimeError,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed "
        "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().",
        "only a leaf has a flag of its own; detach() makes one.",
    ),
    "flag of a result, set": (
        RuntimeError,
        "you can only change requires_grad flags of leaf variables.",
        "a result requires grad when what it is made of does; it cannot be told to.",
    ),
    "flag of integers, attribute": (
        RuntimeError,
        "only Tensors of floating point and complex dtype can require gradients",
        INTEGERS,
    ),
    "flag of integers, method": (
        RuntimeError,
        "only Tensors of floating point dtype can require gradients",
        INTEGERS,
    ),
    "rows of another shape": (
        RuntimeError,
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
        "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was "
        "detected: grad_output[{}] has a shape of {} and output[{}] has a shape of {}. If you only want some tensors "
        "in `grad_output` to be considered batched, consider using vmap.",
        "give each grad_output one dimension more than its output has, in front.",
    ),
    "saved tensor made by hand": (
        RuntimeError,
        "Trying to create a SavedTensor object from Python is forbidden.",
        "a node shows those that it keeps as node._raw_saved_self and the like.",
    ),
    "flag of integers, attribute, not a bool": (
        RuntimeError,
        "requires_grad must be a bool",
        "say True or False; this is of type {}.",
    ),
    "flag of integers, method, not a bool": (
        TypeError,
        "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not {}",
        "say True or False.",
    ),
    "not writable": (
        AttributeError,
        "attribute '{}' of 'torch._C.TensorBase' objects is not writable",
        "it follows from how the tensor was made: make another tensor.",
    ),
    "factory of integers": (
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
        INTEGERS,
    ),
    "grad is no tensor": (
        TypeError,
        "assigned grad expected to be a Tensor or None but got grad of type {}",
        "to reset a gradient assign None.",
    ),
    "grad is itself": (
        RuntimeError,
        "can't assign Variable as its own grad",
        "assign a clone().",
    ),
    "grad of another shape": (
        RuntimeError,
        "attempting to assign a gradient of size '{}' to a tensor of size '{}'. Please ensure that the "
        "gradient and the tensor are the same size",
        "a gradient has one entry per entry of its tensor.",
    ),
    "grad of another dtype": (
        RuntimeError,
        "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient "
        "must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's "
        "grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
        "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that "
        "assume they match.",
        "convert it to the tensor's own dtype with .to().",
    ),
    "put of another dtype": (
        RuntimeError,
        "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
        "convert the values with .to(), as x[i] = y.to(x.dtype).",
    ),
    "retain_grad of a constant": (
        RuntimeError,
        "can't retain_grad on Tensor that has requires_grad=False",
        "this tensor needs no gradient, so backward has none to keep.",
    ),
    "hook on a constant": (
        RuntimeError,
        "cannot register a hook on a tensor that doesn't require gradient",
        "backward never comes by here; set requires_grad first.",
    ),
    "post-accumulate hook of a result": (
        RuntimeError,
        "post accumulate grad hooks cannot be registered on non-leaf tensors",
        "only a leaf accumulates; use register_hook() here.",
    ),
    "post-accumulate hook returns": (
        RuntimeError,
        "Tensor post accumulate grad hooks should return None.",
        "change the leaf's .grad inside the hook instead.",
    ),
    "node hook returns no tuple": (
        TypeError,
        "expected tuple, but hook returned '{}'",
        "return one gradient for each that the hook was given, in a tuple; or nothing to leave them as they are.",
    ),
    "number of hooked gradients": (
        RuntimeError,
        "hook '{}' has returned an incorrect number of values (got {}, but expected {})",
        "return one gradient for each that the hook was given, in a tuple; or nothing to leave them as they are.",
    ),
    "hook makes a gradient": (
        RuntimeError,
        "can't replace a None gradient with a non-None value",
        "return None where the hook was given None: no gradient is needed there.",
    ),
    "hook changes the shape": (
        RuntimeError,
        "hook '{}' has changed the size of value",
        "return a gradient of the shape that the hook was given.",
    ),
    "hook changes the dtype": (
        RuntimeError,
        "hook '{}' has changed the type of value (was torch.{} got torch.{})",
        "return a gradient of the dtype that the hook was given.",
    ),
    "hook returns no tensor": (
        TypeError,
        "expected Variable, but hook returned '{}'",
        "return a Tensor, or nothing to leave the gradient as it is.",
    ),
    "data is no tensor": (
        TypeError,
        "Variable data has to be a tensor, but got {}",
        "give a Tensor.",
    ),
    "data of integers": (
        RuntimeError,
        "data set to a tensor that requires gradients must be floating point or complex dtype",
        "convert it with .float() first.",
    ),
    "numpy of a tracked tensor": (
        RuntimeError,
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "NumPy cannot record. Write t.detach().numpy() if you can do without the gradient.",
    ),
    "item of several": (
        RuntimeError,
        "a Tensor with {} elements cannot be converted to Scalar",
        "item() is for one element; use tolist() for more.",
    ),
    "bool of several": (
        RuntimeError,
        "Boolean value of Tensor with more than one value is ambiguous",
        "compare, then reduce to one value.",
    ),
    "bool of none": (
        RuntimeError,
        "Boolean value of Tensor with no values is ambiguous",
        "ask for numel() instead.",
    ),
    "number of several": (
        ValueError,
        "only one element tensors can be converted to Python scalars",
        "reduce to one value first, or use tolist().",
    ),
    "deleted data": (
        RuntimeError,
        "Deleting tensor data is not allowed. Delete tensor instead!",
        "`del t` drops the name, and the memory with its last name.",
    ),
    "deleted flag": (
        RuntimeError,
        "requires_grad must be a bool",
        "assign False instead.",
    ),
    "deepcopy of a result": (
        RuntimeError,
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
        "moment.  If you were attempting to deepcopy a module, this may be because of a "
        "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001",
        "copy a detach(), or clone() to stay in the graph.",
    ),
    "gradient does not fit": (
        RuntimeError,
        "Function {} returned an invalid gradient at index {} - got {} but expected shape compatible with {}",
        "a gradient has the shape of the input it belongs to.",
    ),
    "start does not fit": (
        RuntimeError,
        "invalid gradient at index {} - got {} but expected shape compatible with {}",
        "the output had another shape when it was computed: .data gave it other memory since.",
    ),
    "backward of no inputs": (
        RuntimeError,
        "`inputs` argument to `backward()` cannot be empty.",
        "leave it out for all leaves.",
    ),
    "grad of no inputs": (
        RuntimeError,
        "`inputs` argument to `grad()` cannot be empty.",
        "name at least one tensor.",
    ),
    "grad of a constant": (
        RuntimeError,
        "One of the differentiated Tensors does not require grad",
        "set requires_grad before the forward.",
    ),
    "zeros of an edge": (
        RuntimeError,
        "materialize_grads cannot be used when the given input is a GradientEdge",
        "an edge has no tensor whose shape the zeros could have; give the tensor itself.",
    ),
    "grad of an unused input": (
        RuntimeError,
        "The differentiated Tensor at index {} appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior.",
        "the output does not depend on it; allow_unused=True gives None, materialize_grads=True zeros.",
    ),
    "no history": (
        RuntimeError,
        "element {} of tensors does not require grad and does not have a grad_fn",
        "nothing it was made from requires grad, or the graph was cut (no_grad, detach, item, numpy).",
    ),
    "backward of several": (
        RuntimeError,
        "grad can be implicitly created only for scalar outputs",
        "reduce to one number, for instance with sum(), or say which gradient to start from.",
    ),
    "start of another shape": (
        RuntimeError,
        "Mismatch in shape: grad_output[{}] has a shape of {} and output[{}] has a shape of {}.",
        "the gradient you start from has one entry per entry of the output.",
    ),
    "returned input saved": (
        RuntimeError,
        "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
        "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or "
        "setup ctx inside the forward function itself.",
        "",
    ),
    "saved is no tensor": (
        TypeError,
        "save_for_backward can only save variables, but argument {} is of type {}",
        "keep other things as attributes: ctx.name = value.",
    ),
    "number of gradients": (
        RuntimeError,
        "function {} returned an incorrect number of gradients (expected {}, got {})",
        "return one gradient per argument of forward, None for those that have none.",
    ),
    "gradient is no tensor": (
        RuntimeError,
        "expected Variable or None (got {})",
        "backward returns Tensors, or None for an argument without gradient.",
    ),
    "gradient of no tensor": (
        RuntimeError,
        "function {} returned a gradient different than None at position {}, but the corresponding forward input was "
        "not a Variable",
        "return None there: only tensors have gradients.",
    ),
    "legacy function": (
        RuntimeError,
        "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
        "function with static forward method. (Example: "
        "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)",
        "call apply() of the class itself, and make forward and backward static methods.",
    ),
    "dirty is no tensor": (
        RuntimeError,
        "mark_dirty can only accept variables, but argument ",  # PyTorch breaks off here
        "name the input tensors that forward changed; argument {} is of type {}.",
    ),
    "dirty is no output": (
        RuntimeError,
        "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
        "modified inplace must all be outputs of the Function.",
        "return the tensors that mark_dirty() names.",
    ),
    "dirty leaf": (
        RuntimeError,
        "a leaf Variable that requires grad has been used in an in-place operation.",
        "give the Function a clone().",
    ),
    "dirty view": (
        RuntimeError,
        "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
        "more than one Tensor. This is not supported by the current autograd engine. You should either make sure the "
        "input is not a view (using .clone() for example) or make your Function only return one Tensor (potentially "
        "splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that "
        "does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do "
        "this change.",
        "give the Function a clone().",
    ),
    "constant is no tensor": (
        RuntimeError,
        "mark_non_differentiable only accepts variable arguments, but got ",  # PyTorch breaks off here
        "name the output tensors that have no gradient; a {} is none.",
    ),
    "differentiable once": (
        RuntimeError,
        "trying to differentiate twice a function that was marked with @once_differentiable",
        "write its backward with minigrad operations and drop the decorator.",
    ),
    "second time": (
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they "
        "have already been freed). Saved intermediate values of the graph are freed when you call "
        ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
        "graph a second time or if you need to access saved tensors after calling backward.",
        "an earlier backward freed this graph. Run the forward again, or add the losses and go backward "
        "once; retain_graph=True only where one graph really is walked twice.",
    ),
    "view of strides": (
        RuntimeError,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous subspaces). Use .reshape(...) instead.",
        "the elements are not in memory in that order; reshape() copies them where it has to.",
    ),
    "modified": (
        RuntimeError,
        MODIFIED + "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False).",
        SAVED_BEFORE,
    ),
    "modified, anomaly mode": (
        RuntimeError,
        MODIFIED + "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
        "variable in question was changed in there or anywhere later. Good luck!",
        SAVED_BEFORE,
    ),
    "saved and detached": (
        RuntimeError,
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, "
        "please use out-of-place `.detach()` instead",
        "an operation saved this tensor with its history, which detach_() took away.",
    ),
    "hooks on a freed tensor": (
        RuntimeError,
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
        "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
        "the graph a second time or if you need to access saved variables after calling backward.",
        "register the hooks before backward.",
    ),
    "reentrant checkpoint": (
        ValueError,
        "use_reentrant=True: minigrad has the variant use_reentrant=False only",
        "pass use_reentrant=False, which PyTorch recommends.",
    ),
    "unpacked twice": (
        CheckpointError,
        "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you are "
        "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue with "
        "details on your use case.",
        "what was computed again is given out once, and then let go of.",
    ),
    "saved more": (
        CheckpointError,
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
        "pass.",
        RUN_TWICE,
    ),
    "another number saved": (
        CheckpointError,
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
        "recomputation.\nNumber of tensors saved during forward: {}\nNumber of tensors saved during recomputation: {}.",
        RUN_TWICE,
    ),
    "other metadata": (
        CheckpointError,
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
        "forward pass.\n{}",
        RUN_TWICE,
    ),
    "hooks set twice": (
        RuntimeError,
        "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
        "allowed at a time.",
        "pack and unpack in one pair of hooks.",
    ),
    "hooks that cannot be called": (
        TypeError,
        "register_hooks(): incompatible function arguments. The following argument types are supported:",
        "give two functions: the first packs the tensor, the second makes a tensor of what that returned.",
    ),
    "hooks on None": (
        RuntimeError,
        "Calling register_hooks on a saved tensor with value None is forbidden",
        "this node did not need to save that input.",
    ),
    "unpack returns no tensor": (
        TypeError,
        "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}",
        "return the tensor that the pack hook put away.",
    ),
    "pack hook in place": (
        RuntimeError,
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
        "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
        "to perform in-place operations on the input to a pack hook.",
        "change a clone().",
    ),
    "nan found": (
        RuntimeError,
        "Function '{}' returned nan values in its {}th output.",
        "the warning above shows the line of the forward; look there for 0/0, inf - inf, log or sqrt at 0.",
    ),
    "edge of no node": (
        AssertionError,
        "Expected gradient function to be set",
        "this view was not recorded: make it while grad mode is on.",
    ),
    "multi-grad hook on a requested leaf": (
        RuntimeError,
        "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
        "currently not supported.",
        "use backward(inputs=...), or hooks on results.",
    ),
    "edge of a constant": (
        RuntimeError,
        "It is not possible to get the gradient edge for a Tensor that does not require gradients",
        "set requires_grad before the forward.",
    ),
    "detach_ of a view": (
        RuntimeError,
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
        "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
        "detach_() cannot be called on these gradients. To fix this error, please refer to the "
        "Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.",
        "detach() gives a new tensor on the same memory.",
    ),
    "inference tensor saved": (
        RuntimeError,
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
        "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
        "use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
        "make it under no_grad() instead, or clone() it now.",
    ),
    "version of an inference tensor": (
        RuntimeError,
        "Inference tensors do not track version counter.",
        "what inference_mode() saves is just this; use no_grad() if you need versions.",
    ),
    "flag of an inference tensor": (
        RuntimeError,
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
        "clone() it first: the clone is an ordinary tensor.",
    ),
    "in place, inference tensor": (
        RuntimeError,
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
        "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.",
        "clone() it first: the clone is an ordinary tensor.",
    ),
    "in place, read-only": (
        RuntimeError,
        "the memory of this tensor is read-only: it belongs to a NumPy array that cannot be written to",
        "clone() it and change the clone.",
    ),
    "in place, overlapping": (
        RuntimeError,
        "unsupported operation: more than one element of the written-to tensor refers to a single memory "
        "location. Please clone() the tensor before performing the operation.",
        "expand() repeats elements without copying them; clone() copies.",
    ),
    "no derivative": (
        RuntimeError,
        "derivative for aten::{} is not implemented",
        "it is constant but for its jumps; use it on a detach().",
    ),
    "out of a tracked tensor": (
        RuntimeError,
        "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad.",
        "leave out= away, or write inside no_grad().",
    ),
    "out in forward mode": (
        NotImplementedError,
        "Trying to use forward AD with {}_out that does not support it because it is an out= function",
        "leave out= away.",
    ),
    "no dual level": (
        RuntimeError,
        "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
        "write it inside of `with dual_level():`.",
    ),
    "nested dual levels": (
        RuntimeError,
        "Nested forward mode AD is not supported at the moment",
        "there is one level: leave the `with dual_level():` that you are in first.",
    ),
    "exit of another level": (
        RuntimeError,
        "Trying to exit a forward AD level that was not the last one that was created. This is not supported.",
        "leave `level` away: there is only one.",
    ),
    "exit of no level": (
        RuntimeError,
        "Dual level must be a positive number.",
        "no level has been entered; `with dual_level():` enters one and leaves it.",
    ),
    "wrong dual level": (
        RuntimeError,
        "Invalid level given to _{}",
        "leave `level` away: there is only level 0.",
    ),
    "dual level is gone": (
        RuntimeError,
        "Trying to access a forward AD level with an invalid index. This index was either not created or is already "
        "deleted.",
        "write it inside of `with dual_level():`.",
    ),
    "integers in forward mode": (
        ValueError,
        "Expected {} to be floating point or complex, but got: {}",
        INTEGERS,
    ),
    "tangent of another shape": (
        RuntimeError,
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
        "supported. Tensor is of size {} while the given forward gradient is of size {}.",
        "a tangent has one number for each number of its tensor.",
    ),
    "dual of a dual": (
        RuntimeError,
        "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
        "supported.",
        "give make_dual() the primal: unpack_dual(x).primal.",
    ),
    "tangent is dual": (
        RuntimeError,
        "Setting a forward grad that itself has a forward gradient at the same level0 is not supported.",
        "a tangent is an ordinary tensor: unpack_dual(x).primal.",
    ),
    "unpack of no tensor": (
        TypeError,
        "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {}",
        "only tensors have a tangent.",
    ),
    "saved for forward is no tensor": (
        AssertionError,
        "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx.",
        "write ctx.n = n instead.",
    ),
    "number of tangents": (
        RuntimeError,
        "Function's jvp returned an invalid number of forward gradients (expected {} but got {})",
        "jvp returns one tangent for each output of forward.",
    ),
    "tangent is no tensor": (
        RuntimeError,
        "expected Variable or None (got {}) for grad output {}.",
        "jvp returns tensors.",
    ),
    "tangent of a constant": (
        RuntimeError,
        "Function's jvp returned a gradient at position {}, but  the corresponding forward output is not a "
        "differentiable Tensor.You should return None at that position instead.",
        "an integer, or what mark_non_differentiable() was called on, has no tangent.",
    ),
    "tangent is None": (
        RuntimeError,
        "Expected both tensor and its forward grad to be floating point or complex",
        "jvp returned None for an output that has a derivative; return zeros if it is zero.",
    ),
    "tangent not in place": (
        RuntimeError,
        "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying "
        "an input inplace, then the jvp function must modify the corresponding gradient inplace.",
        "change the tangent that jvp is given with operations that end in _, and return it.",
    ),
    "tangent is no view": (
        RuntimeError,
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.",
        "what forward does to the input, do to its tangent; for an input as it is: tangent.view_as(tangent).",
    ),
    "tangent is another view": (
        RuntimeError,
        "A custom Function is returning a view but the jvp is not returning a view of the {}given grad input.",
        "what forward does to the input, do to its tangent.",
    ),
    "tangent of a scattered base": (
        NotImplementedError,
        "Writing a dual tensor into a view of an array with gaps is not supported in forward AD",
        "write into a clone() of it.",
    ),
    "in place": (
        RuntimeError,
        "{} that requires grad is being used in an in-place operation.",
        "to update a parameter write `with no_grad(): w -= step`; to compute with it use the out-of-place form.",
    ),
    "cat of nothing": (
        ValueError,
        "torch.cat(): expected a non-empty list of Tensors",
        "give it at least one tensor.",
    ),
    "stack of nothing": (
        RuntimeError,
        "stack expects a non-empty TensorList",
        "give it at least one tensor.",
    ),
    "gradcheck of no input": (
        ValueError,
        "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.",
        "make an input with dtype=float64 and requires_grad=True.",
    ),
    "gradcheck of an expanded input": (
        RuntimeError,
        "The {}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be "
        "able to compute the numerical gradients correctly. You should call .contiguous on the input before passing "
        "it to gradcheck.",
        "an expanded tensor keeps one number for many elements; clone() gives each its own.",
    ),
    "output changes under gradcheck": (
        AssertionError,
        "Expected `func` to return outputs with the same {} when inputs are perturbed on index {} by {}, but got: "
        "{}s {} and {}.",
        "there the output changes its kind with the values of the input; check at another point.",
    ),
    "no tensor": (
        TypeError,
        "The {} given to {} must be either a Tensor or a tuple of Tensors but the given {} has type {}.",
        "give a Tensor; several go in a tuple, not in a list.",
    ),
    "no tensor in a tuple": (
        TypeError,
        "The {} given to {} must be either a Tensor or a tuple of Tensors but the value at index {} has type {}.",
        "give what is no Tensor to the function in another way, for instance with a lambda.",
    ),
    "v for several outputs": (
        RuntimeError,
        "The vector v can only be None if the user-provided function returns a single Tensor with a single element.",
        "say which vector to multiply with: v has the outputs' shapes.",
    ),
    "v for several inputs": (
        RuntimeError,
        "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
        "single element.",
        "say which vector to multiply with: v has the inputs' shapes.",
    ),
    "v too short or long": (
        RuntimeError,
        "v is a tuple of invalid length: should be {} but got {}.",
        "v has one tensor per input, and in vjp one per output.",
    ),
    "v is several": (
        RuntimeError,
        "The given v should contain a single Tensor.",
        "v has one tensor per input, and in vjp one per output.",
    ),
    "v of another shape": (
        RuntimeError,
        "{}v has invalid size: should be {} but got {}.",
        "v has the inputs' shapes, and in vjp the outputs'.",
    ),
    "second derivative of several tensors": (
        RuntimeError,
        "The function given to {} should return a single Tensor",
        "return one Tensor and no tuple; for several outputs take the jacobian() of a gradient.",
    ),
    "second derivative of several numbers": (
        RuntimeError,
        "The Tensor returned by the function given to {} should contain a single element",
        "reduce it to one number, for instance with sum().",
    ),
    "strategy of jacobian": (
        AssertionError,
        'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
        'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".',
        "leave it out: the values are the same.",
    ),
    "strategy of hessian": (
        AssertionError,
        'Expected strategy to be either "forward-mode" or "reverse-mode".',
        "leave it out: the values are the same.",
    ),
    "forward mode by rows": (
        NotImplementedError,
        "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`.",
        "leave out the strategy: the values are the same.",
    ),
    "forward mode and create_graph": (
        NotImplementedError,
        'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
        'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.',
        "leave out the strategy: the values are the same.",
    ),
    "forward mode and strict": (
        RuntimeError,
        'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
        '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.',
        "leave out the strategy: the values are the same.",
    ),
    "strict and vectorize": (
        RuntimeError,
        "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
        "either set `strict=False` or `vectorize=False`.",
        "leave out vectorize: the values are the same.",
    ),
    "strict: output without graph": (
        RuntimeError,
        "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode.",
        "the output is made without the inputs, or the graph was cut on the way (detach, no_grad, item, numpy).",
    ),
    "strict: output independent": (
        RuntimeError,
        "The output of the user-provided function is independent of input {}. This is not allowed in strict mode.",
        "use the input in the function, or leave out strict to get zeros for it.",
    ),
    "strict: output independent of input": (
        RuntimeError,
        "Output {} of the user-provided function is independent of input {}. This is not allowed in strict mode.",
        "use the input in the function, or leave out strict to get zeros for it.",
    ),
    "strict: gradient without graph": (
        RuntimeError,
        "The gradient with respect to input {} is independent of the inputs of the user-provided function. This is "
        "not allowed in strict mode.",
        "its backward ignores grad_output, or cuts the graph; jvp goes backward through it.",
    ),
    "strict: gradient independent": (
        RuntimeError,
        "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients. This is not allowed in strict mode.",
        "this output depends on no input; leave out strict to get zeros for it.",
    ),
    "strict: jacobian constant": (
        RuntimeError,
        "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode "
        "when create_graph=True.",
        "the function is linear in it, so its second derivative is zero; leave out strict to go on.",
    ),
    "strict: jacobian independent": (
        RuntimeError,
        "The jacobian of the user-provided function is independent of input {}. This is not allowed in strict mode.",
        "the function is linear in it, so its second derivative is zero; leave out strict to go on.",
    ),
    "strict: jacobian constant in hessian": (
        RuntimeError,
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
        "function for example).",
        "the function is linear in it, so its second derivative is zero; leave out strict to go on.",
    ),
    "strict: hessian constant": (
        RuntimeError,
        "The hessian of the user-provided function is independent of input {}. This is not allowed in strict mode "
        "when create_graph=True.",
        "the function is quadratic in it, so its third derivative is zero; leave out strict to go on.",
    ),
    "strict: hessian independent": (
        RuntimeError,
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD.",
        "the function is linear in this input; leave out strict to get zeros for it.",
    ),
}


# Why a view may not be changed in place, by how it was made.
WHY_NOT_IN_PLACE = {
    "several": "This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    "no_grad": "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
    "tracked) or both outside (if you want the inplace to be tracked).",
    "inference": "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving both the view and the inplace either both inside the inference_mode block (if you don't want the inplace "
    "to be tracked) or both outside (if you want the inplace to be tracked).",
    "function": "This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom Function, "
    "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
    "Function.",
}


def view_refusal(creation_meta: str, output_nr: int, maker: str | None, indirect: bool) -> Exception:
    """The exception for a view that may not be changed in place, and was: itself, or through another tensor."""
    changed = "its base or another view of its base has been" if indirect else "is being"
    start = f"Output {output_nr} of {maker} is a view and {changed} modified inplace."
    created = f"Output {output_nr} of {maker} is a view of a view which was created" if maker else "A view was created"
    if creation_meta == "inference":
        start = f"{created} in inference mode and {changed} modified inplace in normal mode."
    elif creation_meta == "no_grad" or maker is None:
        start = f"{created} in no_grad mode and {changed} modified inplace with grad mode enabled."
    sentence = f"{start} {WHY_NOT_IN_PLACE[creation_meta]}"
    return refuse(RuntimeError, sentence, "clone() the view, and change or use the clone.")


def dim_refused(dim: int, ndim: int) -> Exception:
    """PyTorch's sentence for a dimension that does not exist.

    >>> print(dim_refused(2, 2))
    Dimension out of range (expected to be in range of [-2, 1], but got 2)
    """
    most = max(ndim, 1)
    return IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")


def shapes_refused(op_name: str, error: ValueError | TypeError, *arrays) -> Exception:
    """PyTorch's sentence for operands of incompatible shapes, in place of NumPy's.

    >>> print(shapes_refused("mm", ValueError("not aligned"), np.ones((2, 3)), np.ones((2, 3))))
    mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)
    """
    if isinstance(error, np.exceptions.AxisError) and error.axis is not None and error.ndim is not None:
        return dim_refused(error.axis, error.ndim)
    shapes = [list(np.shape(a)) for a in arrays]
    if isinstance(error, TypeError) and _first_incompatible(shapes) is None:
        return _types_refused(op_name, error, arrays)
    a, b = shapes if len(shapes) == 2 else _first_incompatible(shapes) or ([], [])
    sentence = str(error)
    if op_name == "mm":
        sentence = f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})"
    elif op_name == "mv":
        sentence = f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})"
    elif op_name == "dot":
        sentence = (
            f"inconsistent tensor size, expected tensor {a} and src {b} to have the same number of elements, "
            f"but got {a[0]} and {b[0]} elements respectively"
        )
    elif "broadcast" in sentence or isinstance(error, TypeError):
        sentence = _broadcast_sentence(*([b, a] if op_name == "masked_fill" else [a, b]))
    got = " and ".join(str(tuple(shape)) for shape in shapes)
    return refuse(RuntimeError, sentence, f"{op_name}() got shapes that do not go together: {got}.")


def expand_refused(shape: tuple, sizes: tuple, kind: str) -> Exception:
    """The exception for a shape that cannot be expanded to `sizes`.

    >>> print(expand_refused((2,), (3,), "FloatTensor"))
    The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0.  Target \
sizes: [3].  Tensor sizes: [2]
    """
    if len(sizes) < len(shape):
        sentence = (
            f"expand(torch.{kind}{{{list(shape)}}}, size={list(sizes)}): the number of sizes provided "
            f"({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
        return RuntimeError(sentence)
    added = len(sizes) - len(shape)
    if -1 in sizes[:added]:
        sentence = "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {}"
        return RuntimeError(sentence.format(sizes.index(-1)))
    pairs = reversed(list(enumerate(zip(sizes[added:], shape, strict=True))))
    dim, (wanted, length) = next((i, pair) for i, pair in pairs if pair[1] not in (1, pair[0]))
    return refuse(
        RuntimeError,
        f"The expanded size of the tensor ({wanted}) must match the existing size ({length}) at non-singleton "
        f"dimension {dim + added}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}",
        "only a dimension of length 1 can be expanded.",
    )


def bool_not_subtracted() -> Exception:
    """One operand of a subtraction is a bool tensor."""
    return refuse(
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead.",
        "turn it into numbers first, with Tensor.float().",
    )


def _types_refused(op_name: str, error: TypeError, arrays: tuple) -> Exception:
    """PyTorch's sentence for operands of a dtype that the operation does not support, in place of NumPy's."""
    kind = arrays[0].dtype.name.replace("float64", "double").replace("float32", "float").capitalize()
    if op_name == "sub":
        sentence = (
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    elif op_name == "neg":
        sentence = (
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    elif op_name == "bitwise_not":
        return TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    elif op_name.startswith("bitwise"):
        return NotImplementedError(f"\"{op_name}_cpu\" not implemented for '{kind}'")
    else:
        return error
    return refuse(RuntimeError, sentence, f"{op_name}() is not for bools.")


def view_refused(size: int, shape) -> Exception:
    """The error for a shape that ``size`` elements do not fill."""
    shape = list(shape)
    if not all(isinstance(length, (int, np.integer)) for length in shape):
        return TypeError(f"view(): argument 'size' must be tuple of ints, but found {shape}")
    for dim, length in enumerate(shape):
        if length < -1:
            return RuntimeError(f"invalid shape dimension {length} at index {dim} of shape {shape}")
    if shape.count(-1) > 1:
        return RuntimeError("only one dimension can be inferred")
    if not size and -1 in shape:
        return RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified dimension size -1 can "
            "be any value and is ambiguous"
        )
    advice = "the sizes of a shape multiply to the number of elements; one of them may be -1, for what is left."
    return refuse(RuntimeError, f"shape '{shape}' is invalid for input of size {size}", advice)


def join_refused(op_name: str, shapes: list, dim: int) -> Exception:
    """The error for tensors whose shapes do not join along ``dim``."""
    shapes = [list(shape) for shape in shapes]
    first, ndim = shapes[0], len(shapes[0])
    if op_name == "stack":
        if not -ndim - 1 <= dim <= ndim:
            return dim_refused(dim, ndim + 1)
        at, other = next((i, shape) for i, shape in enumerate(shapes) if shape != first)
        sentence = f"stack expects each tensor to be equal size, but got {first} at entry 0 and {other} at entry {at}"
        return RuntimeError(sentence)
    if [] in shapes:
        return RuntimeError(f"zero-dimensional tensor (at position {shapes.index([])}) cannot be concatenated")
    first = next((shape for shape in shapes if shape != [0]), [0])
    ndim = len(first)
    if not -ndim <= dim < ndim:
        return dim_refused(dim, ndim)
    for at, shape in enumerate(shapes):
        shape = first if shape == [0] else shape
        if len(shape) != ndim:
            return RuntimeError(f"Tensors must have same number of dimensions: got {ndim} and {len(shape)}")
        for d, (expected, got) in enumerate(zip(first, shape, strict=True)):
            if expected != got and d != dim % ndim:
                return RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim % ndim}. Expected size {expected} but got "
                    f"size {got} for tensor number {at} in the list."
                )
    return RuntimeError("the tensors cannot be joined")


def _first_incompatible(shapes: list) -> tuple | None:
    """The first shape that cannot be broadcast with those before it, after what those broadcast to."""
    for count in range(2, len(shapes) + 1):
        try:
            np.broadcast_shapes(*shapes[:count])
        except ValueError:
            return list(np.broadcast_shapes(*shapes[: count - 1])), shapes[count - 1]
    return None


def _broadcast_sentence(a: list, b: list) -> str:
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return (
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at "
                f"non-singleton dimension {max(len(a), len(b)) - back}"
            )
    shape = list(np.broadcast_shapes(tuple(a), tuple(b)))  # they fit: it is the output that is too small
    return f"output with shape {a} doesn't match the broadcast shape {shape}"


def key_refused(key) -> Exception:
    """The error for an index of a type that cannot be one."""
    kind = type(key).__name__
    sentence = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
    return refuse(IndexError, f"{sentence}(got {kind})", "a position is an int; int() makes one of a float.")


def too_many_refused(key, ndim: int) -> IndexError:
    """The error for an index with more entries than the tensor has dimensions."""
    if ndim or isinstance(key, tuple):
        return IndexError(f"too many indices for tensor of dimension {ndim}")
    if isinstance(key, slice):
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    if isinstance(key, int) and key:
        return IndexError(f"index {key} is out of bounds for dimension 0 with size 0")
    if not isinstance(key, int):
        return IndexError("too many indices for tensor of dimension 0")
    return IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
        "0-dim tensor to a number"
    )


def indices_refused(shape: tuple, indices: tuple, error: IndexError) -> IndexError:
    """The error for lists and masks that do not fit the shape of the indexed tensor, in place of NumPy's."""
    dim, place, lists = 0, 0, []
    for index in indices:
        if isinstance(index, slice):
            dim += 1
        elif index.dtype.kind == "b":
            for d, length in enumerate(index.shape, dim):
                if length != shape[d]:
                    return _mask_refused(index, d - dim, shape, d)
            dim, place = dim + index.ndim, place + index.ndim
            lists.append([int(index.sum())])
        elif index.dtype.kind == "f":
            return IndexError("tensors used as indices must be long, int, byte or bool tensors")
        elif index.size and not shape[dim]:
            return IndexError("index is out of bounds for dimension with size 0")
        else:
            for position in index[(index < -shape[dim]) | (index >= shape[dim])].flat:
                sentence = f"index {position} is out of bounds for dimension {place} with size {shape[dim]}"
                return IndexError(sentence)
            dim, place = dim + 1, place + 1
            lists.append(list(index.shape))
    if "broadcast" not in str(error):
        return error
    shapes = ", ".join(map(str, lists))
    return IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}")


def _mask_refused(mask, at: int, shape: tuple, dim: int) -> IndexError:
    return IndexError(
        f"The shape of the mask {list(mask.shape)} at index {at} does not match the shape of the indexed tensor "
        f"{list(shape)} at index {dim}"
    )


def no_number(data) -> Exception:
    """The error for what is no number, or lists of such."""
    while isinstance(data, (list, tuple)):
        data = next((e for e in data if isinstance(e, (list, tuple)) or not isinstance(e, (int, float))), data[0])
    kind = type(data).__name__
    if isinstance(data, (str, bytes)):
        return TypeError(f"new(): invalid data type '{kind}'")
    if isinstance(data, int):
        return ValueError("Overflow when unpacking long long")
    return refuse(
        RuntimeError, f"Could not infer dtype of {kind}", "a tensor holds numbers: give one, or nested lists."
    )


def ragged(data) -> ValueError:
    """The error for nested lists of unequal lengths, with the first place where they differ."""
    dim, level = 0, [data]
    while True:
        lists = [isinstance(entry, (list, tuple)) for entry in level]
        if not all(lists):
            return ValueError("expected sequences of equal length at every dimension")
        lengths = [len(entry) for entry in level]
        for length in lengths:
            if length != lengths[0]:
                return ValueError(f"expected sequence of length {lengths[0]} at dim {dim} (got {length})")
        dim, level = dim + 1, [part for entry in level for part in entry]
