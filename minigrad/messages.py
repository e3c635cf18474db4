"""What minigrad says when it refuses: PyTorch's sentence first, then what to do about it.

The sentence is the exception's text, word for word, so that a search engine finds the answers people
already wrote. The advice is a note on the exception (PEP 678): Python and Jupyter print it below.
"""

import numpy as np


def refuse(kind: type[Exception], sentence: str, advice: str) -> Exception:
    """Build the exception for a misuse; the caller raises it.

    >>> error = refuse(RuntimeError, "no", "try yes")
    >>> str(error), error.__notes__
    ('no', ['minigrad: try yes'])
    """
    error = kind(sentence)
    error.add_note("minigrad: " + advice)
    return error


SECOND_TIME = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved tensors after calling backward."
)

NO_HISTORY = "element %d of tensors does not require grad and does not have a grad_fn"

NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
    "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
    "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)

CREATE_GRAPH_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
    "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
    "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None "
    "after use to break the cycle and avoid the leak."
)

MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.%s %s]%s is at version %d; expected version %d instead. Hint: enable anomaly detection to find the "
    "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
)

FLAG_OF_NON_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
    "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
)

DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
    "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
    "see https://github.com/pytorch/pytorch/pull/103001"
)

GRAD_OF_OTHER_DTYPE = (
    "attempting to assign a gradient with dtype '%s' to a tensor with grad_dtype '%s'. The gradient must match the "
    "tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
    "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and "
    "its gradient may break downstream systems that assume they match."
)

# What PyTorch calls the types in the sentence above.
C_NAMES = {
    "int64": "long int",
    "float64": "double",
    "float32": "float",
    "int32": "int",
    "bool": "bool",
}

# Advice, where several sentences share it.
INTEGERS = "a derivative needs values that can move a little; write 2. instead of 2, or convert with .float()."


def shapes_refused(op_name: str, error: ValueError, *arrays) -> Exception:
    """PyTorch's sentence for operands whose shapes do not go together, in place of NumPy's.

    >>> print(shapes_refused("mm", ValueError("not aligned"), np.ones((2, 3)), np.ones((2, 3))))
    mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)
    """
    shapes = [list(np.shape(a)) for a in arrays]
    a, b = shapes if len(shapes) == 2 else ([], [])
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
    elif "broadcast" in sentence:
        sentence = _broadcast_sentence(a, b)
    got = " and ".join(str(tuple(shape)) for shape in shapes)
    return refuse(RuntimeError, sentence, f"{op_name}() got shapes that do not go together: {got}.")


def _broadcast_sentence(a: list, b: list) -> str:
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            return (
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at "
                f"non-singleton dimension {max(len(a), len(b)) - back}"
            )
    shape = list(np.broadcast_shapes(tuple(a), tuple(b)))  # they fit: it is the output that is too small
    return f"output with shape {a} doesn't match the broadcast shape {shape}"
