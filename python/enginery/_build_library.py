"""libenginery-build.so through ctypes, which lets other threads run during a call. The declarations follow enginery/build.h."""
import ctypes
import functools
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from ._error import STATUS_CODES, Error
from ._library import TensorInfo, load_library


class Attribute(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class CountedAxis(ctypes.Structure):
    """enginery_counted_axis."""
    _fields_ = [("axis", c_int64), ("count", c_uint64)]


class Layer(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("op", c_char_p), ("name", c_char_p), ("attributes", POINTER(Attribute)), ("inputs", POINTER(c_uint64)),
                ("output_names", POINTER(c_char_p)), ("precision", c_char_p), ("output_type", c_char_p), ("attribute_count", c_int32),
                ("input_count", c_int32), ("output_name_count", c_int32)]


BYTES_FUNCTION = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t)
PROGRESS_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64)
CANCELLED_FUNCTION = ctypes.CFUNCTYPE(c_int32, c_void_p)

BATCH_FUNCTION = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(TensorInfo), c_int32, POINTER(c_void_p), POINTER(c_size_t))
READ_CACHE_FUNCTION = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(c_void_p), POINTER(c_size_t))


class CalibratorStruct(ctypes.Structure):
    """enginery_calibrator."""
    _fields_ = [("struct_size", c_size_t), ("batch_size", c_int32), ("get_batch", BATCH_FUNCTION), ("read_cache", READ_CACHE_FUNCTION),
                ("write_cache", BYTES_FUNCTION), ("user", c_void_p)]


class BuildOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("sku", c_char_p), ("precisions", c_char_p), ("shapes", c_char_p),
                ("without_sources", c_char_p), ("limits", c_char_p), ("timing_cache", c_char_p), ("catalog", c_char_p), ("keys", c_char_p),
                ("command", c_char_p), ("progress", PROGRESS_FUNCTION), ("cancelled", CANCELLED_FUNCTION), ("user", c_void_p), ("level", c_int32),
                ("threads", c_int32), ("aux_streams", c_int32), ("rebuild", c_int32), ("provisional", c_int32), ("layer_precisions", c_char_p),
                ("calibration", c_char_p), ("calibration_data", POINTER(c_char_p)), ("calibration_preprocess", c_char_p),
                ("calibrator", POINTER(CalibratorStruct)), ("calibrator_name", c_char_p), ("calibration_rows", c_int64),
                ("calibration_data_count", c_int32), ("memory_pools", c_char_p), ("bias_correction", c_int32)]


class BuildReport(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("engine_bytes", c_uint64), ("timings_measured", c_uint64), ("timings_reused", c_uint64),
                ("latency_ms", c_double), ("error", c_double), ("from_catalog", c_int32)]


# Function -> its parameters; all give a status.
FUNCTIONS = {
    "enginery_network_create": [c_char_p, POINTER(c_void_p)],
    "enginery_network_destroy": [c_void_p],
    "enginery_network_add_input": [c_void_p, c_char_p, c_int32, POINTER(c_int64), c_int32, POINTER(c_uint64)],
    "enginery_network_add_constant": [c_void_p, c_char_p, c_int32, POINTER(c_int64), c_int32, c_void_p, c_size_t, POINTER(c_uint64)],
    "enginery_network_add_layer": [c_void_p, POINTER(Layer), POINTER(c_uint64), c_int32, POINTER(c_int32)],
    "enginery_network_mark_output": [c_void_p, c_uint64, c_char_p],
    "enginery_network_mark_counted_output": [c_void_p, c_uint64, c_char_p, POINTER(CountedAxis), c_int32],
    "enginery_network_get_tensor": [c_void_p, c_uint64, POINTER(TensorInfo)],
    "enginery_network_save": [c_void_p, BYTES_FUNCTION, c_void_p],
    "enginery_build_options_init": [POINTER(BuildOptions)],
    "enginery_build_network": [c_void_p, POINTER(BuildOptions), BYTES_FUNCTION, c_void_p, POINTER(BuildReport)],
    "enginery_build_file": [c_char_p, POINTER(BuildOptions), BYTES_FUNCTION, c_void_p, POINTER(BuildReport)],
}
TEXTS = {"enginery_build_version": [], "enginery_build_last_error": [], "enginery_build_operator": [c_int32]}


@functools.cache
def build_library():
    return load_library("libenginery-build.so.0", "ENGINERY_BUILD_LIBRARY", FUNCTIONS, TEXTS)


def check_build(status: int) -> None:
    if status != 0:
        raise Error(STATUS_CODES.get(status, "failed"), build_library().enginery_build_last_error().decode())


class TakenBytes:
    """Where a call of the library leaves bytes: `function` for the call, `content` afterwards."""

    def __init__(self) -> None:
        self.content = b""
        self.function = BYTES_FUNCTION(self._take)

    def _take(self, _user, data, count) -> int:
        self.content = ctypes.string_at(data, count)
        return 0
