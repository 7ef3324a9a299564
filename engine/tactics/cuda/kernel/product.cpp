// Family product: matrix products of any operands, run-time ones and batches of them
// (engine/kernels/cuda/src/product.cuh).
#include "engine/tactics/cuda/kernel/epilogue_lowering.h"

namespace enginery {
namespace {

// y[batch][m, n] = alpha * sum over k of a[.., m, k] * b[.., k, n]; strides in elements of tensors
// stored in order.
struct ProductCase {
  int a = 0, b = 1;  // inputs of the problem
  int64_t batches = 1, m = 1, n = 1, k = 1;
  int64_t am = 0, ak = 1, bk = 0, bn = 1;
  OperandWalk a_batch, b_batch;
  float alpha = 1;
  AnchorBias bias;
  LoweredEpilogue epilogue;
};

ProductCase from_gemm(const Problem& problem, const Gemm& op) {
  const Dims &a = problem.inputs[0].type.dims, &b = problem.inputs[1].type.dims;
  ProductCase c;
  c.m = a[op.transpose_a ? 1 : 0], c.k = a[op.transpose_a ? 0 : 1], c.n = b[op.transpose_b ? 0 : 1];
  c.am = op.transpose_a ? 1 : a[1], c.ak = op.transpose_a ? a[1] : 1;
  c.bk = op.transpose_b ? 1 : b[1], c.bn = op.transpose_b ? b[1] : 1;
  c.alpha = op.alpha;
  if (problem.anchor_inputs > 2 && problem.inputs[2].present) c.bias = {2, op.beta};
  return c;
}

// A vector by a matrix is a row; a matrix by a vector is the row of the transposed product.
ProductCase from_matmul(const Problem& problem) {
  const Dims &a = problem.inputs[0].type.dims, &b = problem.inputs[1].type.dims;
  ProductCase c;
  auto batch_of = [](const Dims& dims) {
    return Dims(dims.begin(), dims.end() - std::min<std::ptrdiff_t>(2, std::ssize(dims)));
  };
  Dims a_batch = batch_of(a), b_batch = batch_of(b);
  c.k = a.back();
  if (b.size() == 1) {
    c.a = 1, c.b = 0, std::swap(a_batch, b_batch);
    c.n = a.size() > 1 ? a[a.size() - 2] : 1, c.bn = a.back(), c.bk = 1;
  } else {
    c.m = a.size() > 1 ? a[a.size() - 2] : 1, c.am = a.back();
    c.n = b.back(), c.bk = b.back();
  }
  const size_t rank = std::max(a_batch.size(), b_batch.size());
  auto walk = [&](const Dims& own, const Dims& other, int64_t matrix) {
    const Dims mine = aligned(own, rank), others = aligned(other, rank), strides = strides_of(mine);
    OperandWalk out;
    for (size_t d = 0; d < rank; ++d)
      out.append(std::max(mine[d], others[d]), mine[d] == 1 ? 0 : strides[d] * matrix);
    return out;
  };
  c.a_batch = walk(a_batch, b_batch, c.m * c.k);
  c.b_batch = walk(b_batch, a_batch, c.n * c.k);
  return c;
}

Result<ProductCase> lower_product(const Problem& problem, DataType type) {
  const auto* gemm = std::get_if<Gemm>(&problem.op);
  if (!gemm && !std::holds_alternative<MatMul>(problem.op)) return no_kernel("no product");
  CHECK_OK(require_static(problem));
  const TensorType& y = problem.outputs[0].type;
  if (!is_floating(y.type)) return no_kernel("a product of integers");
  if (y.dims.empty() || volume(y.dims) == 0 || volume(problem.inputs[0].type.dims) == 0)
    return no_kernel("no elements, or one alone");
  ProductCase c = gemm ? from_gemm(problem, *gemm) : from_matmul(problem);
  c.batches = volume(y.dims) / (c.m * c.n);
  TRY(c.epilogue, lower_epilogue(problem, frame_in_order(y.dims, type), c.bias));
  return c;
}

int vector_of(const ProductCase& c) {
  return c.n % 4 == 0 ? 4 : 1;
}

}  // namespace

Status offer_product(const Problem& problem, const KernelContext& context,
                     std::vector<Tactic>& out) {
  for (DataType type : context.storage_types()) {
    TRY(const ProductCase c, lower_product(problem, type));
    Tactic tactic = make_kernel_tactic(problem, "product/64x64x16");
    want_operands(c.epilogue, tactic);
    for (int input : {0, 1}) tactic.inputs[static_cast<size_t>(input)] = {type, {}};
    tactic.outputs[0] = {type, {}};
    tactic.compute = precision_of_storage(type);
    constexpr double kShare = 0.25;  // of the peak
    const auto tiles = static_cast<double>(c.batches * divide_up(c.m, 64) * divide_up(c.n, 64));
    const double waves = std::ceil(tiles / context.info.compute_units),
                 flops =
                     waves * context.info.compute_units * 2.0 * 64 * 64 * static_cast<double>(c.k);
    double bytes = static_cast<double>(volume(problem.outputs[0].type.dims));
    for (int input : {0, 1})
      bytes += static_cast<double>(volume(problem.inputs[static_cast<size_t>(input)].type.dims));
    tactic.estimated_us =
        std::max(1e6 * flops / (kShare * context.info.float32_flops),
                 context.memory_us(bytes * static_cast<double>(element_bytes(type))));
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_product(const Problem& problem, const Tactic& tactic,
                                const KernelContext&) {
  if (tactic.id != "product/64x64x16") return no_variant(tactic);
  const DataType type = tactic.outputs[0].type;
  TRY(const ProductCase c, lower_product(problem, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("A_ALONG_K", c.ak == 1);
  plan.program.define("B_ALONG_K", c.bk == 1 && c.bn != 1);
  plan.program.define("VECTOR", vector_of(c));
  plan.program.functions = place_text("a_place", c.a_batch) + place_text("b_place", c.b_batch) +
                           epilogue_text(c.epilogue.code);
  plan.program.files = {"product.cuh"};
  gpu::ProductArgs args{};
  args.m = static_cast<int>(c.m), args.n = static_cast<int>(c.n), args.k = static_cast<int>(c.k);
  args.tiles_m = static_cast<int>(divide_up(c.m, 64)),
  args.tiles_n = static_cast<int>(divide_up(c.n, 64));
  args.am = static_cast<int>(c.am), args.ak = static_cast<int>(c.ak),
  args.bk = static_cast<int>(c.bk), args.bn = static_cast<int>(c.bn);
  args.alpha = c.alpha;
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(c.batches * args.tiles_m * args.tiles_n), 1, 1};
  launch.threads = 256;
  launch.arguments = argument_bytes(args);
  launch.slots = {operand_slot(problem, c.a, type, offsetof(gpu::ProductArgs, a), plan),
                  operand_slot(problem, c.b, type, offsetof(gpu::ProductArgs, b), plan),
                  {offsetof(gpu::ProductArgs, y), PointerSource::output, 0}};
  attach_epilogue(c.epilogue, offsetof(gpu::ProductArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
