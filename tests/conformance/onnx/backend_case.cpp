#include "tests/conformance/onnx/backend_case.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>

#include "engine/base/file.h"
#include "engine/import/importer.h"
#include "engine/import/onnx/weights.h"

namespace enginery::test {
namespace {

// The tolerances of ONNX's own runner.
constexpr double kRelative = 1e-3, kAbsolute = 1e-7;

struct DataSet {
  NamedTensors inputs;
  std::vector<std::pair<std::string, Tensor>> outputs;
};

Result<onnx::ModelProto> load_model(const std::filesystem::path& file) {
  TRY(Bytes bytes, read_file(file));
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes))
    return Error{ErrorCode::corrupt_data, file.string() + " does not parse"};
  return model;
}

void collect_operators(const onnx::GraphProto& graph, std::set<std::string>& operators) {
  for (const auto& node : graph.node()) {
    operators.insert((node.domain().empty() ? "" : node.domain() + ".") + node.op_type());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_operators(attribute.g(), operators);
    }
  }
}

bool has_strings(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return has_strings(type.sequence_type().elem_type());
  if (type.has_optional_type()) return has_strings(type.optional_type().elem_type());
  return type.tensor_type().elem_type() == onnx::TensorProto::STRING;
}

bool has_optionals(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return has_optionals(type.sequence_type().elem_type());
  return type.has_optional_type();
}

std::string reason_not_to_count(const BackendCase& c, const onnx::GraphProto& graph) {
  const auto any_operator = [&](const char* part) {
    return std::any_of(c.operators.begin(), c.operators.end(),
                       [&](const std::string& op) { return op.find(part) != std::string::npos; });
  };
  const auto any_type = [&](bool (*holds)(const onnx::TypeProto&)) {
    const auto of = [&](const onnx::ValueInfoProto& info) { return holds(info.type()); };
    return std::any_of(graph.input().begin(), graph.input().end(), of) ||
           std::any_of(graph.output().begin(), graph.output().end(), of);
  };
  if (any_operator("training") || c.name().find("training_") != std::string::npos)
    return "training";
  if (any_operator("ImageDecoder")) return "image decoding";
  if (any_operator("String") || any_operator("Regex") || any_type(has_strings)) return "strings";
  return any_operator("Optional") || any_type(has_optionals) ? "optionals" : "";
}

// `declared` is the type in the graph: bfloat16 data is stored as uint16.
Result<Tensor> load_tensor(const std::filesystem::path& file,
                           const onnx::ValueInfoProto& declared) {
  TRY(Bytes bytes, read_file(file));
  onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes))
    return Error{ErrorCode::corrupt_data, file.string() + " does not parse"};
  if (declared.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16 &&
      proto.data_type() == onnx::TensorProto::UINT16) {
    proto.set_data_type(onnx::TensorProto::BFLOAT16);
  }
  return WeightReader(std::nullopt).read(proto);
}

Result<DataSet> load_data(const onnx::GraphProto& graph, const std::filesystem::path& folder) {
  DataSet data;
  std::set<std::string> initializers;
  for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
  int k = 0;
  for (const auto& input : graph.input()) {
    auto file = folder / ("input_" + std::to_string(k) + ".pb");
    if (initializers.count(input.name()) || !std::filesystem::exists(file)) continue;
    TRY(data.inputs[input.name()], load_tensor(file, input));
    ++k;
  }
  for (int i = 0; i < graph.output_size(); ++i) {
    TRY(Tensor tensor,
        load_tensor(folder / ("output_" + std::to_string(i) + ".pb"), graph.output(i)));
    data.outputs.emplace_back(graph.output(i).name(), std::move(tensor));
  }
  return data;
}

Status compare(const std::string& name, const Tensor& got, const Tensor& wanted) {
  auto fail = [&](const std::string& reason) {
    return Error{kDiffers, "output '" + name + "': " + reason};
  };
  if (!(got.tensor_type() == wanted.tensor_type())) {
    return fail("is " + to_string(got.tensor_type()) + ", expected " +
                to_string(wanted.tensor_type()));
  }
  if (is_integer(got.type())) {
    return to_int64s(got) == to_int64s(wanted) ? Status() : Status(fail("integers differ"));
  }
  Tensor a = convert(got, DataType::float64), b = convert(wanted, DataType::float64);
  for (size_t i = 0; i < a.data<double>().size(); ++i) {
    double x = a.data<double>()[i], y = b.data<double>()[i];
    bool equal = x == y || (std::isnan(x) && std::isnan(y)) ||
                 std::abs(x - y) <= kAbsolute + kRelative * std::abs(y);
    if (!equal)
      return fail("element " + std::to_string(i) + " is " + std::to_string(x) + ", expected " +
                  std::to_string(y));
  }
  return {};
}

bool is_known(Knowledge knowledge, const Tensor& tensor, const std::string& name,
              const onnx::GraphProto& graph) {
  if (knowledge == Knowledge::all_inputs) return true;
  if (knowledge == Knowledge::types_only || name == graph.input(0).name()) return false;
  return !is_floating(tensor.type()) && tensor.rank() <= 1;
}

Status run_data_set(const BackendCase& c, const onnx::GraphProto& graph, const DataSet& data,
                    Knowledge knowledge, const GraphExecutor& execute) {
  ImportOptions options;
  NamedTensors run_time;
  for (const auto& [name, tensor] : data.inputs) {
    if (is_known(knowledge, tensor, name, graph))
      options.values[name] = tensor;
    else
      run_time[name] = tensor;
    options.shapes[name] = tensor.dims();
  }
  auto imported = import_model(c.folder / "model.onnx", options);
  if (!imported) return imported.error();
  auto outputs = execute(imported->graph, run_time);
  if (!outputs) return Error{ErrorCode::internal, "run: " + outputs.error().message};
  for (const auto& [name, wanted] : data.outputs) {
    auto got = outputs->find(name);
    if (got == outputs->end()) return Error{ErrorCode::internal, "no output '" + name + "'"};
    CHECK_OK(compare(name, got->second, wanted));
  }
  return {};
}

Status run_data_sets(const BackendCase& c, const onnx::GraphProto& graph, Knowledge knowledge,
                     const GraphExecutor& execute) {
  for (int n = 0;; ++n) {
    auto folder = c.folder / ("test_data_set_" + std::to_string(n));
    if (!std::filesystem::exists(folder))
      return n > 0 ? Status() : Status(Error{ErrorCode::internal, "no data"});
    auto data = load_data(graph, folder);
    if (!data) return data.error();
    CHECK_OK(run_data_set(c, graph, *data, knowledge, execute));
  }
}

// Whether the case's data can be represented at all: no sequences, no strings.
bool has_data(const BackendCase& c, const onnx::GraphProto& graph) {
  if (!c.tensors_only) return false;
  auto data = load_data(graph, c.folder / "test_data_set_0");
  return data.ok() || data.error().code != ErrorCode::unsupported;
}

}  // namespace

Result<std::vector<BackendCase>> find_cases(const std::filesystem::path& folder) {
  std::vector<BackendCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!std::filesystem::exists(entry.path() / "model.onnx")) continue;
    TRY(auto model, load_model(entry.path() / "model.onnx"));
    BackendCase c{entry.path(), {}, true};
    collect_operators(model.graph(), c.operators);
    for (const auto& info : model.graph().input()) c.tensors_only &= info.type().has_tensor_type();
    for (const auto& info : model.graph().output()) c.tensors_only &= info.type().has_tensor_type();
    c.not_counted = reason_not_to_count(c, model.graph());
    cases.push_back(std::move(c));
  }
  std::sort(cases.begin(), cases.end(),
            [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return cases;
}

CaseResult run_case(const BackendCase& c, const GraphExecutor& execute) {
  auto model = load_model(c.folder / "model.onnx");
  if (!model) return {model.error()};
  if (!has_data(c, model->graph())) {
    auto imported = import_model(c.folder / "model.onnx");
    if (!imported) return {imported.error()};
    return {Error{ErrorCode::internal,
                  "its data has types that we do not have, it was imported nevertheless"}};
  }
  CaseResult result;
  for (Knowledge knowledge :
       {Knowledge::types_only, Knowledge::shape_inputs, Knowledge::all_inputs}) {
    result = {run_data_sets(c, model->graph(), knowledge, execute), knowledge};
    if (result.status.ok() || result.status.error().code != ErrorCode::unsupported) return result;
  }
  return result;
}

}  // namespace enginery::test
