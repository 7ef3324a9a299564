"""INT8's scales from arrays of the user's program, in the shape of TensorRT's calibrators."""
import ctypes
from typing import List, Mapping, Optional, Sequence, Union

import numpy

from ._build_library import BATCH_FUNCTION, BYTES_FUNCTION, READ_CACHE_FUNCTION, CalibratorStruct
from ._engine import DTYPES
from ._error import Error
from ._library import sized


class Calibrator:
    """What a build is calibrated on: derive from it, or give any object with these functions. What one raises ends the build and comes out of it."""

    def get_batch_size(self) -> int:
        """Rows that get_batch gives at once, above 0; the model takes its own number of them at a time."""
        raise NotImplementedError

    def get_batch(self, names: List[str]) -> Union[None, Sequence[object], Mapping[str, object]]:
        """The next arrays, by the inputs' names or in their order; of batch_size rows, or fewer for a last batch. None: there are no more."""
        raise NotImplementedError

    def read_calibration_cache(self) -> Optional[bytes]:
        """What an earlier build gave to write_calibration_cache, or a TensorRT table: get_batch is not called then."""
        return None

    def write_calibration_cache(self, cache: bytes) -> None:
        """Takes the histograms of what get_batch gave: with them another `calibrator_name` needs no data."""


def input_array(value: object, name: str, dtype: numpy.dtype, shape: Sequence[int]) -> numpy.ndarray:
    """The array of an input, contiguous. `shape` is of a whole batch. Raises Error: invalid_input."""
    if not isinstance(value, numpy.ndarray) and hasattr(value, "__dlpack__"):
        try:
            value = numpy.from_dlpack(value)
        except (RuntimeError, BufferError, TypeError) as error:
            raise Error("invalid_input", f"get_batch: input '{name}' cannot be read from this process's memory: {error}") from error
    array = numpy.asarray(value)
    fits = array.dtype == dtype and array.ndim == len(shape) and array.shape[1:] == tuple(shape[1:])
    if not fits or (shape and not 1 <= array.shape[0] <= shape[0]):
        raise Error("invalid_input", f"get_batch: input '{name}' takes {dtype}{list(shape)}, or fewer rows of it, not {array.dtype}{list(array.shape)}")
    return numpy.ascontiguousarray(array)


def arrays_of(given: Union[Sequence[object], Mapping[str, object]], names: List[str]) -> List[object]:
    """In the order of the names. Raises Error: invalid_input."""
    if isinstance(given, Mapping):
        absent = [name for name in names if name not in given]
        if absent:
            raise Error("invalid_input", f"get_batch: no array for input '{absent[0]}'")
        return [given[name] for name in names]
    if len(given) != len(names):
        raise Error("invalid_input", f"get_batch: {len(given)} arrays for the inputs {', '.join(names)}")
    return list(given)


class CalledCalibrator:
    """A calibrator as the library calls it: `struct` for the build's options. What it raises is kept in `raised`."""

    def __init__(self, calibrator: object, raised: list):
        self.calibrator, self.raised = calibrator, raised
        self.held: List[object] = []  # while the library may read them
        self.struct = sized(CalibratorStruct)
        self.struct.batch_size = calibrator.get_batch_size()
        self.struct.get_batch = BATCH_FUNCTION(self._kept(self._get_batch))
        self.struct.read_cache = READ_CACHE_FUNCTION(self._kept(self._read_cache))
        self.struct.write_cache = BYTES_FUNCTION(self._kept(self._write_cache))

    def _kept(self, function):
        def call(*arguments):
            try:
                return function(*arguments)
            except BaseException as error:  # pylint: disable=broad-except  raised again when the build is over
                self.raised.append(error)
                return -1
        return call

    def _get_batch(self, _user, inputs, count, data, sizes):
        infos = [inputs[i] for i in range(count)]
        names = [info.name.decode() for info in infos]
        given = self.calibrator.get_batch(names)
        if given is None:
            return 0
        self.held = [input_array(value, name, numpy.dtype(DTYPES[info.type]), info.dims[:info.rank])
                     for value, name, info in zip(arrays_of(given, names), names, infos)]
        for i, array in enumerate(self.held):
            data[i], sizes[i] = array.ctypes.data, array.nbytes
        return 1

    def _read_cache(self, _user, data, size):
        cache = self.calibrator.read_calibration_cache()
        if cache:
            self.held = [ctypes.create_string_buffer(bytes(cache), len(cache))]
            data[0], size[0] = ctypes.addressof(self.held[0]), len(cache)
        return 0

    def _write_cache(self, _user, data, count):
        self.calibrator.write_calibration_cache(ctypes.string_at(data, count))
        return 0
