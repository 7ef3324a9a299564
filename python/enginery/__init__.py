"""Engines of enginery in Python: load one, run it on arrays; build one from a model; have a farm build it.

    import enginery
    engine = enginery.build("model.onnx")
    print(engine.run({"data": picture})["prob"])

Engines run in this process through libenginery.so (enginery/enginery.h); `build` and the farm go through the
`enginery` command. `Network` and `Builder` put networks together and build them in this process, through
libenginery-build.so (enginery/build.h). Arrays are NumPy's; what has `__dlpack__` on a CPU (PyTorch tensors) is read where it lies. Every
failure is an `enginery.Error` with the name of the command's exit code.
"""
from ._builder import BuildConfig, Builder
from ._building import build
from ._calibrator import Calibrator
from ._engine import Context, Engine, Layer, Tensor, load
from ._error import Error
from ._farm import Farm, Job
from ._library import version
from ._network import CountedTensor, Network, NetworkTensor, operators

__all__ = ["BuildConfig", "Builder", "Calibrator", "Context", "CountedTensor", "Engine", "Error", "Farm", "Job", "Layer", "Network", "NetworkTensor", "Tensor", "build", "load",
           "operators", "version"]
