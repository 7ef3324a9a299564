// Family indexed: elements gathered from, and scattered to or combined at, computed places
// (indexed.cuh).
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/indexed/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/text/number_text.h"

namespace enginery {
namespace {

struct IndexedVariant {
  int threads;  // of a block, an element each
};

constexpr IndexedVariant kIndexedVariants[] = {{256}};

std::string id_of(const IndexedVariant& v) {
  return id_by_threads("indexed/elements", v.threads, 256);
}

// How the operator finds places: tuples of indices address dimensions of `data`.
struct IndexedCase {
  bool gathers = true;
  ScatterKind kind = ScatterKind::replace;
  std::vector<int64_t> sizes, strides;  // of the dimensions that a tuple addresses
  int64_t slice = 1;                    // elements at each place
  BroadcastStrides origin;              // over the output (gather) or the tuples (scatter)

  bool combines() const { return kind != ScatterKind::replace; }
};

// p, which is there, and an update q. A NaN that is there stays, as in the reference.
std::string combined_text(ScatterKind kind) {
  const std::string text = kind == ScatterKind::add   ? "ADD(p, q)"
                           : kind == ScatterKind::mul ? "MULTIPLY(p, q)"
                           : kind == ScatterKind::min ? "q < p ? q : p"
                                                      : "p < q ? q : p";
  return "__device__ __forceinline__ ACC combined(ACC p, ACC q) { return " + text + "; }\n";
}

Dims dims_from(const Dims& dims, size_t first) {
  return Dims(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end());
}

// Along the axis the index counts, along the others the element's own place.
IndexedCase along_axis(const Dims& data, const Dims& indices, int64_t axis, bool gathers) {
  IndexedCase out;
  out.gathers = gathers;
  const auto at = static_cast<size_t>(wrapped(axis, data.size()));
  const Dims strides = strides_of(data);
  out.sizes = {data[at]};
  out.strides = {strides[at]};
  for (size_t d = 0; d < data.size(); ++d) out.origin.append(indices[d], d == at ? 0 : strides[d]);
  return out;
}

// The last dimension of the indices addresses dimensions of the data behind `batch_dims`.
IndexedCase by_tuples(const Dims& data, const Dims& indices, size_t batch_dims, bool gathers) {
  IndexedCase out;
  out.gathers = gathers;
  const Dims strides = strides_of(data);
  const auto count = static_cast<size_t>(indices.back());
  for (size_t d = batch_dims; d < batch_dims + count; ++d) {
    out.sizes.push_back(data[d]);
    out.strides.push_back(strides[d]);
  }
  out.slice = volume(dims_from(data, batch_dims + count));
  const int64_t batches =
      volume(Dims(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(batch_dims)));
  const int64_t tuples = volume(indices) / std::max<int64_t>(1, indices.back());
  const int64_t elements = gathers ? tuples * out.slice : tuples;
  out.origin.append(batches, volume(dims_from(data, batch_dims)));
  out.origin.append(elements / batches, 0);
  return out;
}

Result<IndexedCase> indexed_case(const Problem& problem) {
  const Dims &data = problem.inputs[0].type.dims, &indices = problem.inputs[1].type.dims;
  if (const auto* op = std::get_if<GatherElements>(&problem.op))
    return along_axis(data, indices, op->axis, true);
  if (const auto* op = std::get_if<GatherNd>(&problem.op))
    return by_tuples(data, indices, static_cast<size_t>(op->batch_dims), true);
  const auto* elements = std::get_if<ScatterElements>(&problem.op);
  const auto* slices = std::get_if<ScatterNd>(&problem.op);
  if (!elements && !slices) return refusal("no indices of elements or slices");
  IndexedCase out = elements ? along_axis(data, indices, elements->axis, false)
                             : by_tuples(data, indices, 0, false);
  out.kind = elements ? elements->kind : slices->kind;
  if (out.combines() && !are_combined(problem.inputs[0].type.type))
    return refusal("updates of " + to_string(problem.inputs[0].type) + " that are combined");
  return out;
}

Status require_indexed(const Problem& problem) {
  const Op& op = problem.op;
  const bool is_one =
      std::holds_alternative<GatherElements>(op) || std::holds_alternative<GatherNd>(op) ||
      std::holds_alternative<ScatterElements>(op) || std::holds_alternative<ScatterNd>(op);
  if (!is_one) return refusal("no indices of elements or slices");
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  for (const TensorDesc& desc : problem.inputs)
    if (volume(desc.type.dims) == 0 || desc.type.dims.empty()) return refusal("no elements");
  if (volume(problem.outputs[0].type.dims) == 0) return refusal("no elements");
  const DataType indices = problem.inputs[1].type.type;
  if (indices != DataType::int32 && indices != DataType::int64)
    return refusal("indices that are no integers");
  return {};
}

int64_t tuples_of(const Problem& problem, const IndexedCase& c) {
  return volume(problem.inputs[1].type.dims) / std::ssize(c.sizes);
}

// Of a scatter: a number for each place, and where updates are combined two for each of them.
int64_t scatter_bytes(const Problem& problem, const IndexedCase& c) {
  const int64_t places = volume(problem.outputs[0].type.dims) / c.slice;
  return c.gathers ? 0 : 4 * (places + (c.combines() ? 2 * tuples_of(problem, c) : 0));
}

Status offer_indexed(const Problem& problem, const KernelContext& context,
                     std::vector<Tactic>& out) {
  CHECK_OK(require_indexed(problem));
  TRY(const IndexedCase c, indexed_case(problem));
  const int64_t elements = volume(problem.outputs[0].type.dims);
  for (const DataType type : kept_types(problem.inputs[0].type.type, context)) {
    for (const IndexedVariant& variant : kIndexedVariants) {
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      tactic.inputs[0] = tactic.outputs[0] = {type, {}};
      if (!c.gathers) tactic.inputs[2] = {type, {}};
      tactic.compute = precision_of_storage(type);
      const int64_t bytes = elements * 2 * element_bytes(type) + (c.gathers ? 0 : elements * 12);
      tactic.workspace_bytes = scatter_bytes(problem, c);
      const int launches = c.gathers ? 1 : c.combines() ? 4 : 3;
      tactic.estimated_us = context.memory_us(static_cast<double>(bytes), launches);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

// What a tuple of indices adds to the place of its element.
std::string addressed_text(const IndexedCase& c) {
  std::string out =
      "__device__ __forceinline__ unsigned addressed(const INDEX* t) {\n"
      "  long long at = 0, n;\n";
  for (size_t i = 0; i < c.sizes.size(); ++i) {
    const std::string size = std::to_string(c.sizes[i]);
    out += "  n = static_cast<long long>(t[" + std::to_string(i) +
           "]);\n  if (n < 0) n += " + size + ";\n  n = n < 0 ? 0 : n < " + size +
           " ? n : " + size + " - 1;\n  at += n * " + std::to_string(c.strides[i]) + ";\n";
  }
  return out + "  return static_cast<unsigned>(at);\n}\n";
}

KernelLaunch indexed_launch(const Problem& problem, DataType type, const gpu::IndexedArgs& args,
                            const std::string& entry, int64_t threads, unsigned block,
                            KernelPlan& plan) {
  KernelLaunch launch = launch_of(args, threads, block);
  launch.entry = entry;
  const DataType indices = problem.inputs[1].type.type;
  launch.slots = {operand_slot(problem, 0, type, offsetof(gpu::IndexedArgs, data), plan),
                  operand_slot(problem, 1, indices, offsetof(gpu::IndexedArgs, indices), plan),
                  {offsetof(gpu::IndexedArgs, y), PointerSource::output, 0}};
  if (plan.workspace_bytes > 0) {
    launch.slots.push_back(
        operand_slot(problem, 2, type, offsetof(gpu::IndexedArgs, updates), plan));
    launch.slots.push_back({offsetof(gpu::IndexedArgs, winners), PointerSource::workspace, 0});
  }
  return launch;
}

Result<KernelPlan> plan_indexed(const Problem& problem, const Tactic& tactic,
                                const KernelContext&) {
  CHECK_OK(require_indexed(problem));
  const IndexedVariant* variant = find_variant(kIndexedVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const IndexedCase c, indexed_case(problem));
  const DataType type = tactic.outputs[0].type;
  KernelPlan plan;
  plan.program.define("UNIT", unit_text(element_bytes(type)));
  plan.program.define("COMBINES", c.combines());
  plan.program.define("INDEX", element_type_text(problem.inputs[1].type.type));
  plan.program.define("K", static_cast<int>(c.sizes.size()));
  plan.program.define("GATHERS", c.gathers);
  plan.program.define("THREADS", variant->threads);
  plan.program.functions = place_text("origin", c.origin) + addressed_text(c);
  if (c.combines()) {
    define_types(plan.program, type, type);
    define_numbers(plan.program, type);
    plan.program.functions += combined_text(c.kind);
  }
  plan.program.files = {"indexed/args.h", "indexed/indexed.cuh"};
  gpu::IndexedArgs args{};
  args.total = static_cast<unsigned>(volume(problem.outputs[0].type.dims));
  args.tuples = static_cast<unsigned>(tuples_of(problem, c));
  args.by_slice = make_divisor(c.slice);
  args.places = args.total / static_cast<unsigned>(c.slice);
  const auto block = static_cast<unsigned>(variant->threads);
  if (!c.gathers) {
    plan.workspace_bytes = scatter_bytes(problem, c);
    plan.launches = {indexed_launch(problem, type, args, "clear", args.places, block, plan),
                     indexed_launch(problem, type, args, "enter", args.tuples, block, plan)};
  }
  if (c.combines())
    plan.launches.push_back(indexed_launch(problem, type, args, "chain", args.tuples, block, plan));
  plan.launches.push_back(indexed_launch(problem, type, args, "kernel", args.total, block, plan));
  return plan;
}

}  // namespace

const KernelFamily kIndexedFamily{"indexed", offer_indexed, plan_indexed};

}  // namespace enginery
