#include "engine/import/importer.h"

#include "engine/base/file.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/saved/network_importer.h"

namespace enginery {
namespace {

// Formats have limits of their own; a file that is larger is no model.
constexpr uint64_t kMaxModelBytes = uint64_t{64} << 30;
constexpr size_t kFirstBytes = 64;

std::string file_name(const ModelSource& source) {
  const std::string name = std::filesystem::path(source.file).filename().string();
  return name.empty() ? "model" : name;
}

// The importer of the source's format, or why there is none.
Result<std::unique_ptr<Importer>> importer_of(const ModelSource& source) {
  if (source.bytes.view().empty()) return Error{ErrorCode::invalid_argument, "the file is empty"};
  if (source.bytes.view().starts_with("ENGINERY"))
    return Error{ErrorCode::invalid_argument,
                 "it is an engine, which was built of a model: enginery run, bench and inspect "
                 "take it"};
  std::string known;
  for (auto& importer : make_importers()) {
    if (importer->can_read(source.file, source.bytes.view().substr(0, kFirstBytes))) {
      return std::move(importer);
    }
    known += (known.empty() ? "" : ", ") + std::string(importer->name());
  }
  return Error{ErrorCode::invalid_argument, "not a model of a known format (" + known + ")"};
}

}  // namespace

std::vector<std::unique_ptr<Importer>> make_importers() {
  std::vector<std::unique_ptr<Importer>> importers;
  importers.push_back(make_network_importer());
  importers.push_back(make_onnx_importer());
  return importers;
}

Result<ModelSource> read_model(const std::filesystem::path& file) {
  auto bytes = read_file(file, kMaxModelBytes);
  if (!bytes) return bytes.error().within("read model");
  std::filesystem::path folder = file.parent_path();
  return ModelSource{file.string(), std::move(*bytes), folder.empty() ? "." : folder};
}

Result<ImportedModel> import_model(const ModelSource& source, const ImportOptions& options) {
  const auto importer = importer_of(source);
  if (!importer) return importer.error().within("import " + file_name(source));
  auto imported = (*importer)->import(source, options);
  if (!imported) return imported.error().within("import " + file_name(source));
  return imported;
}

Result<ImportedModel> import_model(const std::filesystem::path& file,
                                   const ImportOptions& options) {
  TRY(ModelSource source, read_model(file));
  return import_model(source, options);
}

Result<ModelSurvey> survey_model(const ModelSource& source, const ImportOptions& options) {
  const auto importer = importer_of(source);
  if (!importer) return importer.error().within("survey " + file_name(source));
  auto survey = (*importer)->survey(source, options);
  if (!survey) return survey.error().within("survey " + file_name(source));
  return survey;
}

Result<Bytes> pack_model(const std::filesystem::path& file) {
  TRY(ModelSource source, read_model(file));
  const auto importer = importer_of(source);
  if (!importer) return importer.error().within("pack " + file_name(source));
  auto packed = (*importer)->pack(source);
  if (!packed) return packed.error().within("pack " + file_name(source));
  return packed;
}

}  // namespace enginery
