// Convolutions and poolings. ONNX Conv-11, ConvTranspose-11, MaxPool-12, AveragePool-19,
// Global*Pool-1, LpPool-18.
#include <limits>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

// The window of a convolution or pooling: one entry a spatial dimension.
struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads_begin, pads_end;
};

std::vector<int64_t> per_dimension(NodeReader& node, const std::string& name, size_t n,
                                   int64_t otherwise) {
  std::vector<int64_t> values = node.integers(name, std::vector<int64_t>(n, otherwise));
  if (values.size() != n) {
    node.reject("attribute " + name + " has " + std::to_string(values.size()) + " entries for " +
                std::to_string(n) + " spatial dimensions");
    values.assign(n, otherwise);
  }
  return values;
}

void require_range(NodeReader& node, const std::string& name, const std::vector<int64_t>& values,
                   int64_t least) {
  for (const int64_t v : values) {
    if (v < least || v > INT32_MAX)
      return node.reject("attribute " + name + " holds " + std::to_string(v));
  }
}

void read_explicit_pads(NodeReader& node, Window& w) {
  const std::vector<int64_t> pads = per_dimension(node, "pads", 2 * w.kernel.size(), 0);
  require_range(node, "pads", pads, 0);
  const auto middle = pads.begin() + static_cast<ptrdiff_t>(w.kernel.size());
  w.pads_begin.assign(pads.begin(), middle);
  w.pads_end.assign(middle, pads.end());
}

// auto_pad=SAME_*: as many outputs as ceil(input / stride); an odd padding's extra element goes
// where the name says.
void same_pads(NodeReader& node, Window& w, ValueId x, bool extra_at_end) {
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    int64_t total = reach - 1;
    if (w.strides[i] != 1) {
      int64_t size =
          node.size(x, static_cast<int64_t>(i) + 2, "the spatial size that auto_pad needs");
      total = std::max<int64_t>(
          0, ((size + w.strides[i] - 1) / w.strides[i] - 1) * w.strides[i] + reach - size);
    }
    const int64_t less = total / 2, more = total - less;
    w.pads_begin.push_back(extra_at_end ? less : more);
    w.pads_end.push_back(extra_at_end ? more : less);
  }
}

// Everything but the paddings.
Window read_strides(NodeReader& node, std::vector<int64_t> kernel) {
  Window w;
  w.kernel = std::move(kernel);
  w.strides = per_dimension(node, "strides", w.kernel.size(), 1);
  w.dilations = per_dimension(node, "dilations", w.kernel.size(), 1);
  require_range(node, "kernel_shape", w.kernel, 1);
  require_range(node, "strides", w.strides, 1);
  require_range(node, "dilations", w.dilations, 1);
  return w;
}

Window read_window(NodeReader& node, ValueId x, std::vector<int64_t> kernel) {
  if (static_cast<int64_t>(kernel.size()) + 2 != node.rank(x)) {
    node.reject("a kernel of " + std::to_string(kernel.size()) + " dimensions for an input of " +
                std::to_string(node.rank(x)));
  }
  Window w = read_strides(node, std::move(kernel));
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (!node.ok()) return w;
  if (automatic == "NOTSET" || automatic.empty()) {
    read_explicit_pads(node, w);
  } else if (automatic == "VALID") {
    node.ignore({"pads"});
    w.pads_begin.assign(w.kernel.size(), 0);
    w.pads_end = w.pads_begin;
  } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    node.ignore({"pads"});
    same_pads(node, w, x, automatic == "SAME_UPPER");
  } else {
    node.reject("attribute auto_pad is '" + printable(automatic) + "'");
  }
  return w;
}

// The kernel's dims by the weights' type; the attribute, where present, must agree.
std::vector<int64_t> weight_kernel(NodeReader& node, ValueId weights) {
  std::vector<int64_t> kernel;
  for (int64_t i = 2; i < node.rank(weights); ++i)
    kernel.push_back(node.size(weights, i, "the kernel's size"));
  if (node.rank(weights) < 3) node.reject("the weights have fewer than three dimensions");
  if (node.integers("kernel_shape", kernel) != kernel)
    node.reject("attribute kernel_shape differs from the weights");
  return kernel;
}

void read_conv(NodeReader& node) {
  node.result(convolution_of(node), node.inputs());
}

// Paddings that make the output `wanted` wide; where it is wider than the input reaches, output
// padding fills it.
void fit_output(Window& w, Deconvolution& op, size_t i, int64_t size, int64_t wanted,
                bool extra_at_end) {
  const int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
  int64_t total = w.strides[i] * (size - 1) + op.output_padding[i] + reach - wanted;
  if (total < 0) {
    op.output_padding[i] -= total;
    total = 0;
  }
  const int64_t less = total / 2, more = total - less;
  w.pads_begin.push_back(extra_at_end ? less : more);
  w.pads_end.push_back(extra_at_end ? more : less);
}

void read_conv_transpose(NodeReader& node) {
  const ValueId x = node.input(0), weights = node.input(1);
  Window w = read_strides(node, weight_kernel(node, weights));
  const size_t n = w.kernel.size();
  Deconvolution op{
      {}, {}, {}, {}, per_dimension(node, "output_padding", n, 0), node.integer("group", 1)};
  require_range(node, "output_padding", op.output_padding, 0);
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  std::vector<int64_t> wanted = node.integers("output_shape");
  if (wanted.size() == n + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != n)
    node.reject("attribute output_shape has the wrong length");
  if (automatic == "VALID") {
    node.ignore({"pads"});
    w.pads_begin.assign(n, 0);
    w.pads_end = w.pads_begin;
  } else if (wanted.empty() && !same) {
    read_explicit_pads(node, w);
  } else {
    node.ignore({"pads"});
    for (size_t i = 0; i < n && node.ok(); ++i) {
      const int64_t size = node.size(x, static_cast<int64_t>(i) + 2,
                                     "the spatial size that the output's size needs");
      fit_output(w, op, i, size, wanted.empty() ? size * w.strides[i] : wanted[i],
                 automatic == "SAME_UPPER");
    }
  }
  op.strides = w.strides;
  op.dilations = w.dilations;
  op.pads_begin = w.pads_begin;
  op.pads_end = w.pads_end;
  node.result(op, node.inputs());
}

// With ceil_mode a kernel may be larger than the padded input, by less than a stride: there is one
// window then. What lies behind the padding is neither read nor counted, so the kernel becomes as
// large as the padded input, which every tactic can run. `sizes`: the input's spatial dimensions.
void clip_kernel_to_padded_input(Pooling& op, std::span<const int64_t> sizes) {
  for (size_t i = 0; i < op.kernel.size(); ++i) {
    const int64_t padded = sizes[i] + op.pads_begin[i] + op.pads_end[i];
    const bool one_window = padded < op.kernel[i] && op.kernel[i] - padded < op.strides[i];
    if (sizes[i] > 0 && op.dilations[i] == 1 && one_window) op.kernel[i] = padded;
  }
}

Pooling read_pooling(NodeReader& node, PoolKind kind) {
  const ValueId x = node.input(0);
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  if (kernel.empty()) node.reject("attribute kernel_shape is missing");
  Window w = read_window(node, x, kernel);
  Pooling op{kind, w.kernel, w.strides, w.dilations, w.pads_begin, w.pads_end};
  op.ceil_mode = node.integer("ceil_mode", 0) != 0;
  if (node.ok() && op.ceil_mode)
    clip_kernel_to_padded_input(op, std::span(node.dims(x)).subspan(2));
  return op;
}

// The most positions of windows that a table lists.
constexpr int64_t kMaxWindowTable = int64_t{1} << 22;

// For each position of the output, for each of its window, the position in a plane of `in`; behind
// the plane where the window leaves it. [positions, window], row-major.
std::vector<int64_t> window_table(const Pooling& op, const Dims& in, const Dims& out) {
  std::vector<int64_t> table;
  const Dims from_out = strides_of(out), from_kernel = strides_of(op.kernel), to = strides_of(in);
  for (int64_t p = 0; p < volume(out); ++p) {
    for (int64_t k = 0; k < volume(op.kernel); ++k) {
      int64_t at = 0, of_out = p, of_kernel = k;
      for (size_t d = 0; d < in.size(); ++d) {
        const int64_t x = of_out / from_out[d] * op.strides[d] - op.pads_begin[d] +
                          of_kernel / from_kernel[d] * op.dilations[d];
        of_out %= from_out[d];
        of_kernel %= from_kernel[d];
        at = at < 0 || x < 0 || x >= in[d] ? -1 : at + x * to[d];
      }
      table.push_back(at < 0 ? volume(in) : at);
    }
  }
  return table;
}

// The position counted with the first dimension fastest.
int64_t column_major(int64_t at, const Dims& dims) {
  const Dims strides = strides_of(dims);
  int64_t out = 0, step = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    out += at / strides[d] * step;
    at %= strides[d];
    step *= dims[d];
  }
  return out;
}

// Where in x, counted through all planes, the maximum of each window stands.
ValueId maximum_positions(NodeReader& node, const Pooling& op, ValueId x, ValueId y,
                          bool by_columns) {
  Dims in, out;
  for (int64_t d = 0; d < node.rank(x); ++d) {
    in.push_back(node.size(x, d, "the size of what is pooled"));
    if (node.ok()) out.push_back(node.size(y, d, "the pooled size"));
  }
  if (!node.ok()) return kNoValue;
  const Dims plane(in.begin() + 2, in.end()), pooled(out.begin() + 2, out.end());
  const int64_t window = volume(op.kernel), positions = volume(pooled);
  if (window > kMaxWindowTable / std::max<int64_t>(positions, 1)) {
    node.refuse("the indices of a pooling of this size");
    return kNoValue;
  }
  const std::vector<int64_t> table = window_table(op, plane, pooled);
  std::vector<int64_t> wanted, first, planes;
  for (const int64_t at : table) wanted.push_back(by_columns ? column_major(at, plane) : at);
  for (int64_t p = 0; p < positions; ++p) first.push_back(p * window);
  for (int64_t c = 0; c < in[0] * in[1]; ++c) planes.push_back(c * volume(plane));
  const ValueId flat = node.add(Reshape{}, {x, node.ints_constant({0, 0, -1})});
  const double lowest = -std::numeric_limits<double>::infinity();
  const ValueId padded = node.add(Pad{}, {flat, node.ints_constant({0, 0, 0, 0, 0, 1}),
                                          node.number_constant(lowest, node.type(x))});
  const ValueId windows =
      node.add(Gather{2}, {padded, node.constant(Tensor::of<int64_t>({positions, window}, table))});
  const ValueId best = node.add(ArgMinMax{.keep_dims = false, .axis = 3}, {windows});
  const ValueId row = node.add(Binary{BinaryKind::add}, {best, node.ints_constant(first)});
  const ValueId at = node.add(Gather{0}, {node.ints_constant(wanted), row});
  const ValueId offset = node.constant(Tensor::of<int64_t>({in[0], in[1], 1}, planes));
  const ValueId all = node.add(Binary{BinaryKind::add}, {at, offset});
  return node.add(Reshape{}, {all, node.ints_constant(out)});
}

void read_max_pool(NodeReader& node) {
  const Pooling op = read_pooling(node, PoolKind::max);
  const ValueId x = node.input(0);
  if (!node.has_output(1)) {
    node.ignore({"storage_order"});  // it orders the indices only
    return node.result(op, {x});
  }
  const bool by_columns = node.integer("storage_order", 0) != 0;
  const ValueId y = node.add(op, {x});
  const ValueId positions = maximum_positions(node, op, x, y, by_columns);
  node.result(y, 0);
  node.result(positions, 1);
}

void read_average_pool(NodeReader& node) {
  node.result(average_pooling_of(node), {node.input(0)});
}

// (sum |x|^p)^(1/p) as an average over the full window times its elements.
void read_lp_pool(NodeReader& node) {
  const ValueId x = node.input(0);
  Pooling op = read_pooling(node, PoolKind::average);
  op.count_padding = true;
  if (op.ceil_mode) return node.refuse("attribute ceil_mode=1 is not supported");
  float p = static_cast<float>(node.integer("p", 2)), elements = 1;
  for (const int64_t k : op.kernel) elements *= static_cast<float>(k);
  const ValueId power = node.number_constant(p, node.type(x)),
                root = node.number_constant(1 / p, node.type(x));
  ValueId y = node.add(Binary{BinaryKind::pow}, {node.add(Unary{UnaryKind::abs}, {x}), power});
  y = node.add(Binary{BinaryKind::mul},
               {node.add(op, {y}), node.number_constant(elements, node.type(x))});
  node.result(Binary{BinaryKind::pow}, {y, root});
}

void read_global_average(NodeReader& node) {
  node.result(GlobalPooling{PoolKind::average}, {node.input(0)});
}
void read_global_max(NodeReader& node) {
  node.result(GlobalPooling{PoolKind::max}, {node.input(0)});
}

void read_global_lp(NodeReader& node) {
  const ValueId x = node.input(0);
  int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2)
    return node.refuse("attribute p=" + std::to_string(p) + " is not supported");
  Reduce op{p == 1 ? ReduceKind::l1 : ReduceKind::l2};
  for (int64_t i = 2; i < node.rank(x); ++i) op.axes.push_back(i);
  node.result(op, {x});
}

constexpr OperatorReader kConvolutionReaders[] = {
    {"Conv", read_conv},
    {"ConvTranspose", read_conv_transpose},
    {"MaxPool", read_max_pool},
    {"AveragePool", read_average_pool},
    {"LpPool", read_lp_pool},
    {"GlobalAveragePool", read_global_average},
    {"GlobalMaxPool", read_global_max},
    {"GlobalLpPool", read_global_lp},
};

}  // namespace

Convolution convolution_of(NodeReader& node, size_t weights_input) {
  const ValueId x = node.input(0), weights = node.input(weights_input);
  Window w = read_window(node, x, weight_kernel(node, weights));
  return {w.strides, w.dilations, w.pads_begin, w.pads_end, node.integer("group", 1)};
}

Pooling average_pooling_of(NodeReader& node) {
  Pooling op = read_pooling(node, PoolKind::average);
  op.count_padding = node.integer("count_include_pad", 0) != 0;
  return op;
}

std::span<const OperatorReader> convolution_readers() {
  return kConvolutionReaders;
}

}  // namespace enginery
