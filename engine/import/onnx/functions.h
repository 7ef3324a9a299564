// The functions that a model brings along (FunctionProto). A node that calls one is read as the
// function's body in its place, with the node's attributes in the places that refer to them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/import/onnx/source_node.h"
#include "engine/import/onnx/weights.h"

namespace onnx {
class FunctionProto;
class GraphProto;
class ModelProto;
}  // namespace onnx

namespace enginery {

using Attributes = std::map<std::string, AttributeValue>;

bool is_standard_domain(const std::string& domain);  // ONNX's own operators

// One function: its body as a graph whose inputs and outputs have names alone.
struct Function {
  std::unique_ptr<onnx::GraphProto> body;
  int64_t opset = 0;          // of the standard domain; 0 where the function names none
  Attributes defaults;        // of attributes that a call may leave out
  bool is_ambiguous = false;  // several overloads, which are not told apart

  Function();
  Function(Function&&) noexcept;
  ~Function();
};

class FunctionTable {
 public:
  // Takes the functions' nodes out of the model. Errors: invalid_argument (names, attributes).
  Status read(onnx::ModelProto& model, WeightReader& weights);
  const Function* find(const std::string& domain, const std::string& name) const;

 private:
  Status add(onnx::FunctionProto& proto, WeightReader& weights);

  std::map<std::pair<std::string, std::string>, Function> functions_;
};

}  // namespace enginery
