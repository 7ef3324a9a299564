// MmaCase: one row of variants.h for one shape and element type: whether it serves, what it
// costs, its program and its launches. Floats and quantised numbers share it.
//
// Where: between the offers and plans of conv_mma.cpp and quantized.cpp and the text. Threads: a
// value and pure functions.
#pragma once

#include <optional>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/conv_mma/variants.h"

namespace enginery {

struct MmaCase {
  ConvShape shape;
  MmaVariant variant;
  DataType type = DataType::float16;  // of x: float16, bfloat16, float32 (as tf32), int8 or uint8
  // Another product of the same outputs that goes first and whose results are added (joined.h).
  std::optional<ConvShape> first = {};
  // 16 bytes along K are so many columns of the filter; 1: they are channels of one.
  int64_t columns() const { return shape.s_block; }
  // Of these so many are copied at a time: 2 where they begin at even pixels and are inside the
  // input together.
  int64_t columns_at_once() const;
  // Whether x may be channels of a wider tensor: where each copy is of one pixel.
  bool reads_pitched() const;
  int64_t bk() const;
  int64_t tiles_m() const;
  int64_t tiles_k() const;
  int64_t steps() const;  // of both products
  int64_t parts() const { return variant.parts(); }
  // Bytes of a filter's row along K, as a patch has them.
  int64_t window_bytes() const { return shape.s_pitch() * shape.c_pitch() * element_bytes(type); }
  // Bytes of two columns of a picture, which a patch is copied by.
  int64_t pair_bytes() const { return 2 * shape.c_pitch() * element_bytes(type); }
  // Bytes of shared memory that a patch takes with its shifted copy, where it has one.
  int64_t patch_bytes() const;
  // Dynamic shared memory of a block.
  int64_t shared_bytes() const;
  int64_t workspace_bytes() const;
};

// Whether tensor cores serve the shape at all, whose sizes must be multiples of 16 bytes in the
// type of x and of 8 channels of y. Errors: unsupported.
Status require_mma(const ConvShape& shape, DataType type, const KernelContext& context);

bool serves(const MmaCase& c, const KernelContext& context);
// All that serve.
std::vector<MmaCase> mma_cases(const ConvShape& shape, DataType type, const KernelContext& context);

// Those that serve two products whose results are added, without padding along K and undivided.
std::vector<MmaCase> joined_cases(const ConvShape& first, const ConvShape& second, DataType type,
                                  const KernelContext& context);

// Element types of floats in which the context allows products.
std::vector<DataType> mma_types(const KernelContext& context);
Precision compute_of(DataType type);

// "conv_mma/fp16_64x64x128b_s4".
std::string id_of(const MmaCase& c);

// Waves of tiles, each as long as its instructions and products take, no less than the latency of
// its chain of steps, no less than the bytes; and what dividing K costs.
double estimate_us(const MmaCase& c, const KernelContext& context);

// The case among all variants that has the tactic's id. Errors: incompatible (there is none).
Result<MmaCase> find_case(const ConvShape& shape, DataType type, const Tactic& tactic,
                          const KernelContext& context);
Result<MmaCase> find_joined(const ConvShape& first, const ConvShape& second, DataType type,
                            const Tactic& tactic, const KernelContext& context);

// `result` is the element type of y.
KernelProgram mma_program(const MmaCase& c, DataType result, const FusedEpilogue& epilogue);

// The launch of a tactic with packed weights but for the epilogue's operands; reads and writes with
// the tactic's pitches. Errors: incompatible (a pitch that it does not serve).
Result<KernelLaunch> mma_launch(const MmaCase& c, const Tactic& tactic, PackConstant weights,
                                KernelPlan& plan);
// Adds it to the plan, with the second launch of split-K.
void add_mma_launch(const MmaCase& c, KernelLaunch launch, KernelPlan& plan);

}  // namespace enginery
