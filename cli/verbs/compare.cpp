// compare: two engines, an engine and its model, or one of them and saved outputs, on the same
// data.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/local/comparison.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

constexpr int64_t kDefaultSeed = 1;

// A number that is finite; null else.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string decibels_text(double sqnr_db) {
  return sqnr_db == INFINITY ? "exact" : fmt::format("{:.1f}", sqnr_db);
}

class CompareCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("A", a_, "an engine, an ONNX model, or saved outputs");
    options.positional("B", b_, "what A is held against: the same choice");
    options.texts("--input", inputs_, "[NAME=]PATH",
                  ".npy, .npz, JPEG, PNG or a folder of images, as for run; repeatable");
    options.text("--preprocess", preprocess_, "FILE",
                 "TOML file that says how images become the input");
    options.number("--seed", seed_, {0, INT64_MAX}, "N",
                   "of the made-up inputs, where there is no --input (default: 1)");
    options.real("--tolerance,--tol", tolerance_, "X",
                 "the largest error that is within (default: what a build allows itself in the "
                 "engines' precision)");
    options.text("--shapes", shapes_, "NAME:DIMS,...",
                 "of a model's inputs (default: those of the engine beside it)");
    options.number("--threads", threads_, {1, 4096}, "N",
                   "CPU threads (default: the cores of the affinity mask)");
    options.flag("--tensors", tensors_,
                 "the errors, too, of each tensor that layers of both compute under one name");
    options.flag("--json", json_, "print JSON (enginery.compare/1)");
    options.about(
        "A model is run by the references, operator by operator in float32: a few GFLOP a second. "
        "Saved outputs are a folder of\nNAME.npy files, as `run --output DIR` and NumPy write "
        "them, "
        "or a .npz file; give the inputs that they were computed\nfrom (`run --save-inputs DIR` "
        "writes those).\n\n"
        "ERROR is the largest difference over the largest element of B's output. Within the "
        "tolerance the exit code is 0, else 1;\nthen the layer is named from which the difference "
        "comes. Outputs whose size is known after a run alone (of NonZero,\nNonMaxSuppression) are "
        "compared as far as both go; other counts are a difference, too.\n\n"
        "Layers are looked at in the batch with the worst difference, at no more than 4096 places "
        "of a tensor. Where one side has\n8-bit numbers and the other floats (an int8 engine and "
        "its model) no error can be told, and the layer that is named is the\nfirst one behind "
        "them whose floats differ.\n\n"
        "  compare net.h200.engine net.onnx\n  compare int8.engine fp32.engine --input "
        "pictures/ --preprocess net.toml --tolerance 0.05");
  }

  Result<ExitCode> run(Session& session) override {
    Console& console = session.console;
    TRY(ComparedData data, given_data());
    CHECK_OK(open_sides(console));
    CHECK_OK(make_up(data));
    TRY(const ComparisonReport report,
        compare_sides(*side_a_, *side_b_, data, {tolerance_, tensors_}));
    for (const std::string& name : report.left_out)
      console.note("output '" + name + "' is in one of the two alone and was not compared");
    if (json_) {
      if (tensors_ && !report.no_layers.empty())
        console.note("no tensors were compared: " + report.no_layers);
      print_json(console, report_json(report, data));
    } else {
      console.print(report_text(report, data, console.table_width()));
    }
    return report.within() ? ExitCode::ok : ExitCode::failed;
  }

 private:
  Result<ComparedData> given_data() const {
    ComparedData data{inputs_, {}, {}};
    if (inputs_.empty() && !preprocess_.empty())
      return Error{ErrorCode::usage, "--preprocess: there is no --input to prepare"};
    if (!inputs_.empty() && seed_)
      return Error{ErrorCode::usage, "--seed makes inputs up: give it or --input, not both"};
    if (!preprocess_.empty()) {
      TRY(data.preprocess, read_preprocess(preprocess_));
    }
    return data;
  }

  // A model beside an engine takes the engine's shapes, whichever comes first.
  Status open_sides(Console& console) {
    SideOptions options{threads_, {}};
    TRY(options.shapes, parse_shapes(shapes_));
    TRY(const SideKind kind_a, side_kind(a_));
    TRY(const SideKind kind_b, side_kind(b_));
    const bool b_first = kind_a == SideKind::model && kind_b == SideKind::engine;
    TRY(std::unique_ptr<ComparedSide> first, open_side(b_first ? b_ : a_, options, console));
    if (shapes_.empty()) {
      for (const InputDescription& input : first->inputs())
        options.shapes[input.name] = input.type.dims;
    }
    TRY(std::unique_ptr<ComparedSide> second, open_side(b_first ? a_ : b_, options, console));
    side_a_ = std::move(b_first ? second : first);
    side_b_ = std::move(b_first ? first : second);
    return {};
  }

  bool is_run() const {
    return side_a_->kind() != SideKind::saved || side_b_->kind() != SideKind::saved;
  }

  // A model says best what its inputs may be.
  Status make_up(ComparedData& data) const {
    if (!is_run() && (!inputs_.empty() || seed_))
      return Error{ErrorCode::usage, "--input and --seed: neither of the two runs"};
    if (!data.is_made_up() || !is_run()) return {};
    const bool from_b = side_a_->kind() == SideKind::saved || side_b_->kind() == SideKind::model;
    TRY(data.made_up, (from_b ? *side_b_ : *side_a_).made_up(seed()));
    return {};
  }

  uint64_t seed() const { return static_cast<uint64_t>(seed_.value_or(kDefaultSeed)); }

  std::string data_text(const ComparisonReport& report, const ComparedData& data) const {
    if (!is_run()) return "";
    const std::string rows = counted(static_cast<uint64_t>(report.rows), "row");
    return data.is_made_up() ? fmt::format("on {} made up with seed {}", rows, seed())
                             : "on " + rows;
  }

  std::string report_text(const ComparisonReport& report, const ComparedData& data,
                          int columns) const {
    Table table({{"OUTPUT"},
                 {"TYPE"},
                 {"MAX ABS", Align::right},
                 {"ERROR", Align::right},
                 {"SQNR dB", Align::right},
                 {"TOP-1", Align::right}});
    for (const OutputComparison& output : report.outputs) {
      const TensorErrors& e = output.errors;
      table.add({output.name, to_string(output.type), fmt::format("{:.3g}", e.max_abs),
                 fmt::format("{:.3g}", e.relative), decibels_text(e.sqnr_db),
                 e.top1_agree ? fmt::format("{:.2f} %", 100 * *e.top1_agree) : ""});
    }
    std::string text = fmt::format("{} {} against {} {} {}\n", to_string(side_a_->kind()), a_,
                                   to_string(side_b_->kind()), b_, data_text(report, data));
    text.replace(text.find_last_not_of(" \n") + 1, std::string::npos, "\n");
    text += "\n" + table.text(columns) + "\n";
    if (tensors_) text += tensors_text(report, columns);
    if (report.within())
      return text + fmt::format("within the tolerance of {:.3g}\n", report.tolerance);
    if (report.worst().errors.relative > report.tolerance)
      text += fmt::format("beyond the tolerance of {:.3g}: output '{}'\n", report.tolerance,
                          report.worst().name);
    for (const OutputComparison& output : report.outputs) {
      if (!output.counts_agree())
        text += "the two found different counts: " + output.counts_text() + "\n";
    }
    if (report.first)
      text += fmt::format("the first layer that diverges is {}, by {:.3g}\n",
                          to_string(*report.first), report.first->error);
    if (!report.no_layers.empty()) text += "no layer is named: " + report.no_layers + "\n";
    return text;
  }

  static std::string tensors_text(const ComparisonReport& report, int columns) {
    if (!report.tensors) return "no tensors were compared: " + report.no_layers + "\n";
    if (report.tensors->empty())
      return "no tensors were compared: the two compute none of the same name and type\n";
    Table table({{"TENSOR"}, {"OP"}, {"ERROR", Align::right}, {"SQNR dB", Align::right}});
    for (const ValueErrors& tensor : *report.tensors)
      table.add({tensor.name, tensor.op, fmt::format("{:.3g}", tensor.relative),
                 decibels_text(tensor.sqnr_db)});
    return table.text(columns) + "\n";
  }

  static Json tensors_json(const ComparisonReport& report) {
    if (!report.tensors) return nullptr;
    Json out = Json::array();
    for (const ValueErrors& tensor : *report.tensors)
      out.push_back({{"name", valid_utf8(tensor.name)},
                     {"op", tensor.op},
                     {"relative", finite(tensor.relative)},
                     {"sqnr_db", finite(tensor.sqnr_db)}});
    return out;
  }

  Json report_json(const ComparisonReport& report, const ComparedData& data) const {
    Json outputs = Json::array();
    for (const OutputComparison& output : report.outputs) {
      const TensorErrors& e = output.errors;
      outputs.push_back({{"name", valid_utf8(output.name)},
                         {"error", finite(e.relative)},
                         {"sqnr_db", finite(e.sqnr_db)},
                         {"top1_agree", e.top1_agree ? Json(*e.top1_agree) : Json(nullptr)},
                         {"type", to_string(output.type.type)},
                         {"dims", output.type.dims},
                         {"max_abs", finite(e.max_abs)},
                         {"elements", e.elements},
                         {"differing", e.differing}});
      for (const OutputCount& count : output.counts)
        outputs.back()["counts"].push_back(
            {{"axis", count.axis}, {"a", count.a}, {"b", count.b}, {"most", count.most}});
    }
    Json first = nullptr;
    if (report.first)
      first = {{"layer", valid_utf8(report.first->layer)},
               {"error", finite(report.first->error)},
               {"op", report.first->op}};
    return {{"schema", "enginery.compare/1"},
            {"outputs", outputs},
            {"first_diverging", first},
            {"within", report.within()},
            {"tolerance", report.tolerance},
            {"a", {{"kind", to_string(side_a_->kind())}, {"file", valid_utf8(a_)}}},
            {"b", {{"kind", to_string(side_b_->kind())}, {"file", valid_utf8(b_)}}},
            {"rows", report.rows},
            {"seed", is_run() && data.is_made_up() ? Json(seed()) : Json(nullptr)},
            {"tensors", tensors_json(report)}};
  }

  std::string a_, b_, preprocess_, shapes_;
  std::vector<std::string> inputs_;
  std::optional<int64_t> seed_, threads_;
  std::optional<double> tolerance_;
  std::unique_ptr<ComparedSide> side_a_, side_b_;
  bool json_ = false, tensors_ = false;
};

}  // namespace

std::unique_ptr<Command> make_compare() {
  return std::make_unique<CompareCommand>();
}

}  // namespace enginery
