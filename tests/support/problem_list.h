// The problems that the conformance suite checks, and which sources must offer a tactic for each.
#pragma once

#include <string_view>
#include <vector>

#include "engine/device/device.h"

namespace enginery {

struct ProblemRow {
  std::string_view name;
  // Sources without which the row fails, "CPU/GPU": K our kernels, O oneDNN, - none (the reference
  // alone may serve it). They must offer on every instruction set, and on every SM from 61 up.
  // cuDNN and cuBLASLt are never required: a machine may lack them.
  std::string_view required;
  std::string_view text;  // problem_text.h
};

// Small problems that cover every operator with a fast path, and its edges.
std::vector<ProblemRow> conformance_problems();

// Those of them that are attentions.
std::vector<ProblemRow> attention_problems();

// Those of them over three spatial dimensions.
std::vector<ProblemRow> volume_problems();

// Those of them that compute with or move float64.
std::vector<ProblemRow> float64_problems();

// Those of them that only move elements, the last ones.
std::vector<ProblemRow> moving_problems();

// More problems, about numbers of 8 bits.
std::vector<ProblemRow> quantized_problems();

// Regions. They are not among those above: only sources that take regions may be asked about them
// (require_served).
std::vector<ProblemRow> conformance_regions();

// Those of them that are blocks of mobile networks.
std::vector<ProblemRow> averaged_products();
std::vector<ProblemRow> depthwise_blocks();

// Those of them that are convolutions of pictures with the pooling behind them.
std::vector<ProblemRow> pooled_regions();

// Those of them that are products of quantised numbers, the last ones.
std::vector<ProblemRow> quantized_regions();

// All problems, then regions.
std::vector<ProblemRow> conformance_rows();

// Names of the sources that must offer the row's problem on that kind of device.
std::vector<std::string_view> required_sources(const ProblemRow& row, DeviceKind device);

}  // namespace enginery
