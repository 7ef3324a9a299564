// The types of an ONNX graph's inputs, with the sizes that the caller gave (ImportOptions::shapes).
//
// A size given to a symbol ("N") holds for every input that names it; open sizes become 1 or stay
// symbols of the graph, as the options say. Used by GraphReader before any node is read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/import/importer.h"

namespace onnx {
class GraphProto;
class ValueInfoProto;
}  // namespace onnx

namespace enginery {

// Decides every input's type: first construct (binds symbols to given sizes), then ask input by
// input.
class InputTypes {
 public:
  // `inputs` are the graph's inputs that are not initialisers. Errors: invalid_argument (a shape
  // for no input or of another rank; a symbol with two sizes; a size that cannot be), unsupported
  // (no tensor, an element type).
  static Result<InputTypes> read(const std::vector<const onnx::ValueInfoProto*>& inputs,
                                 const ImportOptions& options);

  // The type of the i-th input; symbols that stay open become sizes of `graph`.
  TensorType type(size_t i, Graph& graph) const;
  // "data: N = 1", for sizes that became 1.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Size {
    int64_t value = kDynamic;  // -1 when open
    std::string symbol;        // empty when anonymous
  };
  struct Input {
    std::string name;
    DataType type = DataType::float32;
    bool has_shape = false;
    std::vector<Size> sizes;
  };

  static Result<Input> declared(const onnx::ValueInfoProto& info);
  Status apply_shapes(const std::map<std::string, Dims>& shapes);
  Status bind(const Input& input, Size& size, int64_t value);
  Status close_open_sizes(bool default_to_one);
  Status check_sizes() const;

  std::vector<Input> inputs_;
  std::map<std::string, int64_t> bound_;  // symbol -> size
  std::vector<std::string> notes_;
};

}  // namespace enginery
