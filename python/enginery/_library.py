"""libenginery.so through ctypes, which lets other threads run during a call. The declarations follow enginery/enginery.h."""
import ctypes
import functools
import os
import pathlib
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p

from ._error import STATUS_CODES, Error

NAME = "libenginery.so.0"


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("keys_folder", c_char_p), ("threads", c_int32), ("device_index", c_int32), ("borrow_memory", c_int32),
                ("map_file", c_int32)]


class EngineInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("sku", c_char_p), ("digest", c_char_p), ("signer", c_char_p), ("inputs", c_int32),
                ("outputs", c_int32), ("layers", c_int32), ("threads", c_int32), ("weights_bytes", c_int64), ("context_bytes", c_int64),
                ("median_us", c_double), ("device", c_char_p), ("device_index", c_int32)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("dims", POINTER(c_int64)), ("rank", c_int32), ("type", c_int32), ("is_input", c_int32),
                ("bytes", c_size_t), ("run_time_sizes", c_int32)]


class LayerInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("op", c_char_p), ("tactic", c_char_p), ("flops", c_double), ("bytes", c_double),
                ("median_us", c_double)]


MEMORY_HOST, MEMORY_DEVICE = 0, 1
PROFILE_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p, c_int32, POINTER(LayerInfo))

# Function -> its parameters; all give a status.
FUNCTIONS = {
    "enginery_engine_load_file": [c_char_p, POINTER(LoadOptions), POINTER(c_void_p)],
    "enginery_engine_load_memory": [c_char_p, c_size_t, POINTER(LoadOptions), POINTER(c_void_p)],
    "enginery_engine_destroy": [c_void_p],
    "enginery_engine_get_info": [c_void_p, POINTER(EngineInfo)],
    "enginery_engine_get_tensor": [c_void_p, c_int32, POINTER(TensorInfo)],
    "enginery_context_create": [c_void_p, POINTER(c_void_p)],
    "enginery_context_destroy": [c_void_p],
    "enginery_context_set_input": [c_void_p, c_char_p, c_void_p, c_size_t],
    "enginery_context_set_output": [c_void_p, c_char_p, c_void_p, c_size_t],
    "enginery_context_set_input_in": [c_void_p, c_char_p, c_void_p, c_size_t, c_int32],
    "enginery_context_set_output_in": [c_void_p, c_char_p, c_void_p, c_size_t, c_int32],
    "enginery_context_run": [c_void_p],
    "enginery_context_enqueue": [c_void_p, c_void_p],
    "enginery_context_get_output_dims": [c_void_p, c_char_p, POINTER(c_int64), c_int32],
    "enginery_context_profile": [c_void_p, c_int32, PROFILE_FUNCTION, c_void_p],
}
TEXTS = {"enginery_version": [], "enginery_last_error": [], "enginery_type_name": [c_int32]}


def load_library(file: str, variable: str, functions, texts):
    """The library that `variable` names, else the one beside this package, then where the system looks. `functions` give a status, `texts` a
    text. Raises Error: not_found."""
    named = os.environ.get(variable)
    reasons = []
    for path in [named] if named else [str(pathlib.Path(__file__).parent / file), file]:
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
            continue
        for names, result in ((functions, c_int32), (texts, c_char_p)):
            for name, parameters in names.items():
                getattr(loaded, name).argtypes = parameters
                getattr(loaded, name).restype = result
        return loaded
    raise Error("not_found", f"{file} is not here ({'; '.join(reasons)}); install it (cmake --install, or its Debian package) or name the file in "
                             f"{variable}")


@functools.cache
def library():
    return load_library(NAME, "ENGINERY_LIBRARY", FUNCTIONS, TEXTS)


def check(status: int) -> None:
    if status == 0:
        return
    raise Error(STATUS_CODES.get(status, "failed"), library().enginery_last_error().decode())


def version() -> str:
    """The library's version."""
    return library().enginery_version().decode()


def sized(struct):
    """A struct that says how much of it this package knows."""
    made = struct()
    made.struct_size = ctypes.sizeof(struct)
    return made


__all__ = ["EngineInfo", "LayerInfo", "LoadOptions", "MEMORY_DEVICE", "MEMORY_HOST", "PROFILE_FUNCTION", "TensorInfo", "byref", "check", "library",
           "load_library", "sized", "version"]
