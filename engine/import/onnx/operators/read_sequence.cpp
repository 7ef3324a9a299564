// Lists of tensors, which fold away while reading: their lengths and the places that are read are
// known. ONNX SequenceConstruct-11, SequenceEmpty-11, SequenceAt-11, SequenceInsert-11,
// SequenceErase-11, SequenceLength-11, SplitToSequence-11, ConcatFromSequence-11, SequenceMap-17,
// Optional-15, OptionalGetElement-18, OptionalHasElement-18.
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

void read_sequence_construct(NodeReader& node) {
  for (size_t i = 0; i < node.input_count(); ++i) node.input(i);
  node.result(SourceValue::of(node.inputs()), 0);
}

void read_sequence_empty(NodeReader& node) {
  node.ignore({"dtype"});
  node.result(SourceValue::of(std::vector<ValueId>()), 0);
}

// Input 1 or 2, a place in a list of which `size` may be asked for; negative ones count from the
// end. Rejects the node where the place does not exist.
size_t place_in_list(NodeReader& node, size_t input, size_t size) {
  const int64_t count = static_cast<int64_t>(size);
  int64_t at = node.one_int(node.input(input), "the position in the sequence");
  if (at < 0) at += count;
  if (node.ok() && (at < 0 || at >= count))
    node.reject("the position is outside of the sequence, which has " + std::to_string(count) +
                " places");
  return node.ok() ? static_cast<size_t>(at) : 0;
}

void read_sequence_at(NodeReader& node) {
  const auto list = node.list(0);
  const size_t at = place_in_list(node, 1, list.size());
  if (node.ok()) node.result(SourceValue::of(list[at]), 0);
}

void read_sequence_insert(NodeReader& node) {
  auto list = node.list(0);
  const ValueId added = node.input(1);
  int64_t at = static_cast<int64_t>(list.size());
  if (node.has_input(2)) {
    // Inserting at the length appends; negative positions count from the end of the list itself.
    at = node.one_int(node.input(2), "the position in the sequence");
    if (at < 0) at += static_cast<int64_t>(list.size());
    if (at < 0 || at > static_cast<int64_t>(list.size()))
      node.reject("the position is outside of the sequence");
  }
  if (!node.ok()) return;
  list.insert(list.begin() + at, added);
  node.result(SourceValue::of(std::move(list)), 0);
}

void read_sequence_erase(NodeReader& node) {
  auto list = node.list(0);
  if (node.ok() && list.empty()) return node.reject("the sequence is empty");
  const size_t at = node.has_input(1) ? place_in_list(node, 1, list.size()) : list.size() - 1;
  if (!node.ok()) return;
  list.erase(list.begin() + static_cast<int64_t>(at));
  node.result(SourceValue::of(std::move(list)), 0);
}

void read_sequence_length(NodeReader& node) {
  node.result(Tensor::scalar(static_cast<int64_t>(node.list(0).size())));
}

// The sizes of the parts: given one by one, one size for all but the last, or 1 without an input.
std::vector<int64_t> part_sizes(NodeReader& node, int64_t whole) {
  std::vector<int64_t> sizes{1};
  bool is_one_size = true;
  if (node.has_input(1)) {
    const ValueId split = node.input(1);
    sizes = node.ints(split, "the sizes of the parts");
    is_one_size = node.rank(split) == 0;
  }
  if (!node.ok() || !is_one_size) return sizes;
  const int64_t part = sizes.empty() ? 0 : sizes[0];
  if (part < 1 || whole / part > static_cast<int64_t>(kMaxListLength)) {
    node.reject("it cannot be split into parts of " + std::to_string(part));
    return {};
  }
  sizes.assign(static_cast<size_t>(whole / part), part);
  if (whole % part != 0) sizes.push_back(whole % part);
  return sizes;
}

void read_split_to_sequence(NodeReader& node) {
  const ValueId x = node.input(0);
  const int64_t axis = node.axis(node.integer("axis", 0), node.rank(x));
  const bool keeps = node.integer("keepdims", 1) != 0 || node.has_input(1);
  Split op{axis, part_sizes(node, node.size(x, axis, "the size that is split"))};
  if (node.ok() && op.sizes.size() > kMaxListLength)
    return node.refuse("a sequence of " + std::to_string(op.sizes.size()) + " tensors is too long");
  if (node.ok() && op.sizes.empty()) return node.result(SourceValue::of(std::vector<ValueId>()), 0);
  auto parts = node.add_all(op, {x});
  if (!keeps) {
    for (ValueId& part : parts) part = node.add(Squeeze{}, {part, node.ints_constant({axis})});
  }
  node.result(SourceValue::of(std::move(parts)), 0);
}

void read_concat_from_sequence(NodeReader& node) {
  auto list = node.list(0);
  const int64_t axis = node.integer("axis", 0);
  const bool is_new = node.integer("new_axis", 0) != 0;
  if (node.ok() && list.empty()) return node.reject("the sequence is empty");
  if (!node.ok()) return;
  const int64_t place = node.axis(axis, node.rank(list[0]) + is_new);
  if (is_new) {
    for (ValueId& part : list) part = node.add(Unsqueeze{}, {part, node.ints_constant({place})});
  }
  node.result(Concat{place}, list);
}

// The body once for each element of the first list; other inputs are lists of that length, or
// tensors that every round gets.
void read_sequence_map(NodeReader& node) {
  const size_t rounds = node.list(0).size();
  std::vector<std::vector<ValueId>> made(node.output_count());
  node.ignore({"body"});
  for (size_t round = 0; node.ok() && round < rounds; ++round) {
    std::vector<SourceValue> given;
    for (size_t i = 0; i < node.input_count(); ++i) {
      const SourceValue source = node.source(i);
      if (source.list && source.list->size() != rounds)
        return node.reject("its sequences have different lengths");
      given.push_back(source.list ? SourceValue::of((*source.list)[round]) : source);
    }
    const auto outputs = node.body("body", given);
    if (!node.ok()) return;
    if (outputs.size() != made.size()) return node.reject("its body has another number of outputs");
    for (size_t i = 0; i < made.size(); ++i) made[i].push_back(outputs[i].tensor);
  }
  for (size_t i = 0; i < made.size(); ++i) node.result(SourceValue::of(made[i]), i);
}

void read_optional(NodeReader& node) {
  node.ignore({"type"});
  node.result(node.source(0), 0);
}

void read_optional_get_element(NodeReader& node) {
  if (!node.has_input(0) && !node.has_list(0)) return node.reject("the optional is empty");
  node.result(node.source(0), 0);
}

void read_optional_has_element(NodeReader& node) {
  const SourceValue x = node.source(0);
  node.result(Tensor::scalar(x.kind != SourceValue::Kind::absent));
}

constexpr OperatorReader kSequenceReaders[] = {
    {"SequenceConstruct", read_sequence_construct},
    {"SequenceEmpty", read_sequence_empty},
    {"SequenceAt", read_sequence_at},
    {"SequenceInsert", read_sequence_insert},
    {"SequenceErase", read_sequence_erase},
    {"SequenceLength", read_sequence_length},
    {"SplitToSequence", read_split_to_sequence},
    {"ConcatFromSequence", read_concat_from_sequence},
    {"SequenceMap", read_sequence_map},
    {"Optional", read_optional},
    {"OptionalGetElement", read_optional_get_element},
    {"OptionalHasElement", read_optional_has_element},
};

}  // namespace

std::span<const OperatorReader> sequence_readers() {
  return kSequenceReaders;
}

}  // namespace enginery
