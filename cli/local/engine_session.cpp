#include "cli/local/engine_session.h"

#include <fmt/format.h>

#include "cli/output/text.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/base/signed_file.h"
#include "engine/graph/run_time_sizes.h"

namespace enginery {

namespace {

// A file that never was an engine is no engine that somebody changed.
Error of_other_kind(const std::string& file, Error error) {
  if (error.code != ErrorCode::untrusted) return error;
  const auto bytes = read_file(file);
  if (!bytes.ok() || looks_like_engine(file, *bytes)) return error;
  if (file.ends_with(".onnx"))
    return {ErrorCode::invalid_argument,
            file + " is a model; build an engine of it first: enginery build " + file};
  return {ErrorCode::invalid_argument, file + " is no engine; enginery build MODEL makes one"};
}

}  // namespace

bool looks_like_engine(const std::string& file, std::string_view bytes) {
  const bool begins = bytes.starts_with("ENGINERY");
  const bool ends = bytes.size() >= kSignatureTrailerBytes &&
                    bytes.substr(bytes.size() - kSignatureTrailerBytes).starts_with("ENGSIG01");
  return begins || ends || std::filesystem::path(file).extension() == ".engine";
}

Error as_local(Error error) {
  if (error.code == ErrorCode::unavailable) error.code = ErrorCode::incompatible;
  return error;
}

LoadOptions load_options(std::optional<int64_t> threads) {
  LoadOptions options;
  options.threads = static_cast<int>(threads.value_or(allowed_core_count()));
  return options;
}

Result<Engine> open_engine(const std::string& file, std::optional<int64_t> threads,
                           Console& console) {
  auto loaded = Engine::load(file, load_options(threads));
  if (!loaded.ok()) return of_other_kind(file, as_local(std::move(loaded).error()));
  Engine engine = std::move(*loaded);
  const EngineInfo& info = engine.info();
  if (info.kind == "cpu" && engine.threads() != info.threads) {
    console.warn(fmt::format(
        "{} was tuned for {} threads and runs with {}; --threads {} gives what was measured", file,
        info.threads, engine.threads(), info.threads));
  }
  if (info.provisional)
    console.warn(file +
                 " is untuned (provisional): its choices come from a model, not from measurements");
  return engine;
}

std::string precision_text(const std::vector<std::string>& precisions) {
  std::vector<std::string> beyond = precisions;
  std::erase(beyond, "fp32");
  return beyond.empty() ? "fp32" : joined(beyond, ",");
}

int64_t batch_of(const EngineInfo& info) {
  const bool has_batch = !info.inputs.empty() && !info.inputs.front().type.dims.empty();
  return has_batch ? info.inputs.front().type.dims.front() : 1;
}

Buffers::Buffers(const EngineInfo& info) : info_(info) {
  for (const TensorInfo& input : info.inputs) {
    inputs_.emplace_back(input.type.type, input.type.dims);
    input_addresses_.push_back(inputs_.back().raw());
  }
}

void Buffers::set_input(size_t index, Tensor tensor) {
  ENSURE(tensor.tensor_type() == info_.inputs[index].type, "an input of another type");
  inputs_[index] = std::move(tensor);
  input_addresses_[index] = inputs_[index].raw();
}

std::span<void* const> Buffers::fresh_outputs() {
  outputs_.clear();
  output_addresses_.clear();
  for (const TensorInfo& output : info_.outputs) {
    outputs_.emplace_back(output.type.type, output.type.dims);
    output_addresses_.push_back(outputs_.back().mutable_bytes());
  }
  return output_addresses_;
}

std::map<std::string, Tensor> Buffers::outputs(std::span<const Dims> dims) const {
  std::map<std::string, Tensor> named;
  for (size_t i = 0; i < outputs_.size(); ++i)
    named.emplace(info_.outputs[i].name, with_dims(outputs_[i], dims[i]));
  return named;
}

}  // namespace enginery
