#include "engine/import/onnx/onnx_importer.h"

#include <onnx/onnx_pb.h>

#include <new>

#include "engine/import/onnx/container.h"
#include "engine/import/onnx/graph_reader.h"
#include "engine/import/onnx/model_proto.h"
#include "engine/import/onnx/pack.h"

namespace enginery {
namespace {

class OnnxImporter final : public Importer {
 public:
  std::string_view name() const override { return "onnx"; }

  // By extension; without one by the first field that ONNX files begin with (ir_version, a small
  // number).
  bool can_read(const std::filesystem::path& file, std::string_view first_bytes) const override {
    if (file.extension() == ".onnx" || first_bytes.starts_with(kContainerMagic)) return true;
    return first_bytes.size() >= 2 && first_bytes[0] == 0x08 && first_bytes[1] > 0 &&
           first_bytes[1] < 0x20;
  }

  Result<ImportedModel> import(const ModelSource& source,
                               const ImportOptions& options) const override try {
    TRY(const ModelParts parts, parts_of(source.bytes.view()));
    TRY(const auto model, parse_model(parts.model));
    return GraphReader(*model, source, options).read();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "not enough memory for the model"};
  }

  Result<ModelSurvey> survey(const ModelSource& source, const ImportOptions& options) const override
      try {
    TRY(const ModelParts parts, parts_of(source.bytes.view()));
    TRY(const auto model, parse_model(parts.model));
    return GraphReader(*model, source, options).survey();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "not enough memory for the model"};
  }

  Result<Bytes> pack(const ModelSource& source) const override try {
    return pack_onnx(source);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "not enough memory for the model"};
  }
};

}  // namespace

std::unique_ptr<Importer> make_onnx_importer() {
  return std::make_unique<OnnxImporter>();
}

}  // namespace enginery
