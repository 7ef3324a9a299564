"""Engines and their contexts: signed files that run on the device for which they were built."""
import ctypes
import dataclasses
import math
import os
import pathlib
import threading
from ctypes import c_int64, c_void_p
from typing import Dict, List, Mapping, Optional, Tuple, Union

import numpy

from ._dlpack import array_on_gpu, empty_beside, is_on_gpu
from ._error import Error
from ._library import MEMORY_DEVICE, MEMORY_HOST, PROFILE_FUNCTION, EngineInfo, LoadOptions, TensorInfo, byref, check, library, sized

# What an array of each enginery_type is. NumPy has no bfloat16: its bits come and go as uint16, those of 8-bit floats as uint8. A 4-bit integer is a
# byte of its own.
DTYPES = ["float32", "float16", "uint16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool",
          "uint8", "uint8", "uint8", "uint8", "int8", "uint8"]


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or output: dense, row-major. `type` is the engine's name for the elements, `dtype` the array's. With `run_time_shape` each run tells
    an output's shape, and `shape` is the largest."""
    name: str
    shape: Tuple[int, ...]
    dtype: numpy.dtype
    type: str
    run_time_shape: bool = False


@dataclasses.dataclass(frozen=True)
class Layer:
    """One layer of a profile. `flops` and `bytes` are what it must compute and move at least; `median_us` is its time alone."""
    name: str
    op: str
    tactic: str
    flops: float
    bytes: float
    median_us: float


def load(source: Union[str, os.PathLike, bytes, bytearray, memoryview], *, keys: Optional[os.PathLike] = None, threads: int = 0, device: int = 0,
         mapped: bool = False) -> "Engine":
    """The engine of a file, or of its bytes.

    keys: the folder of the keys that are trusted (default: the user's, `enginery keys show`). threads: of one inference on a CPU (0: as many as it
    was built with). device: which of the visible GPUs. mapped: the weights of a file stay where they are, for engines that are large beside the
    memory that is free; the file must not change then. Raises Error: not_found, untrusted (tampered with, or an unknown key), incompatible (built
    for another device), unreachable (no driver or device).
    """
    options = sized(LoadOptions)
    options.keys_folder = os.fsencode(keys) if keys is not None else None
    options.threads, options.device_index, options.map_file = threads, device, int(mapped)
    handle = c_void_p()
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        check(library().enginery_engine_load_memory(data, len(data), byref(options), byref(handle)))
    else:
        check(library().enginery_engine_load_file(os.fsencode(source), byref(options), byref(handle)))
    return Engine(handle)


class Engine:
    """A loaded engine; its weights are on the device once, whatever the number of contexts. Any number of threads may use it."""

    def __init__(self, handle: c_void_p):
        self._handle = handle
        info = sized(EngineInfo)
        check(library().enginery_engine_get_info(handle, byref(info)))
        #: name, sku, digest, signer, layers, threads, weights_bytes, context_bytes, median_us (0 where it was not measured), device ("cpu" or
        #: "cuda"), device_index
        self.info: Dict[str, object] = {name: value.decode() if isinstance(value, bytes) else value for name, value in
                                        ((name, getattr(info, name)) for name, _ in EngineInfo._fields_)
                                        if name not in ("struct_size", "inputs", "outputs")}
        tensors = [self._tensor(i) for i in range(info.inputs + info.outputs)]
        self.inputs: List[Tensor] = tensors[:info.inputs]
        self.outputs: List[Tensor] = tensors[info.inputs:]
        self._threads = threading.local()

    def _tensor(self, index: int) -> Tensor:
        info = sized(TensorInfo)
        check(library().enginery_engine_get_tensor(self._handle, index, byref(info)))
        return Tensor(info.name.decode(), tuple(info.dims[:info.rank]), numpy.dtype(DTYPES[info.type]), library().enginery_type_name(info.type).decode(),
                      info.run_time_sizes > 0)

    def __del__(self):
        if getattr(self, "_handle", None):
            library().enginery_engine_destroy(self._handle)

    def __repr__(self) -> str:
        texts = [", ".join(f"{t.name} {t.type}{list(t.shape)}" for t in side) for side in (self.inputs, self.outputs)]
        return f"<enginery.Engine {self.info['name']} for {self.info['sku']}: {texts[0]} -> {texts[1]}>"

    def context(self) -> "Context":
        """Another use of the engine, with memory and streams of its own. Raises Error: failed (out of memory)."""
        return Context(self)

    def run(self, inputs: Mapping[str, object], outputs: Optional[Mapping[str, object]] = None) -> Dict[str, object]:
        """One inference on this thread's context: the outputs, as new arrays where `outputs` gives none; those whose shape the run tells have
        that shape. Inputs have the engine's shapes and dtypes;
        an array that is not contiguous is copied. With a tensor on the engine's GPU among the inputs the outputs are new ones there (PyTorch), and
        both are used in place. Raises Error: invalid_input that names the tensor."""
        if not hasattr(self._threads, "context"):
            self._threads.context = Context(self)
        return self._threads.context(inputs, outputs)

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the engine that `build` or a farm made to a file. Raises Error: usage for one that was loaded from elsewhere."""
        content = getattr(self, "content", None)
        if content is None:
            raise Error("usage", "save: this engine was loaded from a file or from bytes, which are what it would write")
        pathlib.Path(path).write_bytes(content)


def array_of(value: object, tensor: Tensor) -> numpy.ndarray:
    """The array of an input, where it lies if it can be read there. Raises Error: invalid_input."""
    if not isinstance(value, numpy.ndarray) and hasattr(value, "__dlpack__"):
        try:
            value = numpy.from_dlpack(value)
        except (RuntimeError, BufferError, TypeError) as error:
            raise Error("invalid_input", f"input '{tensor.name}' cannot be read from this process's memory: {error}") from error
    array = numpy.asarray(value)
    if array.dtype != tensor.dtype or array.shape != tensor.shape:
        raise Error("invalid_input", f"input '{tensor.name}' takes {tensor.dtype}{list(tensor.shape)}, not {array.dtype}{list(array.shape)}")
    return numpy.ascontiguousarray(array).reshape(tensor.shape)


def bytes_of(tensor: Tensor) -> int:
    return math.prod(tensor.shape) * tensor.dtype.itemsize


class Context:
    """One thread's use of an engine: what it reads and writes stays bound from run to run. A context manager."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self._inputs = {t.name: t for t in engine.inputs}
        self._outputs = {t.name: t for t in engine.outputs}
        self._bound: Dict[str, object] = {}  # kept while the library may read or write them
        self._handle = c_void_p()
        check(library().enginery_context_create(engine._handle, byref(self._handle)))

    def close(self) -> None:
        """Frees the context's memory. Nothing to do the second time."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            check(library().enginery_context_destroy(handle))

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __del__(self):
        self.close()

    def set_input(self, name: str, value: object) -> None:
        """Reads the input from there in every run until it is set again; an array that is not contiguous is copied now. A tensor on the engine's GPU
        is read there: contiguous, beginning at a multiple of 256 bytes. Raises Error: invalid_input."""
        if name not in self._inputs:
            raise Error("invalid_input", f"no input is called '{name}'; there is: {', '.join(self._inputs)}")
        tensor = self._inputs[name]
        if is_on_gpu(value):
            array = array_on_gpu("input", value, tensor, self.engine.info)
            check(library().enginery_context_set_input_in(self._handle, name.encode(), array.address, bytes_of(tensor), MEMORY_DEVICE))
        else:
            array = array_of(value, tensor)
            check(library().enginery_context_set_input_in(self._handle, name.encode(), array.ctypes.data, array.nbytes, MEMORY_HOST))
        self._bound[name] = array

    def set_output(self, name: str, array: object) -> None:
        """Writes the output there, to a NumPy array or a tensor on the engine's GPU, in every run until it is set again. Raises Error: invalid_input
        (another name, shape or dtype; not contiguous)."""
        if name not in self._outputs:
            raise Error("invalid_input", f"no output is called '{name}'; there is: {', '.join(self._outputs)}")
        tensor = self._outputs[name]
        if is_on_gpu(array):
            given = array_on_gpu("output", array, tensor, self.engine.info)
            check(library().enginery_context_set_output_in(self._handle, name.encode(), given.address, bytes_of(tensor), MEMORY_DEVICE))
            self._bound[name] = given
            return
        fits = isinstance(array, numpy.ndarray) and array.dtype == tensor.dtype and array.shape == tensor.shape
        if not fits or not array.flags.c_contiguous or not array.flags.writeable:
            raise Error("invalid_input", f"output '{name}' takes a contiguous, writeable array {tensor.dtype}{list(tensor.shape)}")
        check(library().enginery_context_set_output_in(self._handle, name.encode(), array.ctypes.data, array.nbytes, MEMORY_HOST))
        self._bound[name] = array

    def run(self) -> None:
        """Runs once and waits; other threads of the program go on meanwhile. Raises Error: usage (an input or output that was not set, named)."""
        check(library().enginery_context_run(self._handle))

    def enqueue(self, stream: object = None) -> None:
        """Gives one run to a stream and returns: PyTorch's (`torch.cuda.current_stream()`) or a CUstream's number; None is the GPU's default stream,
        and on a CPU the run is over at the return. On a GPU every tensor lies there. A stream that is being captured into a CUDA graph gets the run's
        kernels. What is bound, and this context, must stay until the stream has done it. Raises Error: invalid_input, usage."""
        check(library().enginery_context_enqueue(self._handle, getattr(stream, "cuda_stream", stream)))

    def output_shape(self, name: str) -> Tuple[int, ...]:
        """The output's shape as the last run made it; after `enqueue`, once the stream has done the work. Of one with `run_time_shape` that many
        elements stand at the beginning of its array, dense and row-major, with zeros behind them. Raises Error: invalid_input (another name), usage
        (before the first run)."""
        if name not in self._outputs:
            raise Error("invalid_input", f"no output is called '{name}'; there is: {', '.join(self._outputs)}")
        rank = len(self._outputs[name].shape)
        dims = (c_int64 * rank)()
        check(library().enginery_context_get_output_dims(self._handle, name.encode(), dims, rank))
        return tuple(dims)

    def _of_actual_shape(self, name: str, array: object) -> object:
        if not self._outputs[name].run_time_shape:
            return array
        shape = self.output_shape(name)
        return array.reshape(-1)[:math.prod(shape)].reshape(shape)

    def __call__(self, inputs: Mapping[str, object], outputs: Optional[Mapping[str, object]] = None) -> Dict[str, object]:
        """Binds the inputs and the outputs, new arrays where none is given, runs, and gives the outputs. Raises Error: invalid_input."""
        absent = [name for name in self._inputs if name not in inputs]
        if absent:
            raise Error("invalid_input", f"no array for input '{absent[0]}'")
        for name, value in inputs.items():
            self.set_input(name, value)
        beside = next((value for value in inputs.values() if is_on_gpu(value)), None)
        made = {name: empty_beside(beside, t) if beside is not None else numpy.empty(t.shape, t.dtype)
                for name, t in self._outputs.items() if name not in (outputs or {})}
        all_outputs = {**made, **(outputs or {})}
        for name, array in all_outputs.items():
            self.set_output(name, array)
        self.run()
        return {name: self._of_actual_shape(name, array) for name, array in all_outputs.items()}

    def profile(self, rounds: int = 10) -> List[Layer]:
        """Each layer's time alone, on the inputs of the last run. Raises Error: usage (before the first run), invalid_input."""
        layers: List[Layer] = []

        def report(_user, _index, layer):
            row = layer.contents
            layers.append(Layer(row.name.decode(), row.op.decode(), row.tactic.decode(), row.flops, row.bytes, row.median_us))

        check(library().enginery_context_profile(self._handle, rounds, PROFILE_FUNCTION(report), None))
        return layers
