"""Builds on this machine: `enginery build`."""
import os
import pathlib
import tempfile
from typing import Mapping, Optional, Sequence, Union

from ._command import Words, joined, run_command, shapes_text
from ._engine import Engine, load
from ._network import Network


def build(model: Union[str, os.PathLike, bytes, Network], target: str = "this", precision: Words = "fp32", level: int = 3,
          shapes: Optional[Mapping[str, Sequence[int]]] = None, *, name: Optional[str] = None, threads: int = 0,
          options: Sequence[str] = ()) -> Engine:
    """The tuned engine of an ONNX model (a path, the file's bytes, or a Network) for a device of this machine, from the catalog where it was built before.

    target: a SKU, or `this` for the machine's best. precision: arithmetic to allow in addition to fp32. level: 0 measures nothing, 5 is exhaustive.
    shapes: the inputs' dimensions by name. options: more options of `enginery build`. The engine's bytes are `engine.content`, what the
    command said of it `engine.report`. Raises Error: not_found, invalid_input (a model that cannot be built, with its node), failed.
    """
    if isinstance(model, Network):
        model = model.save()
    from_memory = isinstance(model, (bytes, bytearray))
    with tempfile.TemporaryDirectory(prefix="enginery-") as folder:
        path = pathlib.Path(folder) / "built.engine"
        words = ["build", "-" if from_memory else os.fspath(model), "--target", target, "--level", level, "-o", path, *shapes_text(shapes), *options]
        if joined(precision) != "fp32":
            words += ["--precision", joined(precision)]
        words += ["--name", name] if name else []
        words += ["--threads", threads] if threads else []
        report = run_command(*words, stdin=bytes(model) if from_memory else None)
        content = path.read_bytes()
    engine = load(content, threads=threads)
    engine.content, engine.report = content, report
    return engine
