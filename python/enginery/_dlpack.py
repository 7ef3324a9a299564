"""Where the elements of an array on a GPU are, as its library says through DLPack: nothing is copied, and no library of the GPU is needed here."""
import ctypes
import dataclasses
import sys
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Tuple

from ._error import Error

CUDA = 2  # DLPack's number of the kind of device
DEFAULT_STREAM = 1  # the legacy default stream, which enginery_context_run follows


class Device(ctypes.Structure):
    _fields_ = [("kind", c_int32), ("index", c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class ArrayInfo(ctypes.Structure):
    """DLTensor, with which a capsule's struct begins."""
    _fields_ = [("data", c_void_p), ("device", Device), ("rank", c_int32), ("dtype", DataType), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}

capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]


@dataclasses.dataclass(frozen=True)
class DeviceArray:
    """An array's elements. `type` is the engines' name of theirs; `owner` keeps them."""
    address: int
    shape: Tuple[int, ...]
    type: str
    contiguous: bool
    index: int
    owner: object


def is_on_gpu(value: object) -> bool:
    return hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) == CUDA


def is_dense(shape: Tuple[int, ...], strides: Tuple[int, ...]) -> bool:
    """Whether elements lie one after the other, in row-major order."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def device_array(value: object, **options) -> DeviceArray:
    """`options` are those of `__dlpack__`. Raises what it raises."""
    capsule = value.__dlpack__(**options)
    info = ArrayInfo.from_address(capsule_pointer(capsule, b"dltensor"))
    shape = tuple(info.shape[:info.rank])
    contiguous = not info.strides or 0 in shape or is_dense(shape, tuple(info.strides[:info.rank]))
    word = CODES.get(info.dtype.code, "unknown") + (f"x{info.dtype.lanes}" if info.dtype.lanes != 1 else "")
    name = "boolean" if word == "bool" else f"{word}{info.dtype.bits}"
    return DeviceArray((info.data or 0) + info.byte_offset, shape, name, contiguous, info.device.index, (value, capsule))


def array_type(tensor) -> str:
    """The elements of an array for the input or output: its own, or bytes of types that libraries do not give each other."""
    return tensor.dtype.name if tensor.type.startswith("float8") or tensor.type in ("int4", "uint4") else tensor.type


def array_on_gpu(role: str, value: object, tensor, engine_info) -> DeviceArray:
    """The array of an input or output that lies on the engine's GPU. What its library's current stream was given before is over before anything that
    the device's default stream is given from now on. Raises Error: invalid_input."""
    try:
        array = device_array(value, stream=DEFAULT_STREAM)
    except (RuntimeError, BufferError, TypeError, ValueError) as error:
        raise Error("invalid_input", f"{role} '{tensor.name}' cannot be used where it is: {error}") from error
    if engine_info["device"] != "cuda" or array.index != engine_info["device_index"]:
        raise Error("invalid_input", f"{role} '{tensor.name}' lies on GPU {array.index}, the engine runs on {engine_info['device']} "
                                     f"{engine_info['device_index']}")
    wanted = array_type(tensor)
    if array.type != wanted or array.shape != tensor.shape or not array.contiguous:
        raise Error("invalid_input", f"{role} '{tensor.name}' takes contiguous {wanted}{list(tensor.shape)} on a GPU, not "
                                     f"{'' if array.contiguous else 'strided '}{array.type}{list(array.shape)}")
    return array


def empty_beside(value: object, tensor) -> object:
    """A new array for an output on the GPU of an input, of the same library. Raises Error: usage (of another library than PyTorch)."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        raise Error("usage", f"give an array for output '{tensor.name}': it can be made here for PyTorch's tensors alone")
    return torch.empty(tensor.shape, dtype=getattr(torch, "bool" if tensor.type == "boolean" else array_type(tensor)), device=value.device)
