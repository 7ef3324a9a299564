// libFuzzer on the ONNX importer: any bytes end in a verified graph or an error.
#include <cstddef>
#include <cstdint>

#include "engine/import/importer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  enginery::ModelSource source{
      "fuzz.onnx", enginery::Bytes(reinterpret_cast<const char*>(data), size), std::nullopt};
  auto imported = enginery::import_model(source);
  // A broken promise of ours is a finding as much as a crash is.
  ENSURE(imported.ok() || imported.error().code != enginery::ErrorCode::internal,
         imported.error().message);
  return 0;
}
