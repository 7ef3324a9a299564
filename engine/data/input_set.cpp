#include "engine/data/input_set.h"

#include <algorithm>

#include "engine/data/row_sources.h"

namespace enginery {
namespace {

struct Argument {
  size_t input = 0;  // index among the engine's inputs
  std::string path;
};

std::string names_of(const std::vector<InputDescription>& inputs) {
  std::string out;
  for (const InputDescription& input : inputs)
    out += (out.empty() ? "'" : ", '") + input.name + "'";
  return out;
}

// One argument; an archive without NAME provides one array for each input.
Result<std::vector<Argument>> parse_argument(const std::string& text,
                                             const std::vector<InputDescription>& inputs,
                                             const std::string& option) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (text.starts_with(inputs[i].name + "="))
      return std::vector{Argument{i, text.substr(inputs[i].name.size() + 1)}};
  }
  std::error_code ignored;
  if (size_t equals = text.find('=');
      equals != std::string::npos && !std::filesystem::exists(text, ignored)) {
    return Error{ErrorCode::usage, option + " " + text + ": the model has no input '" +
                                       text.substr(0, equals) +
                                       "' (its inputs: " + names_of(inputs) + ")"};
  }
  if (inputs.size() != 1 && is_archive(text)) {
    std::vector<Argument> all;
    for (size_t i = 0; i < inputs.size(); ++i) all.push_back({i, text});
    return all;
  }
  if (inputs.size() != 1) {
    return Error{ErrorCode::usage, option + " " + text +
                                       ": the model has several inputs, say which as NAME=PATH (" +
                                       names_of(inputs) + ")"};
  }
  return std::vector{Argument{0, text}};
}

// The steps for one input; null where the table is empty.
Result<const Preprocess*> steps_for(const std::string& input, const PreprocessTable& table) {
  if (table.empty()) return nullptr;
  if (auto it = table.find(""); it != table.end()) return &it->second;
  auto it = table.find(input);
  return it == table.end() ? nullptr : &it->second;
}

Status check_table(const PreprocessTable& table, const std::vector<InputDescription>& inputs) {
  for (const auto& [name, steps] : table) {
    if (name.empty() && inputs.size() > 1) {
      return Error{ErrorCode::invalid_argument,
                   "preprocessing: [input] needs a model of one input, this one has " +
                       names_of(inputs) + ": write [input.NAME]"};
    }
    const bool known = std::ranges::find(inputs, name, &InputDescription::name) != inputs.end();
    if (!name.empty() && !known) {
      return Error{ErrorCode::invalid_argument, "preprocessing: [input." + name +
                                                    "] names no input of the model (" +
                                                    names_of(inputs) + ")"};
    }
  }
  return {};
}

int64_t batch_of(const InputDescription& input) {
  return input.type.dims.empty() ? 1 : input.type.dims[0];
}

Result<Tensor> read_row(const std::vector<std::unique_ptr<RowSource>>& sources, int64_t row) {
  for (const auto& source : sources) {
    if (row < source->rows()) return source->read(row);
    row -= source->rows();
  }
  return Error{ErrorCode::internal, "InputSet: there is no such row"};
}

// The rows one after another, each of the same size, and the last one again up to the tensor's end.
Tensor stack_rows(const TensorType& type, const std::vector<const Tensor*>& rows) {
  Tensor out(type.type, type.dims);
  char* to = static_cast<char*>(out.mutable_bytes());
  const int64_t slots = type.dims.empty() ? 1 : type.dims[0];
  const auto row_bytes = static_cast<size_t>(out.bytes() / slots);
  for (size_t i = 0; i < static_cast<size_t>(slots); ++i)
    std::memcpy(to + i * row_bytes, rows[std::min(i, rows.size() - 1)]->raw(), row_bytes);
  return out;
}

// An input that is the same in every run.
Result<Tensor> read_whole(const std::vector<std::unique_ptr<RowSource>>& sources,
                          const TensorType& type) {
  std::vector<Tensor> read;
  for (const auto& source : sources) {
    for (int64_t row = 0; row < source->rows(); ++row) {
      TRY(Tensor one, source->read(row));
      read.push_back(std::move(one));
    }
  }
  std::vector<const Tensor*> rows;
  for (const Tensor& one : read) rows.push_back(&one);
  return stack_rows(type, rows);
}

}  // namespace

InputSet InputSet::without_rows(const std::vector<InputDescription>& inputs) {
  InputSet set;
  for (const InputDescription& input : inputs) {
    ENSURE(is_static(input.type.dims), "InputSet: an input with dynamic dims");
    set.bindings_.push_back({input, {}, 0});
  }
  return set;
}

Result<InputSet> InputSet::of(const std::map<std::string, Tensor>& tensors,
                              const std::vector<InputDescription>& inputs,
                              const std::string& label) {
  InputSet set = without_rows(inputs);
  for (Binding& binding : set.bindings_) {
    const auto given = tensors.find(binding.input.name);
    if (given == tensors.end()) continue;
    TRY(auto source, tensor_source(given->second, binding.input, label));
    binding.rows = source->rows();
    binding.sources.push_back(std::move(source));
  }
  CHECK_OK(set.settle("tensor"));
  return set;
}

Result<InputSet> InputSet::open(const std::vector<std::string>& arguments,
                                const std::vector<InputDescription>& inputs,
                                const PreprocessTable& table, const std::string& option) {
  CHECK_OK(check_table(table, inputs));
  if (inputs.empty() && !arguments.empty())
    return Error{ErrorCode::usage, option + " " + arguments[0] + ": the model has no inputs"};
  InputSet set = without_rows(inputs);
  for (const std::string& text : arguments) {
    TRY(const std::vector<Argument> parsed, parse_argument(text, inputs, option));
    for (const Argument& argument : parsed) {
      Binding& binding = set.bindings_[argument.input];
      TRY(const Preprocess* steps, steps_for(binding.input.name, table));
      TRY(auto sources, open_row_sources(argument.path, binding.input, steps));
      for (auto& source : sources) {
        binding.rows += source->rows();
        binding.sources.push_back(std::move(source));
      }
    }
  }
  CHECK_OK(set.settle(option));
  return set;
}

// Finds the common number of rows and of slices; the labels come from the first input that has more
// than one row.
Status InputSet::settle(const std::string& option) {
  const Binding* leader = nullptr;
  for (const Binding& binding : bindings_) {
    if (binding.sources.empty()) {
      const std::string& name = binding.input.name;
      return Error{ErrorCode::usage, "input '" + name + "' has no " + option + "; it takes " +
                                         to_string(binding.input.type) + ", for example " + option +
                                         " " + name + "=FILE.npy"};
    }
    if (batch_of(binding.input) == 0) {
      return Error{ErrorCode::invalid_argument,
                   "input '" + binding.input.name + "' has a batch of zero"};
    }
    if (binding.input.type.dims.empty()) continue;
    if (!leader) leader = &binding;
    if (binding.rows != leader->rows || batch_of(binding.input) != batch_of(leader->input)) {
      // Inputs whose first dimension is no batch (a table of anchors, say) are whole in one run.
      const bool whole =
          binding.rows == batch_of(binding.input) && leader->rows == batch_of(leader->input);
      if (whole) continue;
      return Error{ErrorCode::invalid_argument,
                   "inputs '" + leader->input.name + "' and '" + binding.input.name +
                       "' differ in rows: " + std::to_string(leader->rows) + " and " +
                       std::to_string(binding.rows)};
    }
  }
  if (!leader && !bindings_.empty()) leader = &bindings_.front();
  if (!leader) {  // a model of constants alone
    rows_ = 1;
    labels_ = {"-"};
    return {};
  }
  rows_ = leader->rows;
  batch_rows_ = batch_of(leader->input);
  for (const auto& source : leader->sources) {
    for (int64_t row = 0; row < source->rows(); ++row) labels_.push_back(source->label(row));
  }
  return {};
}

Result<InputBatch> InputSet::batch(int64_t index) {
  ENSURE(index >= 0 && index < batches(), "InputSet::batch: no such batch");
  const int64_t first = index * batch_rows_;
  std::vector<std::vector<Tensor>> rows;
  for (int64_t i = first; i < std::min(first + batch_rows_, rows_); ++i) {
    TRY(std::vector<Tensor> one, row(i));
    rows.push_back(std::move(one));
  }
  TRY(InputBatch out, join(rows));
  out.first_row = first;
  return out;
}

Result<std::vector<Tensor>> InputSet::row(int64_t index) {
  std::vector<Tensor> out;
  for (const Binding& binding : bindings_) {
    if (!follows_rows(binding)) continue;
    TRY(Tensor one, read_row(binding.sources, index));
    out.push_back(std::move(one));
  }
  return out;
}

Result<InputBatch> InputSet::join(const std::vector<std::vector<Tensor>>& rows) {
  InputBatch out;
  out.valid_rows = static_cast<int64_t>(rows.size());
  size_t next = 0;
  for (const Binding& binding : bindings_) {
    if (!follows_rows(binding)) {
      TRY(Tensor whole, read_whole(binding.sources, binding.input.type));
      out.tensors.emplace(binding.input.name, std::move(whole));
      continue;
    }
    std::vector<const Tensor*> parts;
    for (const std::vector<Tensor>& one : rows) parts.push_back(&one[next]);
    ++next;
    out.tensors.emplace(binding.input.name, stack_rows(binding.input.type, parts));
  }
  return out;
}

Status RowJoin::add_none(const std::map<std::string, TensorType>& outputs, int64_t batch_rows) {
  for (const auto& [name, type] : outputs) {
    if (type.dims.empty() || type.dims[0] != batch_rows || whole_.count(name) > 0) {
      return Error{ErrorCode::unsupported, "output '" + name + "' (" + to_string(type) +
                                               ") has no batch dimension, so it is not empty "
                                               "when the inputs have no rows"};
    }
    Part part{type, {}, false};
    part.type.dims[0] = 0;
    parts_.try_emplace(name, std::move(part));
  }
  return {};
}

Status RowJoin::add(const std::map<std::string, Tensor>& outputs, int64_t batch_rows,
                    int64_t valid_rows) {
  for (const auto& [name, tensor] : outputs) {
    const bool whole =
        tensor.rank() == 0 || tensor.dims()[0] != batch_rows || whole_.count(name) > 0;
    const auto [it, first] = parts_.try_emplace(name, Part{tensor.tensor_type(), {}, whole});
    Part& part = it->second;
    if (!first && (whole || part.whole)) {
      return Error{ErrorCode::unsupported,
                   "output '" + name + "' (" + to_string(tensor.tensor_type()) +
                       ") has no batch dimension, so several slices cannot be joined"};
    }
    if (!whole && first) part.type.dims[0] = 0;
    const int64_t bytes = whole ? tensor.bytes() : tensor.bytes() / batch_rows * valid_rows;
    part.bytes.append(static_cast<const char*>(tensor.raw()), static_cast<size_t>(bytes));
    if (!whole) part.type.dims[0] += valid_rows;
  }
  return {};
}

std::map<std::string, Tensor> RowJoin::finish() {
  std::map<std::string, Tensor> out;
  for (auto& [name, part] : parts_) {
    Tensor tensor(part.type.type, part.type.dims);
    std::memcpy(tensor.mutable_bytes(), part.bytes.data(), part.bytes.size());
    out.emplace(name, std::move(tensor));
  }
  parts_.clear();
  return out;
}

}  // namespace enginery
