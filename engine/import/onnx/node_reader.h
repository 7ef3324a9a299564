// NodeReader: what an operator reader sees of one ONNX node, and how it builds the node's meaning
// in the Graph.
//
// The first failure sticks: from then on every call does nothing and returns a neutral value, so
// that readers are straight code without a check on every line. The caller asks status() when the
// reader is done. Where all inputs of an added operator are known at build time and small, the
// result is computed on the spot, so that shapes made of shape arithmetic are constants when the
// next node's shape rule needs them.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>

#include "engine/graph/graph.h"
#include "engine/import/onnx/sizes/rewrite_open.h"
#include "engine/import/onnx/sizes/size_parts.h"
#include "engine/import/onnx/source_node.h"
#include "engine/import/onnx/source_value.h"

namespace enginery {

// What nodes may still cost during import; hostile models run out, real ones do not.
struct FoldBudget {
  int64_t elements = int64_t{1} << 25;        // computed by folding
  int64_t few_elements = int64_t{1} << 25;    // the same, by nodes of few elements: sizes, places
  int64_t constant_bytes = int64_t{1} << 29;  // made by readers: masks, grids, waves
  int64_t edges = int64_t{1} << 24;           // inputs of the nodes that readers add
};

class NodeReader {
 public:
  // `inputs` are what node.inputs stand for, none of them unknown. `bodies` reads the node's
  // subgraphs, `open` has the axes whose sizes runs tell.
  NodeReader(const SourceNode& node, std::vector<SourceValue> inputs, int64_t opset, Graph& graph,
             FoldBudget& budget, OpenAxes& open, Bodies& bodies);

  int64_t opset() const { return opset_; }
  const std::string& op_type() const { return node_.op_type; }

  // Inputs. input() rejects the node when the input is absent.
  size_t input_count() const { return inputs_.size(); }  // absent ones at the end are not counted
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != kNoValue; }
  bool has_list(size_t i) const { return i < inputs_.size() && sources_[i].list != nullptr; }
  std::vector<ValueId> list(size_t i);  // rejects the node when the input is no list of tensors
  SourceValue source(size_t i);         // the input, whatever it is
  ValueId optional_input(size_t i);     // kNoValue when absent
  ValueId input(size_t i);
  const std::vector<ValueId>& inputs();  // all of them

  // What is known of a value; neutral answers for kNoValue.
  const Dims& dims(ValueId v) const;
  int64_t rank(ValueId v) const { return static_cast<int64_t>(dims(v).size()); }
  DataType type(ValueId v) const;
  // Null as well where only a part of it counts.
  const Tensor* constant(ValueId v) const {
    return open_.of(v).axes.empty() ? graph_.constant(v) : nullptr;
  }
  // The axes of the values whose sizes runs tell: what a reader adds to them is its own to say.
  OpenAxes& open_axes() { return open_; }
  // What an integer vector or scalar is made of: numbers, and sizes that runs tell.
  std::optional<SizeParts> sizes_in(ValueId v) const { return size_parts(open_, graph_, v); }
  // The elements of a constant, as integers or floats; refuses the node when the value is known
  // only at run time.
  std::vector<int64_t> ints(ValueId v, std::string_view what);
  float number(ValueId v, std::string_view what);
  int64_t one_int(ValueId v, std::string_view what);
  // A dimension's size; refuses the node when it is known only at run time.
  int64_t size(ValueId v, int64_t axis, std::string_view what);
  // axis in [-rank, rank) -> [0, rank); rejects the node otherwise.
  int64_t axis(int64_t value, int64_t rank);

  // Outputs.
  size_t output_count() const { return node_.outputs.size(); }
  bool has_output(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

  // Attributes. Reading one with the wrong type rejects the node.
  bool has(const std::string& name) const { return node_.attributes.count(name) > 0; }
  int64_t integer(const std::string& name, int64_t otherwise);
  float real(const std::string& name, float otherwise);
  std::string text(const std::string& name, const std::string& otherwise);
  std::vector<int64_t> integers(const std::string& name, std::vector<int64_t> otherwise = {});
  const AttributeValue* any(const std::string& name);  // null when absent
  void ignore(
      std::initializer_list<const char*> names);  // attributes that do not matter at inference

  // Building. add() makes an intermediate value, result() the node's outputs in order.
  ValueId add(Op op, std::vector<ValueId> inputs);
  std::vector<ValueId> add_all(Op op, std::vector<ValueId> inputs);
  ValueId constant(Tensor tensor);
  // int64 0, 1, ... in order; refused, before they are made, where they take too much memory.
  ValueId counting(Dims dims);
  ValueId ints_constant(std::vector<int64_t> values);    // int64[n]
  ValueId number_constant(double value, DataType type);  // scalar
  // Infers types as the graph does: what a shape rule refuses, or a size beyond 2^31, ends the
  // node.
  void result(Op op, std::vector<ValueId> inputs);
  void result(Tensor tensor);
  void result(ValueId value, size_t output = 0);
  void result(SourceValue value, size_t output);
  // The outputs of the subgraph in attribute `name` for `inputs`, the nodes of which are added.
  // When one of them could not be read, the node ends without a problem of its own.
  std::vector<SourceValue> body(const std::string& name, const std::vector<SourceValue>& inputs);

  // Ends the node: this implementation cannot do it; or the file breaks ONNX's rules.
  void refuse(const std::string& reason) { fail({ErrorCode::unsupported, reason}); }
  void reject(const std::string& reason) { fail({ErrorCode::invalid_argument, reason}); }

  bool ok() const { return status_.ok() && !has_unknown_; }
  // The first failure; an input or attribute that the reader never looked at is one.
  Status finish();
  // Whether the node ended because its subgraph has nodes that could not be read.
  bool has_unknown() const { return has_unknown_; }
  const std::vector<SourceValue>& results() const { return results_; }

 private:
  void fail(Error error);
  bool has_room(int64_t bytes);  // for constants; refuses the node where there is none
  template <typename T>
  T attribute(const std::string& name, T otherwise, const char* expected);
  std::vector<ValueId> add_named(Op op, std::vector<ValueId> inputs,
                                 const std::vector<std::string>& names);
  std::vector<ValueId> add_rewritten(Op op, std::vector<ValueId> inputs,
                                     const std::vector<std::string>& names);
  std::vector<ValueId> add_closed(Op op, std::vector<ValueId> inputs,
                                  const std::vector<std::string>& names);
  std::optional<std::vector<Tensor>> fold(const Op& op, const std::vector<ValueId>& inputs);
  std::string own_name() const;

  const SourceNode& node_;
  std::vector<SourceValue> sources_;  // the inputs
  std::vector<ValueId> inputs_;       // the tensors among them
  int64_t opset_;
  Graph& graph_;
  FoldBudget& budget_;
  OpenAxes& open_;
  Bodies& bodies_;
  Status status_;
  bool has_unknown_ = false;
  std::set<std::string> read_;  // attributes
  std::vector<bool> inputs_read_;
  std::vector<SourceValue> results_;
};

}  // namespace enginery
