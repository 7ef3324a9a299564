#include "cli/local/comparison.h"

#include <algorithm>
#include <set>

#include "cli/output/text.h"

namespace enginery {
namespace {

std::vector<std::string> names_of(const std::map<std::string, Tensor>& tensors) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : tensors) out.push_back(name);
  return out;
}

Error no_common_output(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return {ErrorCode::invalid_argument, "there is nothing to compare: A's outputs are '" +
                                           joined(a, "', '") + "', B's are '" + joined(b, "', '") +
                                           "'"};
}

Result<double> default_tolerance(const ComparedSide& a, const ComparedSide& b) {
  TRY(const double bar_a, a.bar());
  TRY(const double bar_b, b.bar());
  const double bar = std::max(bar_a, bar_b);
  return bar > 0 ? bar : accuracy_bar({Precision::fp32}, DeviceKind::cpu);
}

// The row of the inputs in which the worst difference lies; what is counted has no such rows.
int64_t worst_row(const OutputComparison& output, int64_t rows) {
  const Dims& dims = output.type.dims;
  if (rows == 0 || !output.counts.empty() || dims.empty() || dims[0] != rows ||
      output.errors.elements == 0)
    return 0;
  return output.errors.worst_element / (output.errors.elements / rows);
}

const CountedSizes* counted_sizes(const SideOutputs& side, const std::string& output) {
  const auto found = side.counted.find(output);
  return found == side.counted.end() ? nullptr : &found->second;
}

// The trace's outputs in the order of `pairs`, whose names of this side are `name`.
Status put_in_order(SideTrace& side, const std::vector<NamedPair>& pairs,
                    std::string NamedPair::*name) {
  std::vector<size_t> ordered;
  for (const NamedPair& pair : pairs) {
    const auto found = std::ranges::find(side.outputs, pair.*name);
    if (found == side.outputs.end())
      return Error{ErrorCode::internal, "a trace without output '" + pair.*name + "'"};
    ordered.push_back(side.trace.outputs[static_cast<size_t>(found - side.outputs.begin())]);
  }
  side.trace.outputs = std::move(ordered);
  return {};
}

// Why the layers of the two cannot be held against each other; "".
std::string obstacle(const ComparedSide& a, const SideOutputs& of_a, const ComparedSide& b,
                     const SideOutputs& of_b) {
  if (a.kind() == SideKind::saved || b.kind() == SideKind::saved)
    return "saved outputs have no layers";
  return of_a.batch_rows == of_b.batch_rows ? "" : "the two take batches of other sizes";
}

size_t eight_bit_values(const RunTrace& trace) {
  return static_cast<size_t>(std::ranges::count_if(trace.values, [](const TracedValue& value) {
    const DataType type = value.type.type;
    return value.computed && element_bytes(type) == 1 && type != DataType::boolean;
  }));
}

// Which of the two the other one's layers are held against: the one that lacks fewer values. An
// engine's fused layers lack values of the model, never the other way round, and 8-bit numbers
// stand where the other side has floats.
bool is_a_the_measure(const ComparedSide& a, const RunTrace& of_a, const ComparedSide& b,
                      const RunTrace& of_b) {
  if (a.kind() != b.kind()) return a.kind() == SideKind::model;
  return eight_bit_values(of_a) < eight_bit_values(of_b);
}

// Runs both again, layer by layer, on the batch with the worst difference.
Status look_at_layers(ComparedSide& a, ComparedSide& b, const ComparedData& data,
                      const std::vector<NamedPair>& pairs, ComparisonReport& out) {
  const int64_t row = worst_row(out.worst(), out.rows);
  TRY(SideTrace trace_a, a.trace(data, row));
  TRY(SideTrace trace_b, b.trace(data, row));
  out.tensors = value_errors(trace_a.trace, trace_b.trace);
  if (out.within()) return {};
  CHECK_OK(put_in_order(trace_a, pairs, &NamedPair::a));
  CHECK_OK(put_in_order(trace_b, pairs, &NamedPair::b));
  out.first = is_a_the_measure(a, trace_a.trace, b, trace_b.trace)
                  ? first_divergence(trace_a.trace, trace_b.trace, out.tolerance)
                  : first_divergence(trace_b.trace, trace_a.trace, out.tolerance);
  return {};
}

}  // namespace

bool ComparisonReport::within() const {
  return worst().errors.relative <= tolerance &&
         std::ranges::all_of(outputs, &OutputComparison::counts_agree);
}

const OutputComparison& ComparisonReport::worst() const {
  return *std::ranges::max_element(
      outputs, {}, [](const OutputComparison& output) { return output.errors.relative; });
}

std::vector<NamedPair> paired_outputs(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b) {
  if (a.size() == 1 && b.size() == 1) return {{a[0], b[0]}};
  const std::vector<std::string> files_a = file_names_for(a), files_b = file_names_for(b);
  std::vector<NamedPair> out;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] == b[j] || files_a[i] == b[j] || a[i] == files_b[j]) {
        out.push_back({a[i], b[j]});
        break;
      }
    }
  }
  return out;
}

Result<ComparisonReport> compare_sides(ComparedSide& a, ComparedSide& b, const ComparedData& data,
                                       const ComparisonOptions& options) {
  ComparisonReport out;
  if (options.tolerance) {
    out.tolerance = *options.tolerance;
  } else {
    TRY(out.tolerance, default_tolerance(a, b));
  }
  TRY(const SideOutputs of_a, a.run(data));
  TRY(const SideOutputs of_b, b.run(data));
  const auto names_a = names_of(of_a.tensors), names_b = names_of(of_b.tensors);
  const std::vector<NamedPair> pairs = paired_outputs(names_a, names_b);
  if (pairs.empty()) return no_common_output(names_a, names_b);
  std::set<std::string> left(names_a.begin(), names_a.end());
  left.insert(names_b.begin(), names_b.end());
  for (const NamedPair& pair : pairs) {
    left.erase(pair.a);
    left.erase(pair.b);
    const CountedSizes* counted = counted_sizes(of_a, pair.a);
    if (counted == nullptr) counted = counted_sizes(of_b, pair.b);
    TRY(out.outputs.emplace_back(),
        compare_tensors(pair.a, of_a.tensors.at(pair.a), of_b.tensors.at(pair.b), counted));
  }
  out.left_out.assign(left.begin(), left.end());
  out.rows = std::max(of_a.rows, of_b.rows);
  if (out.within() && !options.tensors) return out;
  out.no_layers = obstacle(a, of_a, b, of_b);
  if (!out.no_layers.empty()) return out;
  CHECK_OK(look_at_layers(a, b, data, pairs, out));
  return out;
}

}  // namespace enginery
