"""Automatic differentiation. The files, in reading order:

    grad_mode.py   is anything recorded at all?
    graph.py       what is recorded: nodes, edges, saved values
    node.py        what grad_fn shows of it
    engine.py      backward: the walk over the graph
    hooks.py       what is called on the way, where you ask for it
    function.py    your own operations
    forward_ad.py  tangents instead of gradients: forward mode
    gradcheck.py   a gradient against finite differences
    functional.py  products with Jacobians and Hessians, and both whole

The public names (``autograd.grad``, ``autograd.Function`` ...) are put here by ``minigrad/__init__.py``,
because this package is imported before the Tensor that they need exists.
"""
