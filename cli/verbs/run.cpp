// run: an engine on arrays or images; outputs as .npy files, or the best classes of each row.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/local/engine_rows.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/verbs/verbs.h"
#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "engine/data/topk.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// What the runs gave: every output over all rows, joined.
struct RunResults {
  std::map<std::string, Tensor> outputs;
  std::vector<std::string> labels;  // of the rows
};

struct TopLine {
  std::string file;
  int64_t rank = 0, index = 0;
  std::string label;
  double score = 0;
};

// float32 unless the output is an integer or boolean.
Tensor as_written(const Tensor& tensor) {
  return is_floating(tensor.type()) ? convert(tensor, DataType::float32) : tensor;
}

class RunCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ENGINE", engine_, "the engine file");
    options.texts("--input", inputs_, "[NAME=]PATH",
                  ".npy, .npz, JPEG, PNG or a folder of images; repeatable, NAME for engines "
                  "with several inputs");
    options.text("--preprocess", preprocess_, "FILE",
                 "TOML file that says how images become the input");
    options.number("--seed", seed_, {0, INT64_MAX}, "N",
                   "run on made-up inputs of this seed instead of --input");
    options.text("--save-inputs", save_inputs_, "DIR",
                 "write every input as DIR/NAME.npy, as the engine takes it, for use elsewhere");
    options.text("--output", output_, "DIR",
                 "write every output as DIR/NAME.npy, and the rows' names to DIR/inputs.txt");
    options.number("--top", top_, {1, 1'000'000}, "K", "print the K best classes of each row");
    options.text("--labels", labels_, "FILE", "class names, one a line, line 0 = class 0");
    options.text("--top-output", top_output_, "NAME",
                 "the output that --top reads (default: the first)");
    options.number("--threads", threads_, {1, 4096}, "N",
                   "CPU threads (default: the cores of the affinity mask)");
    options.flag("--json", json_, "print JSON (enginery.run/1)");
    options.about(
        "A first dimension larger than the engine's batch is run in slices and joined. --top "
        "prints\n"
        "file<TAB>rank<TAB>class<TAB>label<TAB>score. An image of another size than the input "
        "needs --preprocess:\n\n"
        "  [input]\n  resize_short = 256\n  crop = [224, 224]\n  mean = [123.675, 116.28, "
        "103.53]\n  scale = [0.01712475, 0.017507, 0.01742919]");
  }

  Result<ExitCode> run(Session& session) override {
    PreprocessTable table;
    if (!preprocess_.empty()) {
      TRY(table, read_preprocess(preprocess_));
    }
    std::vector<std::string> names;
    if (!labels_.empty()) {
      TRY(names, read_labels(labels_));
    }
    TRY(const Engine engine, open_engine(engine_, threads_, session.console));
    TRY(InputSet inputs, open_inputs(engine.info(), table));
    CHECK_OK(prepare_output());
    CHECK_OK(save_inputs(engine.info(), inputs));
    TRY(auto outputs, run_rows(engine, inputs, session.console));
    const RunResults results{std::move(outputs), inputs.labels()};
    TRY(const auto top, top_lines(engine.info(), results, names));
    TRY(const auto files, write_outputs(engine.info(), results));
    if (json_) {
      print_json_report(session.console, engine.info(), results, top, files);
    } else {
      print_report(session.console, engine.info(), results, top, files);
    }
    return ExitCode::ok;
  }

 private:
  // Before the work, so that a folder that cannot be made is reported at once.
  Status prepare_output() const {
    for (const std::string& folder : {output_, save_inputs_}) {
      if (!folder.empty()) CHECK_OK(make_folder(folder));
    }
    return {};
  }

  Result<InputSet> open_inputs(const EngineInfo& info, const PreprocessTable& table) const {
    const std::vector<InputDescription> wanted = input_descriptions(info);
    if (!seed_) return InputSet::open(inputs_, wanted, table);
    if (!inputs_.empty() || !preprocess_.empty())
      return Error{ErrorCode::usage, "--seed makes inputs up: give it or --input, not both"};
    TRY(const EngineFile file, read_trusted_engine(engine_));
    return InputSet::of(made_up_rows(file, static_cast<uint64_t>(*seed_)), wanted, "made up");
  }

  // All rows of each, which for one that is whole in every run are the first run's.
  Status save_inputs(const EngineInfo& info, InputSet& inputs) const {
    if (save_inputs_.empty()) return {};
    RowJoin join;
    for (int64_t i = 0; i < inputs.batches(); ++i) {
      TRY(InputBatch batch, inputs.batch(i));
      std::erase_if(batch.tensors, [&](const auto& named) {
        const Dims& dims = named.second.dims();
        return i > 0 && (dims.empty() || dims[0] != inputs.batch_rows());
      });
      CHECK_OK(join.add(batch.tensors, inputs.batch_rows(), batch.valid_rows));
    }
    const std::map<std::string, Tensor> all = join.finish();
    std::vector<std::string> names;
    for (const TensorInfo& input : info.inputs) names.push_back(input.name);
    const std::vector<std::string> file_names = file_names_for(names);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto found = all.find(names[i]);
      if (found == all.end()) continue;
      CHECK_OK(write_npy(fs::path(save_inputs_) / (file_names[i] + ".npy"), found->second));
    }
    return {};
  }

  Result<std::vector<TopLine>> top_lines(const EngineInfo& info, const RunResults& results,
                                         const std::vector<std::string>& names) const {
    std::vector<TopLine> lines;
    if (!top_) return lines;
    const std::string output = top_output_.empty() ? info.outputs.front().name : top_output_;
    const auto found = results.outputs.find(output);
    if (found == results.outputs.end())
      return Error{ErrorCode::usage, "--top-output: the engine has no output '" + output + "'"};
    const Tensor& all = found->second;
    const auto rows = static_cast<int64_t>(results.labels.size());
    if (all.rank() == 0 || all.dims()[0] != rows) {
      return Error{
          ErrorCode::usage,
          fmt::format(
              "--top: output '{}' has no row for each input; choose another with --top-output",
              output)};
    }
    for (int64_t i = 0; i < rows; ++i) {
      int64_t rank = 0;
      for (const RankedClass& one : top_k(row_of(all, i), *top_)) {
        const std::string label = one.index < static_cast<int64_t>(names.size())
                                      ? names[static_cast<size_t>(one.index)]
                                      : "";
        lines.push_back(
            {results.labels[static_cast<size_t>(i)], ++rank, one.index, label, one.score});
      }
    }
    return lines;
  }

  Result<std::vector<fs::path>> write_outputs(const EngineInfo& info,
                                              const RunResults& results) const {
    std::vector<fs::path> files;
    if (output_.empty()) return files;
    std::vector<std::string> names;
    for (const TensorInfo& output : info.outputs) names.push_back(output.name);
    const std::vector<std::string> file_names = file_names_for(names);
    for (size_t i = 0; i < names.size(); ++i) {
      files.push_back(fs::path(output_) / (file_names[i] + ".npy"));
      CHECK_OK(write_npy(files.back(), as_written(results.outputs.at(names[i]))));
    }
    std::string list;
    for (const std::string& label : results.labels) list += label + "\n";
    CHECK_OK(write_file(fs::path(output_) / "inputs.txt", list));
    return files;
  }

  static void print_report(Console& console, const EngineInfo& info, const RunResults& results,
                           const std::vector<TopLine>& top, const std::vector<fs::path>& files) {
    for (const TopLine& line : top) {
      console.print(fmt::format("{}\t{}\t{}\t{}\t{:.6g}\n", line.file, line.rank, line.index,
                                line.label, line.score));
    }
    if (!top.empty()) return;
    for (const fs::path& file : files) console.print_line(file.string());
    if (!files.empty()) return;
    Table table({{"OUTPUT"}, {"TYPE"}});
    for (const TensorInfo& output : info.outputs) {
      table.add(
          {output.name, to_string(as_written(results.outputs.at(output.name)).tensor_type())});
    }
    console.print(table.text(console.table_width()));
    console.note("--output DIR writes the outputs, --top K prints the best classes");
  }

  void print_json_report(Console& console, const EngineInfo& info, const RunResults& results,
                         const std::vector<TopLine>& top,
                         const std::vector<fs::path>& files) const {
    Json outputs = Json::array();
    Json lines = Json::array();
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      const TensorType type = as_written(results.outputs.at(info.outputs[i].name)).tensor_type();
      outputs.push_back(
          {{"name", valid_utf8(info.outputs[i].name)},
           {"type", to_string(type.type)},
           {"dims", type.dims},
           {"file", files.empty() ? Json(nullptr) : Json(valid_utf8(files[i].string()))}});
    }
    for (const TopLine& line : top) {
      lines.push_back({{"file", valid_utf8(line.file)},
                       {"rank", line.rank},
                       {"class", line.index},
                       {"label", valid_utf8(line.label)},
                       {"score", line.score}});
    }
    print_json(console, {{"schema", "enginery.run/1"},
                         {"engine", info.digest},
                         {"sku", info.sku},
                         {"rows", results.labels.size()},
                         {"outputs", outputs},
                         {"top", lines}});
  }

  std::string engine_, preprocess_, output_, save_inputs_, labels_, top_output_;
  std::vector<std::string> inputs_;
  std::optional<int64_t> top_, threads_, seed_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run() {
  return std::make_unique<RunCommand>();
}

}  // namespace enginery
