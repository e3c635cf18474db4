"""Automatic differentiation. The files, in reading order:

    grad_mode.py   whether anything is recorded: no_grad, enable_grad, inference_mode
    node.py        what is recorded: nodes, what they save, leaves
    grad_fn.py     what grad_fn shows of a node
    backward.py    where backward() starts; grad.py: where grad() does
    engine.py      the walk over the graph; gradients.py: what is added to .grad
    evaluate.py    a node with hooks, requested inputs, anomaly mode; hooks.py: your hooks
    graph.py       the public functions around graphs, as in PyTorch
    function.py    your own operations
    forward_ad.py  forward mode: tangents, which are Jacobian-vector products
    gradcheck.py   gradients compared with finite differences
    functional.py  Jacobians, Hessians, and their products with vectors

The public names (``autograd.grad``, ``autograd.Function`` ...) are put here by ``minigrad/__init__.py``,
because this package is imported before the Tensor that they need exists.
"""
