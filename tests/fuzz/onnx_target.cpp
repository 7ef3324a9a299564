// Fuzzing the ONNX importer: any bytes end in a verified graph or an error.
#include "engine/import/importer.h"
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

size_t import_bytes(const Bytes& bytes) {
  const auto imported = import_model(ModelSource{"fuzz.onnx", bytes, std::nullopt});
  // A broken promise of ours is a finding as much as a crash is.
  ENSURE(imported.ok() || imported.error().code != ErrorCode::internal, imported.error().message);
  return imported.ok() ? 1 : 0;
}

}  // namespace

const FuzzTarget& fuzz_target() {
  static const FuzzTarget kOnnx{.name = "onnx",
                                .fates = {"refused", "imported"},
                                .seeds = onnx_seeds,
                                .edited = edited_model,
                                .run = import_bytes};
  return kOnnx;
}

}  // namespace enginery::test
