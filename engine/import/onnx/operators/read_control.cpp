// Branches and loops: a branch is taken, or both are computed where a run alone says which one; a
// loop, whose course is known while reading, is unrolled. ONNX If-21, Loop-21, Scan-21.
#include <algorithm>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"
#include "engine/import/onnx/sizes/size_parts.h"

namespace enginery {
namespace {

ValueId along_new_axis(NodeReader& node, const std::vector<ValueId>& slices, int64_t axis) {
  std::vector<ValueId> wide;
  for (const ValueId slice : slices)
    wide.push_back(node.add(Unsqueeze{}, {slice, node.ints_constant({axis})}));
  return node.add(Concat{axis}, wide);
}

std::vector<SourceValue> branch(NodeReader& node, const char* name) {
  auto outputs = node.body(name, {});
  if (node.ok() && outputs.size() != node.output_count())
    node.reject("its branch has " + std::to_string(outputs.size()) + " outputs, the node " +
                std::to_string(node.output_count()));
  return node.ok() ? outputs : std::vector<SourceValue>();
}

// The dimensions in which two values of one rank differ, by size or by who counts it.
std::vector<int64_t> differing_axes(NodeReader& node, ValueId a, ValueId b) {
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < node.rank(a); ++d) {
    const auto at = static_cast<size_t>(d);
    if (node.dims(a)[at] != node.dims(b)[at] ||
        node.open_axes().count(a, d) != node.open_axes().count(b, d))
      axes.push_back(d);
  }
  return axes;
}

// The value with zeros behind it up to `size` along the axis, as one of which all counts.
ValueId widened(NodeReader& node, ValueId v, int64_t axis, int64_t size) {
  const ValueId all = node.add(Identity{}, {v});
  node.open_axes().remove(all);
  const auto rank = static_cast<size_t>(node.rank(v));
  std::vector<int64_t> pads(2 * rank, 0);
  if (!node.ok()) return kNoValue;
  pads[rank + static_cast<size_t>(axis)] = size - node.dims(v)[static_cast<size_t>(axis)];
  return node.add(Pad{}, {all, node.ints_constant(pads), node.number_constant(0, node.type(v))});
}

// a where the condition holds, b elsewhere; along one dimension they may have other sizes.
ValueId either(NodeReader& node, ValueId condition, ValueId a, ValueId b) {
  OpenAxes& open = node.open_axes();
  const auto differ = [&] {
    node.refuse("the condition is known only at run time, and its branches give " +
                to_string(TensorType{node.type(a), node.dims(a)}) + " and " +
                to_string(TensorType{node.type(b), node.dims(b)}));
    return kNoValue;
  };
  if (!node.ok()) return kNoValue;
  if (node.type(a) != node.type(b) || node.rank(a) != node.rank(b)) return differ();
  const std::vector<int64_t> axes = differing_axes(node, a, b);
  if (axes.empty()) return node.add(Where{}, {condition, a, b});
  const bool others = open.of(a).axes.size() > 1 || open.of(b).axes.size() > 1;
  if (axes.size() > 1 || others) return differ();
  const auto size = [&](ValueId v) { return node.dims(v)[static_cast<size_t>(axes[0])]; };
  if (size(a) < 0 || size(b) < 0) return differ();
  const auto count = [&](ValueId v) {
    const ValueId counted = open.count(v, axes[0]);
    return counted != kNoValue ? counted : node.constant(Tensor::scalar(size(v)));
  };
  const int64_t largest = std::max(size(a), size(b));
  const ValueId taken = node.add(Where{}, {condition, count(a), count(b)});
  const ValueId out = node.add(
      Where{}, {condition, widened(node, a, axes[0], largest), widened(node, b, axes[0], largest)});
  open.add_count(taken, largest);
  open.add(out, {{{axes[0], taken}}, false});
  return out;
}

// Of a condition that a run computes both branches are computed, and one is taken.
void read_open_if(NodeReader& node, ValueId given) {
  const ValueId condition = node.add(Reshape{}, {given, node.ints_constant({})});
  const auto then = branch(node, "then_branch"), otherwise = branch(node, "else_branch");
  for (size_t i = 0; node.ok() && i < then.size(); ++i) {
    if (then[i].kind != SourceValue::Kind::tensor || otherwise[i].kind != SourceValue::Kind::tensor)
      return node.refuse("the condition is known only at run time, and a branch gives no tensor");
    node.result(either(node, condition, then[i].tensor, otherwise[i].tensor), i);
  }
}

void read_if(NodeReader& node) {
  node.ignore({"then_branch", "else_branch"});
  const ValueId condition = node.input(0);
  if (!node.constant(condition)) return read_open_if(node, condition);
  const bool is_then = node.one_int(condition, "the condition") != 0;
  const auto outputs = branch(node, is_then ? "then_branch" : "else_branch");
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

// A loop over what a run finds, as torchvision's exports of masks and key points have.
bool is_counted_by_runs(NodeReader& node, ValueId trips) {
  return trips != kNoValue && has_count(node.sizes_in(trips));
}

void read_loop(NodeReader& node) {
  if (is_counted_by_runs(node, node.optional_input(0)))
    return node.refuse(
        "it iterates as often as a run finds something, and loops are unrolled while a model is "
        "read; export the model without it and compute it from the outputs before it");
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
