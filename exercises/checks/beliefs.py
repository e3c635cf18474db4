"""The beliefs that learners hold about autograd, one sentence each, as a learner would say it.

The ids are stable: checks, tests and progress refer to them (M27 has two sides, each with a
sentence). A failed check shows the sentence of the belief that explains the answer, so that it can
be recognised, and then says what is true.
"""

from __future__ import annotations

BELIEFS: dict[str, str] = {
    "M01": "requires_grad=True means that .grad will be filled",
    "M02": "a leaf is what I made myself, so the result of an operation is never a leaf",
    "M03": "after backward() every tensor on the way has its .grad",
    "M04": "retain_grad() does nothing, or works on any tensor",
    "M05": "a computed tensor is frozen by setting its requires_grad to False",
    "M06": "x = x - lr * x.grad updates the same x",
    "M07": "changing a leaf in place is fine while autograd is recording",
    "M08": "backward() overwrites .grad",
    "M09": "clearing .grad before backward() destroys what backward() needs",
    "M10": "the gradients inside the graph need clearing too",
    "M11": "backward needs no order: each node just passes its gradient on",
    "M12": "a second backward() always fails",
    "M13": "the 'second time' error is cured by retain_graph=True",
    "M14": "retain_graph=True lets me differentiate a gradient",
    "M15": "create_graph=True with retain_graph=False breaks the second derivative",
    "M16": "x.grad.backward() leaves the second derivative alone in x.grad",
    "M17": "detach() makes a copy",
    "M18": ".data and .detach() are the same",
    "M19": "one detach() stops every gradient to that tensor",
    "M20": "inside no_grad() nothing requires grad and backward() cannot run",
    "M21": "freezing a middle layer stops the gradient to the layers below it",
    "M22": "any in-place change after the forward pass breaks backward()",
    "M23": "an in-place error points at the in-place line",
    "M24": "backward() wants a scalar only because of a limit; any vector of ones will do",
    "M25": "the gradient of an unused input is 0",
    "M26": "where() protects the branch that is not selected",
    "M27": "what comes out of .item() or .numpy() stays connected to the graph",
    "M27b": "whole numbers can require grad",
    "M28": "total += loss keeps only a number",
    "M29": "a passing gradcheck means that my Function is right",
    "M30": "calling autograd.grad inside backward makes it differentiable twice",
    "M31": "a failing gradcheck means that the formula is wrong",
    "M32": "backward returns one gradient for each tensor that needs one",
    "M33": "operations inside Function.forward are recorded",
    "M34": "a hook runs once for each path and cannot change the gradient",
    "M35": "gradients exist before backward() has run",
    "M36": "the local gradient of exp(x) is x, not exp(x)",
    "M37": "the gradient of a broadcast input has the broadcast shape",
    "M38": "at a kink or a tie there is no gradient, so there is an error",
    # From here on with a place where somebody holds it: https://discuss.pytorch.org/t/948
    "M39": "an in-place operation saves memory",
    # https://runebook.dev/ru/docs/pytorch/generated/torch.tensor.storage
    "M40": "a view of a few numbers keeps only these few in memory",
    # https://github.com/pytorch/pytorch/pull/14253, https://github.com/lucidrains/enformer-pytorch/issues/33
    "M41": "what is computed a second time draws the same random numbers",
    # https://github.com/pytorch/pytorch/issues/7617
    "M42": "a checkpoint reaches the weights inside, whatever its inputs are",
    # https://github.com/jacobgil/pytorch-grad-cam/issues/88
    "M43": "what my hook uses is gone when its last name is",
    # https://github.com/johnmarktaylor91/torchlens/issues/28
    "M44": "each node that saves a tensor keeps a copy of its own",
    # https://github.com/pytorch/pytorch/issues/81296
    "M45": "a checkpoint keeps what its function saves, and runs it once",
    # https://github.com/ecmwf/WeatherGenerator/issues/1141
    "M46": "one checkpoint around everything saves the most memory",
    # Chapter 12: pytorch#78961 and #128600; pytorch-finufft#110; discuss.pytorch.org 91569; the page of Tensor.detach
    # and pytorch#128600; the page of exit_dual_level; pytorch#71643 and #79664; jax#554 and HIPS/autograd#175;
    # functorch#207.
    "M51": "no_grad() stops forward mode, too",
    "M52": "a Function that has a backward works in forward mode, too",
    "M53": "a Jacobian takes a walk back for each result, whatever its shape",
    "M54": "detach() cuts the way back only",
    "M55": "a tangent stays with its tensor when the level is over",
    "M56": "make_dual() copies what it is given",
    "M57": "a Hessian-vector product always takes two walks",
    "M58": "jvp returns the slope, not the slope times the tangent",
}
