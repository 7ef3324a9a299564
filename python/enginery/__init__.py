"""Engines of enginery in Python: load one, run it on arrays; build one from a model; have a farm build it.

    import enginery
    engine = enginery.build("model.onnx")
    print(engine.run({"data": picture})["prob"])

Engines run in this process through libenginery.so (enginery/enginery.h); building and the farm go through the
`enginery` command. Arrays are NumPy's; what has `__dlpack__` on a CPU (PyTorch tensors) is read where it lies. Every
failure is an `enginery.Error` with the name of the command's exit code.
"""
from ._building import build
from ._engine import Context, Engine, Layer, Tensor, load
from ._error import Error
from ._farm import Farm, Job
from ._library import version

__all__ = ["Context", "Engine", "Error", "Farm", "Job", "Layer", "Tensor", "build", "load", "version"]
