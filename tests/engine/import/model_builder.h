// Builds small ONNX models with ONNX's own message classes, for tests of the importer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/import/importer.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace enginery::test {

// Whether `part` stands somewhere in `text`, a message for the most part.
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// An attribute: its name and how its message is filled.
struct Attr {
  std::string name;
  std::function<void(onnx::AttributeProto&)> fill;

  Attr(std::string name, int64_t value);
  Attr(std::string name, int value);
  Attr(std::string name, float value);
  Attr(std::string name, const char* value);
  Attr(std::string name, std::vector<int64_t> values);
  Attr(std::string name, std::vector<float> values);
  Attr(std::string name, const onnx::TensorProto& value);
  Attr(std::string name, const onnx::GraphProto& value);
  // The value of the call's attribute `of_call`, in a function's body.
  static Attr reference(std::string name, std::string of_call);
};

// A size of an input: a number, a symbol, or nothing known.
struct Size {
  int64_t value = -1;
  std::string symbol;
  Size(int v) : value(v) {}
  Size(int64_t v) : value(v) {}
  Size(const char* s) : symbol(s) {}
  bool unknown = false;
  static Size open() {
    Size s(0);
    s.unknown = true;
    return s;
  }
};

inline constexpr int kFloat = 1, kInt64 = 7, kString = 8, kBool = 9;  // TensorProto.DataType

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t opset = 13);
  ModelBuilder(ModelBuilder&&) noexcept;
  ~ModelBuilder();

  onnx::ModelProto& model() { return *model_; }
  onnx::GraphProto& graph();

  ModelBuilder& input(const std::string& name, const std::vector<Size>& sizes, int type = kFloat);
  ModelBuilder& output(const std::string& name);
  ModelBuilder& weights(const std::string& name, const std::vector<int64_t>& dims,
                        const std::vector<float>& values);
  ModelBuilder& ints(const std::string& name, const std::vector<int64_t>& values);
  ModelBuilder& node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::vector<Attr>& attributes = {});

  // The function `name` of the domain "local", whose body is the builder's graph; `attributes` are
  // the names that its calls may give.
  ModelBuilder& function(const std::string& name, ModelBuilder body,
                         const std::vector<std::string>& attributes = {});
  // A node that calls it.
  ModelBuilder& call(const std::string& function, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs,
                     const std::vector<Attr>& attributes = {});

  Bytes bytes() const;
  ModelSource source() const { return {"test.onnx", bytes(), std::nullopt}; }
  Result<ImportedModel> import(const ImportOptions& options = {}) const {
    return import_model(source(), options);
  }

 private:
  std::unique_ptr<onnx::ModelProto> model_;
};

// x float32[1,2,4,4] -> Conv 3x3 -> Relu -> y: the smallest model with weights.
ModelBuilder small_convolution();

}  // namespace enginery::test
