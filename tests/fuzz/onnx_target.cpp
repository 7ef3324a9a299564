// Fuzzing the ONNX importer, and the passes on what it takes: any bytes end in a verified graph or
// an error.
#include "engine/import/importer.h"
#include "engine/passes/pass.h"
#include "tests/engine/import/seed_models.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/onnx_mutator.h"

namespace enginery::test {
namespace {

Result<std::vector<FuzzSeed>> onnx_seeds() {
  std::vector<FuzzSeed> seeds;
  for (const Bytes& model : seed_models())
    seeds.push_back({"model" + std::to_string(seeds.size()), model});
  return seeds;
}

// What the passes compute of larger values takes its time and memory, within their own limits.
bool is_small(const Graph& graph) {
  constexpr int64_t kMaxElements = 1'000'000;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    int64_t elements = 1;
    for (const int64_t size : graph.value(v).type.dims) {
      elements *= std::max<int64_t>(size, 1);
      if (elements > kMaxElements) return false;
    }
  }
  return true;
}

size_t import_bytes(const Bytes& bytes) {
  const auto imported =
      import_model(ModelSource{"fuzz.onnx", bytes, std::nullopt}, {.default_symbols_to_one = true});
  // A broken promise of ours is a finding as much as a crash is.
  ENSURE(imported.ok() || imported.error().code != ErrorCode::internal, imported.error().message);
  if (!imported.ok()) return 0;
  if (!is_small(imported->graph)) return 1;
  Graph graph = imported->graph;
  const Status passed = run_passes(graph, {});
  ENSURE(passed.ok() || passed.error().code != ErrorCode::internal, passed.error().message);
  return passed.ok() ? 2 : 1;
}

}  // namespace

const FuzzTarget& fuzz_target() {
  static const FuzzTarget kOnnx{.name = "onnx",
                                .fates = {"refused", "imported", "optimised"},
                                .seeds = onnx_seeds,
                                .edited = edited_model,
                                .run = import_bytes};
  return kOnnx;
}

}  // namespace enginery::test
