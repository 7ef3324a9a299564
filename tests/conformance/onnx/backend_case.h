// One case of ONNX's backend tests: a folder with model.onnx and
// test_data_set_N/{input,output}_K.pb.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery::test {

using NamedTensors = std::map<std::string, Tensor>;
// What runs a graph: the reference here; a built engine wherever one wants to check that instead.
using GraphExecutor = std::function<Result<NamedTensors>(const Graph&, const NamedTensors&)>;

struct BackendCase {
  std::filesystem::path folder;
  std::set<std::string> operators;  // "Conv", "ai.onnx.ml.Binarizer"; of subgraphs too
  bool tensors_only = true;         // no sequence, map or optional among inputs and outputs
  // Why the case counts for no share: training, strings, optionals, decoding of images; "" for all
  // others.
  std::string not_counted = {};

  std::string name() const { return folder.filename().string(); }
};

// How much had to be known before the run, so that shapes could be inferred.
enum class Knowledge { types_only, shape_inputs, all_inputs };

// The code of a result that was computed and is not the expected one.
inline constexpr ErrorCode kDiffers = ErrorCode::incompatible;

struct CaseResult {
  Status status;  // unsupported: the importer said so; kDiffers; any other error is a failure
  Knowledge knowledge = Knowledge::types_only;
};

// The cases of `folder`, by name. Errors: a model that cannot be read.
Result<std::vector<BackendCase>> find_cases(const std::filesystem::path& folder);

// Imports, runs and compares all of the case's data sets. Inputs stay run-time values where the
// importer can do with that; otherwise integers of rank 0 and 1 become known, then all.
CaseResult run_case(const BackendCase& backend_case, const GraphExecutor& execute);

}  // namespace enginery::test
