// SourceValue: what a name of an ONNX file stands for while it is read: a tensor of the graph, a
// list of such tensors (ONNX's sequence, which exists only while reading), or nothing.
#pragma once

#include <memory>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// The most tensors that one list may hold: a copy is made where one is added.
inline constexpr size_t kMaxListLength = 4096;

struct SourceValue {
  enum class Kind {
    unknown,  // its producer could not be read; the reason is among the problems
    absent,   // an optional input that is not given
    tensor,
    list,
  };
  Kind kind = Kind::unknown;
  ValueId tensor = kNoValue;
  std::shared_ptr<const std::vector<ValueId>> list;  // shared, so that passing it on costs nothing

  static SourceValue nothing() { return {Kind::absent, kNoValue, nullptr}; }
  // kNoValue is unknown.
  static SourceValue of(ValueId id) {
    return {id == kNoValue ? Kind::unknown : Kind::tensor, id, nullptr};
  }
  static SourceValue of(std::vector<ValueId> ids) {
    return {Kind::list, kNoValue, std::make_shared<const std::vector<ValueId>>(std::move(ids))};
  }
  bool is_known() const { return kind != Kind::unknown; }
};

// How a node's reader has a subgraph of the node read (If, Loop, Scan, SequenceMap).
class Bodies {
 public:
  virtual ~Bodies() = default;
  // The outputs of the subgraph in `attribute` for these inputs; its nodes go into the graph each
  // time. An output whose nodes could not be read is unknown. Errors: invalid_argument (no such
  // subgraph, another number of inputs), unsupported (too deep, too many nodes in all).
  virtual Result<std::vector<SourceValue>> read_body(const std::string& attribute,
                                                     const std::vector<SourceValue>& inputs) = 0;
};

}  // namespace enginery
