"""Builds in this process, through libenginery-build."""
import dataclasses
import os
from ctypes import byref, c_char_p, pointer
from typing import Callable, Dict, Mapping, Optional, Sequence, Union

from ._build_library import (CANCELLED_FUNCTION, PROGRESS_FUNCTION, BuildOptions, BuildReport, TakenBytes, build_library, check_build)
from ._calibrator import CalledCalibrator, Calibrator
from ._command import Words, joined, shapes_text
from ._engine import Engine, load
from ._library import sized
from ._network import Network


@dataclasses.dataclass
class BuildConfig:
    """How to build; what is left as it is has the command's defaults.

    precisions: arithmetic to allow in addition to fp32. layer_precisions: what single layers compute in, or else in fp32, {"head/*": "fp32"}. level: 0 measures nothing, 5 is exhaustive. shapes: the inputs' dimensions by name.
    without_sources: of tactics, that are left out. limits: of memory and work, {"value_mib": 8192}. memory_pools: the most bytes
    of scratch memory that a layer's tactic may take, {"workspace": 64 << 20}. timing_cache: a file, or "none"; else the
    catalog. catalog, keys: folders, the user's by default. command: the program `enginery`, in whose processes tactics are tried, so that one that
    faults does not end this one. For "int8" among the precisions, where the model has no scales of its own, one of: calibration, a TensorRT table or
    histograms (`enginery calibrate`); calibration_data, folders of pictures, pictures, .npy and .npz files ("[NAME=]PATH"), at most calibration_rows
    rows of them, pictures prepared as the file calibration_preprocess says; calibrator, an object as `Calibrator`. calibrator_name: what makes
    scales of histograms, "mse" where it is not said, "entropy", "entropy2", "minmax", "percentile" or "legacy". bias_correction: of calibration_data or calibrator,
    the means of channels are kept with the histograms, and biases corrected by them for the rounding of weights. progress: called with phase, done and total. cancelled: asked often, True ends the build.
    """
    name: Optional[str] = None
    precisions: Words = "fp32"
    level: int = 3
    threads: int = 0
    aux_streams: int = -1
    shapes: Optional[Mapping[str, Sequence[int]]] = None
    without_sources: Words = ()
    limits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    timing_cache: Optional[os.PathLike] = None
    catalog: Optional[os.PathLike] = None
    keys: Optional[os.PathLike] = None
    command: Optional[os.PathLike] = None
    rebuild: bool = False
    provisional: bool = False
    progress: Optional[Callable[[str, int, int], None]] = None
    cancelled: Optional[Callable[[], bool]] = None
    layer_precisions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    calibration: Optional[os.PathLike] = None
    calibration_data: Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]] = ()
    calibration_preprocess: Optional[os.PathLike] = None
    calibration_rows: int = 0
    calibrator: Optional[Calibrator] = None
    calibrator_name: Optional[str] = None
    memory_pools: Mapping[str, int] = dataclasses.field(default_factory=dict)
    bias_correction: bool = False


def set_calibration(options: BuildOptions, config: BuildConfig, raised: list) -> list:
    """Gives what must stay until the build is over."""
    data = [config.calibration_data] if isinstance(config.calibration_data, (str, os.PathLike)) else config.calibration_data
    paths = (c_char_p * max(len(data), 1))(*map(os.fsencode, data))
    options.calibration, options.calibration_preprocess = encoded(config.calibration), encoded(config.calibration_preprocess)
    options.calibration_data, options.calibration_data_count, options.calibration_rows = paths, len(data), config.calibration_rows
    options.calibrator_name, options.bias_correction = encoded(config.calibrator_name), int(config.bias_correction)
    if config.calibrator is None:
        return [paths]
    called = CalledCalibrator(config.calibrator, raised)
    options.calibrator = pointer(called.struct)
    return [paths, called]


def encoded(text: object) -> Optional[bytes]:
    return os.fsencode(text) if text else None


class Builder:
    """Builds engines for a device of this machine, one at a time. `report` says what became of the last build."""

    def __init__(self, config: Optional[BuildConfig] = None):
        self.config = config or BuildConfig()
        self.report: Dict[str, Union[int, float, bool]] = {}

    def build(self, model: Union[Network, str, os.PathLike], target: str = "this") -> bytes:
        """The engine file's bytes, for `enginery.load` or a file, of a network or of a model file. Other threads of the program run meanwhile; an
        exception of a callback ends the build and comes out of here. Raises Error: invalid_input (the network, with its layer; an option),
        incompatible, unreachable (the device), storage, timed_out (cancelled), failed."""
        raised = []
        options = self._options(target, raised)
        report, taken = sized(BuildReport), TakenBytes()
        if isinstance(model, Network):
            status = build_library().enginery_build_network(model._handle, byref(options), taken.function, None, byref(report))
        else:
            status = build_library().enginery_build_file(os.fsencode(model), byref(options), taken.function, None, byref(report))
        if raised:
            raise raised[0]
        check_build(status)
        self.report = {name: getattr(report, name) for name, _ in BuildReport._fields_ if name != "struct_size"}
        self.report["from_catalog"] = bool(report.from_catalog)
        return taken.content

    def build_engine(self, model: Union[Network, str, os.PathLike], target: str = "this") -> Engine:
        """The same, loaded here."""
        content = self.build(model, target)
        engine = load(content, keys=self.config.keys)
        engine.content, engine.report = content, self.report
        return engine

    def _options(self, target: str, raised: list) -> BuildOptions:
        config, options = self.config, sized(BuildOptions)
        check_build(build_library().enginery_build_options_init(byref(options)))
        options.sku, options.name = encoded(target), encoded(config.name)
        options.precisions, options.without_sources = encoded(joined(config.precisions)), encoded(joined(config.without_sources))
        options.shapes = encoded("".join(shapes_text(config.shapes)).removeprefix("--shapes="))
        options.limits = encoded(",".join(f"{name}={value}" for name, value in config.limits.items()))
        options.memory_pools = encoded(",".join(f"{pool}:{size}B" for pool, size in config.memory_pools.items()))
        options.layer_precisions = encoded(",".join(f"{layer}:{precision}" for layer, precision in config.layer_precisions.items()))
        options.timing_cache, options.catalog = encoded(config.timing_cache), encoded(config.catalog)
        options.keys, options.command = encoded(config.keys), encoded(config.command)
        options.level, options.threads, options.aux_streams = config.level, config.threads, config.aux_streams
        options.rebuild, options.provisional = int(config.rebuild), int(config.provisional)

        def progress(_user, phase, done, total):
            try:
                if config.progress and not raised:
                    config.progress(phase.decode(), done, total)
            except BaseException as error:  # pylint: disable=broad-except  raised again when the call is over
                raised.append(error)

        def cancelled(_user):
            try:
                return int(bool(raised) or bool(config.cancelled and config.cancelled()))
            except BaseException as error:  # pylint: disable=broad-except
                raised.append(error)
                return 1

        options.held = set_calibration(options, config, raised)
        options.progress, options.cancelled = PROGRESS_FUNCTION(progress), CANCELLED_FUNCTION(cancelled)
        return options
