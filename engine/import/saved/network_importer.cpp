#include "engine/import/saved/network_importer.h"

#include <new>

#include "engine/import/saved/network_file.h"

namespace enginery {
namespace {

class NetworkImporter final : public Importer {
 public:
  std::string_view name() const override { return "network"; }

  bool can_read(const std::filesystem::path&, std::string_view first_bytes) const override {
    return first_bytes.starts_with(kNetworkFileMagic);
  }

  Result<ImportedModel> import(const ModelSource& source,
                               const ImportOptions& options) const override try {
    TRY(Graph graph, read_network(source.bytes.view(), options.values));
    if (options.shapes.empty() && !options.default_symbols_to_one)
      return ImportedModel{std::move(graph), {}};
    TRY(SpecializedGraph special, specialize(graph, options.shapes));
    return ImportedModel{std::move(special.graph), std::move(special.defaulted)};
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::out_of_memory, "not enough memory for the network"};
  }

  Result<ModelSurvey> survey(const ModelSource& source,
                             const ImportOptions& options) const override {
    TRY(const ImportedModel model, import(source, options));
    ModelSurvey out;
    out.notes = model.notes;
    for (const NodeId n : model.graph.topological_order())
      ++out.operators[std::string(op_name(model.graph.node(n).op))].nodes;
    return out;
  }

  // It has everything in it; what cannot be read is not passed on.
  Result<Bytes> pack(const ModelSource& source) const override {
    TRY([[maybe_unused]] const ImportedModel readable, import(source, {}));
    return Bytes(source.bytes.view());
  }
};

}  // namespace

std::unique_ptr<Importer> make_network_importer() {
  return std::make_unique<NetworkImporter>();
}

}  // namespace enginery
