// Branches and loops whose course is known while reading: a branch is taken, a loop unrolled. ONNX
// If-21, Loop-21, Scan-21.
#include <algorithm>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

ValueId along_new_axis(NodeReader& node, const std::vector<ValueId>& slices, int64_t axis) {
  std::vector<ValueId> wide;
  for (const ValueId slice : slices)
    wide.push_back(node.add(Unsqueeze{}, {slice, node.ints_constant({axis})}));
  return node.add(Concat{axis}, wide);
}

void read_if(NodeReader& node) {
  node.ignore({"then_branch", "else_branch"});
  const bool is_then = node.one_int(node.input(0), "the condition") != 0;
  const auto outputs = node.body(is_then ? "then_branch" : "else_branch", {});
  if (!node.ok()) return;
  if (outputs.size() != node.output_count())
    return node.reject("its branch has " + std::to_string(outputs.size()) + " outputs, the node " +
                       std::to_string(node.output_count()));
  for (size_t i = 0; i < outputs.size(); ++i) node.result(outputs[i], i);
}

// Results of a body: those that the next iteration gets, and those of all iterations.
struct LoopValues {
  std::vector<SourceValue> carried;
  std::vector<std::vector<ValueId>> collected;

  // Takes the outputs of one iteration from `first` on; rejects the node where their number is
  // wrong.
  void take(NodeReader& node, const std::vector<SourceValue>& outputs, size_t first) {
    if (outputs.size() != first + carried.size() + collected.size())
      return node.reject("its body has " + std::to_string(outputs.size()) + " outputs, " +
                         std::to_string(first + carried.size() + collected.size()) +
                         " are expected");
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = outputs[first + i];
    for (size_t i = 0; i < collected.size(); ++i) {
      const SourceValue& value = outputs[first + carried.size() + i];
      if (value.kind != SourceValue::Kind::tensor)
        return node.reject("an output that the loop collects is no tensor");
      collected[i].push_back(value.tensor);
    }
  }
};

// Attribute `name` with one number for each of `count`; zeros where it is absent.
std::vector<int64_t> numbers_for(NodeReader& node, const char* name, size_t count) {
  auto values = node.integers(name, std::vector<int64_t>(count, 0));
  if (values.size() != count) {
    node.reject(std::string("attribute ") + name + " has " + std::to_string(values.size()) +
                " numbers, " + std::to_string(count) + " are expected");
    values.assign(count, 0);
  }
  return values;
}

void read_loop(NodeReader& node) {
  const int64_t trips =
      node.has_input(0) ? node.one_int(node.input(0), "the number of iterations") : INT64_MAX;
  const bool has_condition = node.has_input(1);
  bool goes_on = !has_condition || node.one_int(node.input(1), "the condition") != 0;
  LoopValues values;
  for (size_t i = 2; i < node.input_count(); ++i) values.carried.push_back(node.source(i));
  if (node.output_count() < values.carried.size())
    return node.reject("it has fewer outputs than values that it carries on");
  values.collected.resize(node.output_count() - values.carried.size());
  int64_t i = 0;
  for (; node.ok() && goes_on && i < trips; ++i) {
    std::vector<SourceValue> given{SourceValue::of(node.constant(Tensor::scalar(i))),
                                   SourceValue::of(node.constant(Tensor::scalar(true)))};
    given.insert(given.end(), values.carried.begin(), values.carried.end());
    const auto outputs = node.body("body", given);
    if (!node.ok()) return;
    values.take(node, outputs, 1);
    if (node.ok() && has_condition)
      goes_on = node.one_int(outputs[0].tensor, "whether the loop goes on") != 0;
  }
  node.ignore({"body"});
  if (!node.ok()) return;
  if (i == 0 && !values.collected.empty())
    return node.refuse("a loop without iterations that collects outputs is not supported");
  const size_t carried = values.carried.size();
  for (size_t k = 0; k < carried; ++k) node.result(values.carried[k], k);
  for (size_t k = 0; k < values.collected.size(); ++k) {
    if (node.has_output(carried + k))
      node.result(along_new_axis(node, values.collected[k], 0), carried + k);
  }
}

// What Scan's attributes say of its inputs or outputs: the axis and whether it runs from the end.
struct ScanAxes {
  std::vector<int64_t> axes, backward;
};

void read_scan(NodeReader& node) {
  if (node.opset() < 9) return node.refuse("its form of operator set 8 is not supported");
  const auto scanned =
      static_cast<size_t>(std::max<int64_t>(node.integer("num_scan_inputs", 0), 0));
  if (scanned == 0 || scanned > node.input_count())
    return node.reject("attribute num_scan_inputs does not fit its inputs");
  const size_t carried = node.input_count() - scanned;
  if (node.output_count() < carried) return node.reject("it has too few outputs");
  const size_t collected = node.output_count() - carried;
  ScanAxes in{numbers_for(node, "scan_input_axes", scanned),
              numbers_for(node, "scan_input_directions", scanned)};
  const ScanAxes out{numbers_for(node, "scan_output_axes", collected),
                     numbers_for(node, "scan_output_directions", collected)};
  LoopValues values;
  for (size_t i = 0; i < carried; ++i) values.carried.push_back(node.source(i));
  values.collected.resize(collected);
  int64_t length = 0;
  for (size_t i = 0; i < scanned; ++i) {
    const ValueId x = node.input(carried + i);
    in.axes[i] = node.axis(in.axes[i], node.rank(x));
    const int64_t size = node.size(x, in.axes[i], "the length of the scan");
    if (i > 0 && size != length) node.reject("its scanned inputs have different lengths");
    length = size;
  }
  if (node.ok() && length == 0) return node.refuse("a scan over nothing is not supported");
  for (int64_t t = 0; node.ok() && t < length; ++t) {
    std::vector<SourceValue> given = values.carried;
    for (size_t i = 0; i < scanned; ++i) {
      const int64_t at = in.backward[i] ? length - 1 - t : t;
      given.push_back(SourceValue::of(node.add(
          Gather{in.axes[i]}, {node.input(carried + i), node.constant(Tensor::scalar(at))})));
    }
    const auto outputs = node.body("body", given);
    if (node.ok()) values.take(node, outputs, 0);
  }
  for (size_t k = 0; k < carried; ++k) node.result(values.carried[k], k);
  for (size_t k = 0; node.ok() && k < collected; ++k) {
    auto& slices = values.collected[k];
    if (out.backward[k]) std::ranges::reverse(slices);
    node.result(along_new_axis(node, slices, node.axis(out.axes[k], node.rank(slices[0]) + 1)),
                carried + k);
  }
}

constexpr OperatorReader kControlReaders[] = {
    {"If", read_if},
    {"Loop", read_loop},
    {"Scan", read_scan},
};

}  // namespace

std::span<const OperatorReader> control_readers() {
  return kControlReaders;
}

}  // namespace enginery
