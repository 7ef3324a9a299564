#include "cli/local/compared_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/local/engine_rows.h"
#include "cli/output/progress.h"
#include "cli/output/text.h"
#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "engine/graph/made_up_inputs.h"
#include "engine/graph/run_graph.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

Result<InputSet> open_rows(const ComparedData& data, const std::vector<InputDescription>& inputs) {
  return data.is_made_up() ? InputSet::of(data.made_up, inputs, "made up")
                           : InputSet::open(data.files, inputs, data.preprocess);
}

// The batch in which the row is, in the order of the inputs.
Result<std::vector<Tensor>> batch_with(const ComparedData& data,
                                       const std::vector<InputDescription>& inputs, int64_t row) {
  TRY(InputSet rows, open_rows(data, inputs));
  TRY(InputBatch batch, rows.batch(row / rows.batch_rows()));
  std::vector<Tensor> out;
  for (const InputDescription& input : inputs)
    out.push_back(std::move(batch.tensors.at(input.name)));
  return out;
}

class EngineSide final : public ComparedSide {
 public:
  EngineSide(std::string file, Engine engine, Console& console)
      : file_(std::move(file)), engine_(std::move(engine)), console_(console) {}

  SideKind kind() const override { return SideKind::engine; }
  std::vector<InputDescription> inputs() const override {
    return input_descriptions(engine_.info());
  }

  Result<std::map<std::string, Tensor>> made_up(uint64_t seed) const override {
    TRY(const EngineFile engine, read_trusted_engine(file_));
    return made_up_rows(engine, seed);
  }

  Result<SideOutputs> run(const ComparedData& data) override {
    TRY(InputSet rows, open_rows(data, inputs()));
    TRY(auto outputs, run_rows(engine_, rows, console_));
    return SideOutputs{std::move(outputs), counted(), rows.rows(), rows.batch_rows()};
  }

  Result<SideTrace> trace(const ComparedData& data, int64_t row) override {
    TRY(const std::vector<Tensor> batch, batch_with(data, inputs(), row));
    TRY(EngineFile engine, read_trusted_engine(file_));
    BuildOptions options;
    options.threads = engine_.threads();
    TRY(const Target target, open_target(engine.manifest.sku, options));
    SideTrace out;
    TRY(out.trace, trace_engine(std::move(engine.plan), target, batch));
    for (const TensorInfo& output : engine_.info().outputs) out.outputs.push_back(output.name);
    return out;
  }

  Result<double> bar() const override {
    TRY(const EngineFile engine, read_trusted_engine(file_));
    return accuracy_bar(precisions_of(engine.plan), engine.manifest.kind);
  }

 private:
  std::map<std::string, CountedSizes> counted() const {
    std::map<std::string, CountedSizes> out;
    for (const TensorInfo& output : engine_.info().outputs) {
      if (!output.run_time_axes.empty())
        out[output.name] = {output.type.dims, output.run_time_axes};
    }
    return out;
  }

  const std::string file_;
  const Engine engine_;
  Console& console_;
};

class ModelSide final : public ComparedSide {
 public:
  ModelSide(Graph graph, Console& console) : graph_(std::move(graph)), console_(console) {}

  SideKind kind() const override { return SideKind::model; }
  std::vector<InputDescription> inputs() const override {
    std::vector<InputDescription> out;
    for (const ValueId v : graph_.inputs())
      out.push_back({graph_.value(v).name, graph_.value(v).type});
    return out;
  }

  Result<std::map<std::string, Tensor>> made_up(uint64_t seed) const override {
    std::vector<Tensor> made = made_up_inputs(graph_, seed);
    std::map<std::string, Tensor> out;
    for (size_t i = 0; i < made.size(); ++i)
      out.emplace(graph_.value(graph_.inputs()[i]).name, std::move(made[i]));
    return out;
  }

  Result<SideOutputs> run(const ComparedData& data) override {
    TRY(InputSet rows, open_rows(data, inputs()));
    const SystemClock clock;
    ProgressDisplay display(console_, clock);
    RowJoin join;
    for (const auto& [name, sizes] : counted()) join.keep_whole(name);
    for (int64_t i = 0; i < rows.batches(); ++i) {
      if (console_.err_is_terminal()) {
        display.show({{"", "reference", static_cast<uint64_t>(i),
                       static_cast<uint64_t>(rows.batches()), 0, ""}});
      }
      TRY(const InputBatch batch, rows.batch(i));
      TRY(auto all, run_graph(graph_, batch.tensors));
      TRY(const auto outputs, with_actual_sizes(graph_, std::move(all)));
      CHECK_OK(join.add(outputs, rows.batch_rows(), batch.valid_rows));
    }
    return SideOutputs{join.finish(), counted(), rows.rows(), rows.batch_rows()};
  }

  Result<SideTrace> trace(const ComparedData& data, int64_t row) override {
    TRY(const std::vector<Tensor> batch, batch_with(data, inputs(), row));
    SideTrace out;
    TRY(out.trace, trace_graph(graph_, batch));
    for (const ValueId v : graph_.outputs()) out.outputs.push_back(graph_.value(v).name);
    return out;
  }

  Result<double> bar() const override { return 0; }

 private:
  std::map<std::string, CountedSizes> counted() const {
    std::map<std::string, CountedSizes> out;
    for (const RunTimeSize& size : graph_.run_time_sizes) {
      const Value& output = graph_.value(graph_.outputs()[size.output]);
      CountedSizes& sizes = out[output.name];
      sizes.largest = output.type.dims;
      sizes.axes.push_back(size.axis);
    }
    return out;
  }

  const Graph graph_;
  Console& console_;
};

class SavedSide final : public ComparedSide {
 public:
  explicit SavedSide(std::map<std::string, Tensor> tensors) : tensors_(std::move(tensors)) {}

  SideKind kind() const override { return SideKind::saved; }
  std::vector<InputDescription> inputs() const override { return {}; }
  Result<std::map<std::string, Tensor>> made_up(uint64_t) const override {
    return std::map<std::string, Tensor>();
  }
  Result<SideOutputs> run(const ComparedData&) override { return SideOutputs{tensors_, {}, 0, 0}; }
  Result<SideTrace> trace(const ComparedData&, int64_t) override {
    return Error{ErrorCode::unsupported, "saved outputs have no layers"};
  }
  Result<double> bar() const override { return 0; }

 private:
  const std::map<std::string, Tensor> tensors_;
};

Result<std::vector<fs::path>> npy_files(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".npy") out.push_back(it->path());
  }
  if (error) return errno_error("list " + folder.string(), error.value());
  if (out.empty())
    return Error{ErrorCode::invalid_argument,
                 folder.string() + " holds no .npy file; enginery run --output DIR writes them"};
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::map<std::string, Tensor>> read_saved(const std::string& file) {
  std::map<std::string, Tensor> out;
  if (file.ends_with(".npz")) {
    TRY(const auto members, npz_members(file));
    for (const std::string& member : members) {
      TRY(NpyFile array, NpyFile::open_member(file, member));
      TRY(out[member], array.read_all());
    }
    return out;
  }
  std::vector<fs::path> files = {file};
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    TRY(files, npy_files(file));
  }
  for (const fs::path& one : files) {
    TRY(NpyFile array, NpyFile::open(one));
    TRY(out[one.stem().string()], array.read_all());
  }
  return out;
}

Result<std::unique_ptr<ComparedSide>> open_model(const std::string& file,
                                                 const SideOptions& options, Console& console) {
  TRY(const ModelSource source, read_model(file));
  BuildOptions build;
  build.shapes = options.shapes;
  TRY(LoadedModel model, load_model(source, fs::path(file).stem().string(), build));
  for (const std::string& note : model.notes) console.note(readable_note(note));
  std::unique_ptr<ComparedSide> side =
      std::make_unique<ModelSide>(std::move(model.imported), console);
  return side;
}

}  // namespace

const char* to_string(SideKind kind) {
  switch (kind) {
    case SideKind::engine:
      return "engine";
    case SideKind::model:
      return "model";
    case SideKind::saved:
      return "outputs";
  }
  return "";
}

Result<SideKind> side_kind(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored) || file.ends_with(".npz") || file.ends_with(".npy"))
    return SideKind::saved;
  TRY(const Bytes bytes, read_file(file));
  return looks_like_engine(file, bytes) ? SideKind::engine : SideKind::model;
}

Result<std::unique_ptr<ComparedSide>> open_side(const std::string& file, const SideOptions& options,
                                                Console& console) {
  TRY(const SideKind kind, side_kind(file));
  if (kind == SideKind::model) return open_model(file, options, console);
  std::unique_ptr<ComparedSide> side;
  if (kind == SideKind::saved) {
    TRY(auto tensors, read_saved(file));
    side = std::make_unique<SavedSide>(std::move(tensors));
  } else {
    TRY(Engine engine, open_engine(file, options.threads, console));
    side = std::make_unique<EngineSide>(file, std::move(engine), console);
  }
  return side;
}

}  // namespace enginery
