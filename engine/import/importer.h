// Importers: a model file in, a Graph out. The first arrow of the flow (model bytes --import-->
// Graph).
//
// One importer for each format; make_importers() lists them, the first that can read a file gets
// it. Importers know nothing of devices and change only what operator forms demand; simplifying is
// the passes' work. All functions may be called from many threads at once.
//
// Errors: not_found and storage (the file itself), invalid_argument (the bytes break the format's
// rules), unsupported (valid, but not in this implementation: every such node is listed in the one
// message).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// A model's bytes, shared with the constants that are read out of them where they lie. A value.
class ModelBytes {
 public:
  ModelBytes(Bytes bytes) : owner_(std::make_shared<const Bytes>(std::move(bytes))) {}
  ModelBytes(const char* text) : ModelBytes(Bytes(text)) {}
  ModelBytes(std::shared_ptr<const Bytes> bytes) : owner_(std::move(bytes)) {}

  std::string_view view() const { return *owner_; }
  const std::shared_ptr<const Bytes>& owner() const { return owner_; }

 private:
  std::shared_ptr<const Bytes> owner_;  // never null
};

// A model's bytes and where they came from.
struct ModelSource {
  std::string file;  // for messages, and to tell formats apart by their extension
  ModelBytes bytes;
  // The folder that external weights may be read from, nothing outside it. Absent when the model
  // came over a wire: then its weights must be inside.
  std::optional<std::filesystem::path> folder;
};

struct ImportOptions {
  // Input name to dims, over the model's symbolic and fixed sizes. A size given to a symbol holds
  // everywhere.
  std::map<std::string, Dims> shapes;
  // Inputs whose value is known already: they become constants (shape tensors, mostly).
  std::map<std::string, Tensor> values;
  // Run-time sizes that `shapes` leaves open become 1, each with a note; otherwise they stay
  // symbolic.
  bool default_symbols_to_one = false;
};

struct ImportedModel {
  Graph graph;                     // verified
  std::vector<std::string> notes;  // for the user: "data: N = 1"
};

// The nodes of one operator type, once functions, branches and loops are read in place.
struct SurveyedOperator {
  int64_t nodes = 0, unsupported = 0;
  std::string first, reason;  // of those that are not supported: the first one's name, and why
};

// What a model is made of, and what of it cannot be imported.
struct ModelSurvey {
  std::map<std::string, SurveyedOperator> operators;  // by type: "Conv", "com.microsoft.Gelu"
  int64_t unchecked = 0;  // nodes that read from one that is not supported: not looked at
  std::vector<std::string> problems;  // as import_model lists them, the first ones of many
  std::vector<std::string> notes;
};

class Importer {
 public:
  virtual ~Importer() = default;
  virtual std::string_view name() const = 0;  // "onnx"
  // Whether the file is of this format, judged by its name and its first bytes (at least 64, or all
  // there are).
  virtual bool can_read(const std::filesystem::path& file, std::string_view first_bytes) const = 0;
  virtual Result<ImportedModel> import(const ModelSource& source,
                                       const ImportOptions& options) const = 0;
  // Errors: a file that is no model of the format, or broken.
  virtual Result<ModelSurvey> survey(const ModelSource& source,
                                     const ImportOptions& options) const = 0;
  // The model as one self-contained blob, external weights in it.
  virtual Result<Bytes> pack(const ModelSource& source) const = 0;
};

std::vector<std::unique_ptr<Importer>> make_importers();

// Reads the file; its folder is where external weights may come from.
Result<ModelSource> read_model(const std::filesystem::path& file);

// Imports with the first importer that can read the source. Every error begins with the file's
// name.
Result<ImportedModel> import_model(const ModelSource& source, const ImportOptions& options = {});
Result<ImportedModel> import_model(const std::filesystem::path& file,
                                   const ImportOptions& options = {});

// What import_model would say of each operator, without an error for those that it refuses. Errors:
// the file is no model, or its parts contradict each other.
Result<ModelSurvey> survey_model(const ModelSource& source, const ImportOptions& options = {});

// The file's model as bytes that need nothing else, for travelling as one blob.
Result<Bytes> pack_model(const std::filesystem::path& file);

}  // namespace enginery
