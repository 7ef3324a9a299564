"""Networks that are put together layer by layer: libenginery-build's, with the names that users of TensorRT know."""
import dataclasses
from ctypes import byref, c_char_p, c_int32, c_int64, c_uint64, c_void_p
from typing import Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from ._build_library import Attribute, CountedAxis, Layer, TakenBytes, build_library, check_build
from ._engine import DTYPES
from ._error import Error
from ._library import TensorInfo, library, sized

MAX_RESULTS = 4096
Value = Union[bool, int, float, str, Sequence[int]]
Sizes = Sequence[int]


def attribute_text(value: Value) -> str:
    """An attribute's value as the library reads it. Floats have float32's digits."""
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, (float, numpy.floating)):
        return str(numpy.float32(value))
    if isinstance(value, (int, numpy.integer)):
        return str(int(value))
    return "[" + ",".join(str(int(v)) for v in value) + "]"


def sizes_array(dims: Sizes):
    return (c_int64 * max(len(dims), 1))(*dims)


def type_number(dtype: Union[str, type, numpy.dtype]) -> int:
    """The library's number of an element type: by its name ("bfloat16" too), or NumPy's dtype. Raises Error: invalid_input."""
    names = [library().enginery_type_name(i).decode() for i in range(len(DTYPES))]
    word = dtype if isinstance(dtype, str) and dtype in names else numpy.dtype(dtype).name
    word = "boolean" if word == "bool" else word
    if word not in names:
        raise Error("invalid_input", f"there is no element type '{word}'")
    return names.index(word)


@dataclasses.dataclass(frozen=True)
class NetworkTensor:
    """A value of a network: an input, a constant, a layer's result. A shape's -1 is given when the network is built."""
    network: "Network"
    id: int

    def _info(self) -> TensorInfo:
        info = sized(TensorInfo)
        check_build(build_library().enginery_network_get_tensor(self.network._handle, self.id, byref(info)))
        return info

    @property
    def name(self) -> str:
        return self._info().name.decode()

    @property
    def shape(self) -> Tuple[int, ...]:
        info = self._info()
        return tuple(info.dims[:info.rank])

    @property
    def type(self) -> str:
        return library().enginery_type_name(self._info().type).decode()


@dataclasses.dataclass(frozen=True)
class CountedTensor:
    """A result of which each run tells how much of it there is: along `axis` the first `count` (an int64 scalar), zeros behind them. mark_output
    gives it its actual size; layers that read `values` see all of it."""
    values: NetworkTensor
    count: NetworkTensor
    axis: int


Input = Optional[NetworkTensor]


class Network:
    """A network; each add_ function adds one layer and gives its result.

    Every function that adds a layer takes `name`, `precision` ("float16", "bfloat16": the layer computes in it) and `output_type` (its result is
    converted to it). Raises Error: invalid_input that names the layer; what a failed call was to add is not there.
    """

    def __init__(self, name: str = "network"):
        self._handle = c_void_p()
        check_build(build_library().enginery_network_create(name.encode(), byref(self._handle)))

    def __del__(self):
        if getattr(self, "_handle", None):
            build_library().enginery_network_destroy(self._handle)

    def add_input(self, name: str, dtype: Union[str, type, numpy.dtype], shape: Sizes) -> NetworkTensor:
        tensor = c_uint64()
        check_build(build_library().enginery_network_add_input(self._handle, name.encode(), type_number(dtype), sizes_array(shape), len(shape),
                                                               byref(tensor)))
        return NetworkTensor(self, tensor.value)

    def add_constant(self, array: object, name: str = "") -> NetworkTensor:
        """Weights or any other known value: an array, or what NumPy makes one of; it is copied."""
        values = numpy.asarray(array)
        values = numpy.ascontiguousarray(values).reshape(values.shape)
        tensor = c_uint64()
        check_build(build_library().enginery_network_add_constant(self._handle, name.encode(), type_number(values.dtype), sizes_array(values.shape),
                                                                  values.ndim, values.ctypes.data, values.nbytes, byref(tensor)))
        return NetworkTensor(self, tensor.value)

    def mark_output(self, tensor: Union[NetworkTensor, CountedTensor], name: Optional[str] = None) -> None:
        word = name.encode() if name else None
        if isinstance(tensor, CountedTensor):
            axis = CountedAxis(tensor.axis, tensor.count.id)
            check_build(build_library().enginery_network_mark_counted_output(self._handle, tensor.values.id, word, byref(axis), 1))
        else:
            check_build(build_library().enginery_network_mark_output(self._handle, tensor.id, word))

    def save(self) -> bytes:
        """The network as a file, which every verb of the command and `enginery.build` take like a model."""
        taken = TakenBytes()
        check_build(build_library().enginery_network_save(self._handle, taken.function, None))
        return taken.content

    def add_layer(self, op: str, inputs: Sequence[Input], attributes: Optional[Mapping[str, Value]] = None, *, name: Optional[str] = None,
                  precision: Optional[str] = None, output_type: Optional[str] = None, output_names: Sequence[str] = ()) -> List[NetworkTensor]:
        """Any operator (`operators()`) with all of its results; None is an optional input that is absent."""
        texts = [(key.encode(), attribute_text(value).encode()) for key, value in (attributes or {}).items()]
        names = [word.encode() for word in output_names]
        layer = sized(Layer)
        layer.op, layer.name = op.encode(), name.encode() if name else None
        layer.attributes, layer.attribute_count = (Attribute * max(len(texts), 1))(*texts), len(texts)
        layer.inputs = (c_uint64 * max(len(inputs), 1))(*(0 if t is None else t.id for t in inputs))
        layer.input_count = len(inputs)
        layer.output_names, layer.output_name_count = (c_char_p * max(len(names), 1))(*names), len(names)
        layer.precision = precision.encode() if precision else None
        layer.output_type = output_type.encode() if output_type else None
        made, count = (c_uint64 * MAX_RESULTS)(), c_int32()
        check_build(build_library().enginery_network_add_layer(self._handle, byref(layer), made, MAX_RESULTS, byref(count)))
        return [NetworkTensor(self, made[i]) for i in range(count.value)]

    def _add(self, op: str, inputs: Sequence[Input], options: Mapping, **attributes: Value) -> NetworkTensor:
        return self.add_layer(op, inputs, attributes, **options)[0]

    def _shape(self, values: Sizes) -> NetworkTensor:
        return self.add_constant(numpy.asarray(values, numpy.int64))

    @staticmethod
    def _window(rank: int, strides: Sizes, padding: Sizes, dilations: Sizes, padding_end: Sizes) -> Dict[str, Sizes]:
        begin = list(padding) or [0] * rank
        return {"strides": list(strides) or [1] * rank, "dilations": list(dilations) or [1] * rank, "pads_begin": begin,
                "pads_end": list(padding_end) or begin}

    def add_convolution(self, x: NetworkTensor, weights: NetworkTensor, bias: Input = None, *, strides: Sizes = (), padding: Sizes = (),
                        dilations: Sizes = (), padding_end: Sizes = (), groups: int = 1, **options) -> NetworkTensor:
        """x [N, C, spatial...], weights [K, C/groups, kernel...], bias [K]."""
        window = self._window(len(weights.shape) - 2, strides, padding, dilations, padding_end)
        return self._add("conv", [x, weights] + ([bias] if bias else []), options, groups=groups, **window)

    def add_deconvolution(self, x: NetworkTensor, weights: NetworkTensor, bias: Input = None, *, strides: Sizes = (), padding: Sizes = (),
                          dilations: Sizes = (), padding_end: Sizes = (), output_padding: Sizes = (), groups: int = 1, **options) -> NetworkTensor:
        """The transposed convolution, of weights [C, K/groups, kernel...]."""
        rank = len(weights.shape) - 2
        window = self._window(rank, strides, padding, dilations, padding_end)
        return self._add("deconv", [x, weights] + ([bias] if bias else []), options, groups=groups, output_padding=list(output_padding) or [0] * rank,
                         **window)

    def add_matrix_multiply(self, a: NetworkTensor, b: NetworkTensor, **options) -> NetworkTensor:
        return self._add("matmul", [a, b], options)

    def add_fully_connected(self, x: NetworkTensor, weights: NetworkTensor, bias: Input = None, **options) -> NetworkTensor:
        """x [M, K] * weights [N, K]^T + bias [N]."""
        return self._add("gemm", [x, weights] + ([bias] if bias else []), options, transpose_b=True)

    def add_elementwise(self, a: NetworkTensor, b: NetworkTensor, kind: str, **options) -> NetworkTensor:
        """kind: "add", "sub", "mul", "div", "pow", "min", "max", "equal", "less", ..."""
        return self._add("binary", [a, b], options, kind=kind)

    def add_activation(self, x: NetworkTensor, kind: str, alpha: float = 0.0, beta: float = 0.0, **options) -> NetworkTensor:
        """kind: "relu", "sigmoid", "tanh", "gelu_erf", "clip" (from alpha to beta), ..."""
        return self._add("act", [x], options, kind=kind, alpha=float(alpha), beta=float(beta))

    def add_unary(self, x: NetworkTensor, kind: str, **options) -> NetworkTensor:
        """kind: "exp", "sqrt", "erf", "neg", ..."""
        return self._add("unary", [x], options, kind=kind)

    def add_pooling(self, x: NetworkTensor, kind: str, window: Sizes, *, strides: Sizes = (), padding: Sizes = (), padding_end: Sizes = (),
                    ceil_mode: bool = False, count_padding: bool = False, **options) -> NetworkTensor:
        """kind: "max" or "average"."""
        places = self._window(len(window), strides, padding, (), padding_end)
        return self._add("pool", [x], options, kind=kind, kernel=window, ceil_mode=ceil_mode, count_padding=count_padding, **places)

    def add_global_pooling(self, x: NetworkTensor, kind: str = "average", **options) -> NetworkTensor:
        return self._add("global_pool", [x], options, kind=kind)

    def add_normalization(self, x: NetworkTensor, scale: NetworkTensor, bias: Input = None, *, axis: int = -1, epsilon: float = 1e-5,
                          **options) -> NetworkTensor:
        """Over the dimensions from `axis` on; scale and bias have their dims."""
        return self._add("layer_norm", [x, scale] + ([bias] if bias else []), options, axis=axis, epsilon=epsilon)

    def add_batch_normalization(self, x: NetworkTensor, scale: NetworkTensor, bias: NetworkTensor, mean: NetworkTensor, variance: NetworkTensor, *,
                                epsilon: float = 1e-5, **options) -> NetworkTensor:
        """A trained one: each of scale, bias, mean and variance [C]."""
        return self._add("batch_norm", [x, scale, bias, mean, variance], options, epsilon=epsilon)

    def add_softmax(self, x: NetworkTensor, axis: int = -1, **options) -> NetworkTensor:
        return self._add("softmax", [x], options, axis=axis)

    def add_reshape(self, x: NetworkTensor, shape: Sizes, **options) -> NetworkTensor:
        """0 keeps the input's size, one -1 is what is left."""
        return self._add("reshape", [x, self._shape(shape)], options)

    def add_transpose(self, x: NetworkTensor, permutation: Sizes, **options) -> NetworkTensor:
        return self._add("transpose", [x], options, permutation=permutation)

    def add_shuffle(self, x: NetworkTensor, permutation: Sizes, shape: Sizes, **options) -> NetworkTensor:
        """A transposition, then a reshape."""
        return self.add_reshape(self.add_transpose(x, permutation), shape, **options)

    def add_concatenation(self, inputs: Sequence[NetworkTensor], axis: int = 1, **options) -> NetworkTensor:
        return self._add("concat", list(inputs), options, axis=axis)

    def add_slice(self, x: NetworkTensor, starts: Sizes, ends: Sizes, steps: Sizes = (), **options) -> NetworkTensor:
        """Of every dimension the elements start, start + step, ... before end."""
        lists = [starts, ends, range(len(starts)), list(steps) or [1] * len(starts)]
        return self._add("slice", [x, *(self._shape(list(values)) for values in lists)], options)

    def add_reduce(self, x: NetworkTensor, kind: str, axes: Sizes = (), keep_dims: bool = True, **options) -> NetworkTensor:
        """kind: "sum", "mean", "max", "min", "prod", ...; no axes: over all of them."""
        return self._add("reduce", [x], options, kind=kind, axes=axes, keep_dims=keep_dims)

    def add_gather(self, data: NetworkTensor, indices: NetworkTensor, axis: int = 0, **options) -> NetworkTensor:
        return self._add("gather", [data, indices], options, axis=axis)

    def add_resize(self, x: NetworkTensor, shape: Sizes, mode: str = "linear", coordinates: str = "half_pixel", **options) -> NetworkTensor:
        """mode: "nearest", "linear" or "cubic"; coordinates as ONNX calls them."""
        return self._add("resize", [x, None, self._shape(shape)], options, mode=mode, coordinates=coordinates)

    def add_attention(self, q: NetworkTensor, k: NetworkTensor, v: NetworkTensor, scale: float, causal: bool = False, **options) -> NetworkTensor:
        """softmax(scale * q k^T) v; q [N, heads, queries, depth], k [N, heads, keys, depth], v [N, heads, keys, width]; `causal` hides later keys."""
        shapes = [t.shape for t in (q, k, v)]
        fits = all(len(s) == 4 for s in shapes) and len({s[:2] for s in shapes}) == 1 and shapes[0][3] == shapes[1][3] and shapes[1][2] == shapes[2][2]
        if not fits:
            raise Error("invalid_input", f"add_attention: shapes {shapes[0]}, {shapes[1]} and {shapes[2]} do not fit")
        (n, heads, queries, depth), keys, width = shapes[0], shapes[1][2], shapes[2][3]

        def places(rows: int, columns: int) -> List[int]:
            return [0, heads * rows * columns, rows * columns, columns, 1]

        return self._add("attention", [q, k, v], options, batch=[n, heads], queries=queries, keys=keys, depth=depth, width=width,
                         output=[n, heads, queries, width], q=places(queries, depth), k=places(keys, depth), v=places(keys, width),
                         y=places(queries, width), scale=float(scale), causal=causal)

    def add_cast(self, x: NetworkTensor, dtype: str, **options) -> NetworkTensor:
        return self._add("cast", [x], options, to=dtype)

    def add_select(self, condition: NetworkTensor, a: NetworkTensor, b: NetworkTensor, **options) -> NetworkTensor:
        """condition ? a : b, element by element."""
        return self._add("select", [condition, a, b], options)


    def add_non_zero(self, x: NetworkTensor, **options) -> CountedTensor:
        """The positions of the elements that are not zero, int64 [rank, elements of x], in row-major order; counted along axis 1."""
        values, count = self.add_layer("find_non_zero", [x], **options)
        return CountedTensor(values, count, 1)

    def add_nms(self, boxes: NetworkTensor, scores: NetworkTensor, max_boxes_per_class: int, iou_threshold: float = 0.0,
                score_threshold: Optional[float] = None, centers: bool = False, **options) -> CountedTensor:
        """Non-maximum suppression of boxes [N, B, 4] with scores [N, C, B]: rows (picture, class, box) of the chosen ones, counted along axis 0.
        Boxes are two opposite corners (y, x, y, x), or with `centers` centre and size (x, y, width, height)."""
        thresholds = [iou_threshold] + ([] if score_threshold is None else [score_threshold])
        numbers = [self._shape([max_boxes_per_class])] + [self.add_constant(numpy.asarray([t], numpy.float32)) for t in thresholds]
        values, count = self.add_layer("non_max_suppression", [boxes, scores, *numbers], {"centers": centers}, **options)
        return CountedTensor(values, count, 0)

    def add_compress(self, x: NetworkTensor, condition: NetworkTensor, axis: int = 0, **options) -> CountedTensor:
        """Along `axis` the elements at which the vector `condition` is not zero, counted along it."""
        begin = f"{options['name']}/" if options.get("name") else ""
        places = self.add_non_zero(condition, name=begin + "find_non_zero")
        flat = self._add("reshape", [places.values, self.add_constant(numpy.asarray([-1], numpy.int64), begin + "constant")], {"name": begin + "reshape"})
        values = self.add_gather(x, flat, axis, **options)
        return CountedTensor(values, places.count, axis % len(x.shape))


def operators() -> List[str]:
    """The words that add_layer takes."""
    words: List[str] = []
    while True:
        word = build_library().enginery_build_operator(len(words))
        if word is None:
            return words
        words.append(word.decode())
