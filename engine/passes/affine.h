// A scale and shift of each channel by constants, as passes that fold one into weights read it.
//
// Where: fold_batch_norm (into the producer) and fold_into_next (into the reader). Values and pure
// functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// y = scale[k] * x + shift[k] along dimension 1 (the last dimension for matrix products).
struct Affine {
  std::vector<float> scale, shift;
};

// Of a batch norm whose statistics are constants and positive.
std::optional<Affine> batch_norm_affine(const Graph& graph, const Node& node);

// What `node` does to its input `x`, if it is a per-channel scale and shift by constants.
std::optional<Affine> as_affine(const Graph& graph, const Node& node, ValueId x,
                                size_t channel_axis);

bool is_finite(const Affine& affine);

// The elements as float32.
std::vector<float> floats_of(const Tensor& t);

}  // namespace enginery
