#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "enginery/result.h"

namespace enginery {
namespace {

// Statements that turn `rest`, a place in the output, into `at`, the operand's; both are unsigned,
// `at` starts as 0.
std::string place_statements(const BroadcastStrides& strides) {
  std::string text;
  for (size_t d = strides.dims.size(); d-- > 0;) {
    const std::string size = std::to_string(strides.dims[d]) + "u",
                      stride = std::to_string(strides.strides[d]) + "u";
    const bool outermost = d == 0;
    if (strides.strides[d])
      text += " at += " + (outermost ? "rest" : "rest % " + size) + " * " + stride + ";";
    if (!outermost) text += " rest /= " + size + ";";
  }
  return text;
}

// One element of an operand as a float, at the place `at`.
std::string each_text(const std::string& pointer, DataType type, const std::string& at) {
  const std::string from = "static_cast<const " + element_type_text(type) + "*>(" + pointer + ")";
  return is_floating(type) ? "load_one(" + from + " + " + at + ")"
                           : "static_cast<float>(" + from + "[" + at + "])";
}

// Declares `u` with `width` elements and reads the operand of `slot` into it.
std::string operand_text(OperandAccess access, int slot, const std::string& type,
                         const BroadcastStrides& strides, const std::string& u,
                         const std::string& width, const std::string& place = "index") {
  std::string declare = "float " + u + "[" + width + "];\n    ";
  std::string pointer = "args.operand[" + std::to_string(slot) + "]";
  std::string load = declare + "load_vector<" + width + ">(static_cast<const ";
  switch (access) {
    case OperandAccess::channel:
      return load + "float*>(" + pointer + ") + k, " + u + ");";
    case OperandAccess::same:
      return load + type + "*>(" + pointer + ") + " + place + ", " + u + ");";
    case OperandAccess::image_channel:
      return load + type + "*>(" + pointer + ") + static_cast<long long>(image) * ldy + k, " + u +
             ");";
    case OperandAccess::single:
      return declare + "for (int j = 0; j < " + width + "; ++j) " + u +
             "[j] = *static_cast<const float*>(" + pointer + ");";
    case OperandAccess::broadcast:
      return declare + "#pragma unroll\n    for (int j = 0; j < " + width +
             "; ++j) {\n      unsigned rest = static_cast<unsigned>(index) + j, at = 0;\n     " +
             place_statements(strides) + "\n      " + u +
             "[j] = " + each_text(pointer, strides.type, "at") + ";\n    }";
  }
  return {};
}

// The same of integers or booleans at the output's place.
std::string integer_operand_text(int slot, DataType type, const std::string& u,
                                 const std::string& width) {
  const std::string pointer = "args.operand[" + std::to_string(slot) + "]";
  return "float " + u + "[" + width + "];\n#pragma unroll\n    for (int j = 0; j < " + width +
         "; ++j) " + u + "[j] = " + each_text(pointer, type, "index + j") + ";";
}

std::string step_text(const FusedStep& step, const std::string& type, const std::string& width) {
  const std::string each = "\n#pragma unroll\n    for (int j = 0; j < " + width + "; ++j) v[j] ";
  if (step.kind == FusedStepKind::activation) {
    return "  {" + each + "= " + activation_text(step.activation, "v[j]") + ";\n  }\n";
  }
  const char* op = step.kind == FusedStepKind::multiply ? "*=" : "+=";
  return "  {\n    " + operand_text(step.access, step.slot, type, step.strides, "u", width) + each +
         op + " u[j];\n  }\n";
}

}  // namespace

std::string literal_text(float value) {
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  char text[40];
  std::snprintf(text, sizeof text, "(%af)", static_cast<double>(value));
  return text;
}

std::string place_text(const std::string& name, const BroadcastStrides& strides) {
  return "__device__ __forceinline__ unsigned " + name + "(unsigned rest) { unsigned at = 0;" +
         place_statements(strides) + " return at; }\n";
}

std::string storage_type_text(DataType type) {
  if (type == DataType::float32) return "float";
  if (type == DataType::float16) return "half_t";
  if (type == DataType::bfloat16) return "bfloat_t";
  return {};
}

std::string element_type_text(DataType type) {
  switch (type) {
    case DataType::int8:
      return "signed char";
    case DataType::uint8:
    case DataType::boolean:
      return "unsigned char";
    case DataType::int32:
      return "int";
    case DataType::int64:
      return "long long";
    case DataType::float64:
      return "double";
    default:
      return storage_type_text(type);
  }
}

std::string unit_text(int64_t bytes) {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned";
    case 8:
      return "unsigned long long";
    default:
      return "Bytes16";
  }
}

std::string activation_text(const Activation& op, const std::string& x) {
  std::string a = literal_text(op.alpha), b = literal_text(op.beta);
  switch (op.kind) {
    case ActivationKind::relu:
      return x + " < 0 ? 0.0f : " + x;
    case ActivationKind::clip:
      return "clip(" + x + ", " + a + ", " + b + ")";
    case ActivationKind::leaky_relu:
      return x + " < 0 ? " + a + " * " + x + " : " + x;
    case ActivationKind::elu:
      return x + " < 0 ? " + a + " * expm1f(" + x + ") : " + x;
    case ActivationKind::selu:
      return b + " * (" + x + " < 0 ? " + a + " * expm1f(" + x + ") : " + x + ")";
    case ActivationKind::celu:
      return x + " < 0 ? " + a + " * expm1f(" + x + " / " + a + ") : " + x;
    case ActivationKind::sigmoid:
      return "1.0f / (1.0f + expf(-(" + x + ")))";
    case ActivationKind::hard_sigmoid:
      return "clip(" + a + " * " + x + " + " + b + ", 0.0f, 1.0f)";
    case ActivationKind::hard_swish:
      return x + " * clip(" + x + " / 6.0f + 0.5f, 0.0f, 1.0f)";
    case ActivationKind::swish: {
      std::string slope = op.alpha == 0 || op.alpha == 1 ? x : a + " * " + x;
      return x + " / (1.0f + expf(-(" + slope + ")))";
    }
    case ActivationKind::mish:
      return x + " * tanhf(fmaxf(" + x + ", 0.0f) + log1pf(expf(-fabsf(" + x + "))))";
    case ActivationKind::tanh:
      return "tanhf(" + x + ")";
    case ActivationKind::softplus:
      return "fmaxf(" + x + ", 0.0f) + log1pf(expf(-fabsf(" + x + ")))";
    case ActivationKind::softsign:
      return x + " / (1.0f + fabsf(" + x + "))";
    case ActivationKind::gelu_erf:
      return "0.5f * " + x + " * (1.0f + erff(" + x + " * 0.70710678f))";
    case ActivationKind::gelu_tanh:
      return "0.5f * " + x + " * (1.0f + tanhf(0.79788456f * (" + x + " + 0.044715f * " + x +
             " * " + x + " * " + x + ")))";
    case ActivationKind::thresholded_relu:
      return x + " > " + a + " ? " + x + " : 0.0f";
  }
  return {};
}

std::string unary_text(UnaryKind kind, const std::string& x) {
  auto call = [&](const char* name) { return std::string(name) + "(" + x + ")"; };
  switch (kind) {
    case UnaryKind::abs:
      return call("fabsf");
    case UnaryKind::neg:
      return "-(" + x + ")";
    case UnaryKind::exp:
      return call("expf");
    case UnaryKind::log:
      return call("logf");
    case UnaryKind::sqrt:
      return call("sqrtf");
    case UnaryKind::reciprocal:
      return "1.0f / (" + x + ")";
    case UnaryKind::floor:
      return call("floorf");
    case UnaryKind::ceil:
      return call("ceilf");
    case UnaryKind::round:
      return call("rintf");
    case UnaryKind::sign:
      return x + " > 0 ? 1.0f : " + x + " < 0 ? -1.0f : " + x;
    case UnaryKind::erf:
      return call("erff");
    case UnaryKind::sin:
      return call("sinf");
    case UnaryKind::cos:
      return call("cosf");
    case UnaryKind::tan:
      return call("tanf");
    case UnaryKind::asin:
      return call("asinf");
    case UnaryKind::acos:
      return call("acosf");
    case UnaryKind::atan:
      return call("atanf");
    case UnaryKind::sinh:
      return call("sinhf");
    case UnaryKind::cosh:
      return call("coshf");
    case UnaryKind::asinh:
      return call("asinhf");
    case UnaryKind::acosh:
      return call("acoshf");
    case UnaryKind::atanh:
      return call("atanhf");
    case UnaryKind::logical_not:
    case UnaryKind::is_positive_inf:
    case UnaryKind::is_negative_inf:
    case UnaryKind::bitwise_not:
    case UnaryKind::is_nan:
    case UnaryKind::is_inf:
      return {};
  }
  return {};
}

std::string epilogue_text(const FusedEpilogue& epilogue) {
  std::string text =
      "template <int V>\n__device__ __forceinline__ void epilogue(float (&v)[V], const "
      "EpilogueArgs& args, int image, int k, "
      "long long index, int ldy, int channels) {\n";
  for (const FusedStep& step : epilogue.steps)
    text += step_text(step, element_type_text(epilogue.output), "V");
  if (epilogue.zero_padding) {
    text +=
        "#pragma unroll\n  for (int j = 0; j < V; ++j) v[j] = k + j < channels ? v[j] : 0.0f;\n";
  }
  return text + "}\n";
}

std::string early_epilogue_text(const FusedEpilogue& epilogue) {
  const std::string type = element_type_text(epilogue.output);
  std::string channels, row, read_channels, read_row, steps;
  for (const FusedStep& step : epilogue.steps) {
    const std::string slot = std::to_string(step.slot);
    const bool of_channel = step.access == OperandAccess::channel,
               of_row = step.access == OperandAccess::same;
    const char* op = step.kind == FusedStepKind::multiply ? "*=" : "+=";
    if (step.kind != FusedStepKind::activation && step.access == OperandAccess::single) {
      channels += "  float s" + slot + ";\n";
      read_channels +=
          "  out.s" + slot + " = *static_cast<const float*>(args.operand[" + slot + "]);\n";
      steps += "#pragma unroll\n  for (int j = 0; j < VECTOR; ++j) v[j] " + std::string(op) +
               " channels.s" + slot + ";\n";
      continue;
    }
    if (step.kind == FusedStepKind::activation || (!of_channel && !of_row)) {
      steps += step_text(step, type, "VECTOR");
      continue;
    }
    const std::string element = of_channel ? "float" : type, name = "s" + slot;
    (of_channel ? channels : row) += "  RawVector<" + element + ", VECTOR> " + name + ";\n";
    (of_channel ? read_channels : read_row) +=
        "  load_raw(static_cast<const " + element + "*>(args.operand[" + slot + "]) + " +
        (of_channel ? "k" : "index") + ", out." + name + ");\n";
    steps += "  {\n    float u[VECTOR];\n    load_vector<VECTOR>(reinterpret_cast<const " +
             element + "*>(" + (of_channel ? "channels." : "row.") + name +
             ".words), u);\n#pragma unroll\n    for (int j = 0; j < VECTOR; ++j) v[j] " +
             std::string(op) + " u[j];\n  }\n";
  }
  const std::string head = "__device__ __forceinline__ ";
  std::string text = "struct Channels {\n" + channels + "};\nstruct Row {\n" + row + "};\n";
  text += head + "Channels read_channels(const EpilogueArgs& args, int k) {\n  Channels out;\n" +
          read_channels + "  return out;\n}\n";
  text += head + "Row read_row(const EpilogueArgs& args, long long index) {\n  Row out;\n" +
          read_row + "  return out;\n}\n";
  text +=
      head +
      "void epilogue_behind(float (&v)[VECTOR], const Channels& channels, const Row& row, const "
      "EpilogueArgs& args, int image, int k, long long index, int ldy, int channel_count) {\n" +
      steps;
  if (epilogue.zero_padding)
    text +=
        "#pragma unroll\n  for (int j = 0; j < VECTOR; ++j) v[j] = k + j < channel_count ? v[j] : "
        "0.0f;\n";
  return text + "}\n";
}

std::string kept_row_text(const FusedEpilogue& epilogue) {
  const auto step = std::ranges::find_if(epilogue.steps, [](const FusedStep& s) {
    return s.slot >= 0 && s.access == OperandAccess::same;
  });
  ENSURE(step != epilogue.steps.end(), "a row has an operand");
  return "__device__ __forceinline__ Row row_of(const float (&v)[VECTOR]) {\n  Row out;\n  "
         "store_vector<VECTOR>(reinterpret_cast<" +
         element_type_text(epilogue.output) + "*>(out.s" + std::to_string(step->slot) +
         ".words), v);\n  return out;\n}\n";
}

std::string elements_text(const std::vector<ElementOperand>& operands,
                          const std::string& statements, const std::string& expression) {
  std::string text =
      "__device__ __forceinline__ void elements(const EpilogueArgs& args, int image, int k, long "
      "long index, long long first, int ldy, "
      "float (&v)[WIDTH]) {\n  {\n";
  std::string reads;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string u = "w" + std::to_string(i);
    const auto slot = static_cast<int>(i);
    const ElementOperand& operand = operands[i];
    const bool converts = operand.access == OperandAccess::same && !is_floating(operand.type);
    text += "    " +
            (converts ? integer_operand_text(slot, operand.type, u, "WIDTH")
                      : operand_text(operand.access, slot, storage_type_text(operand.type),
                                     operand.strides, u, "WIDTH", i == 0 ? "first" : "index")) +
            "\n";
    reads += "      float u" + std::to_string(i) + " = " + u + "[j];\n";
  }
  return text + "#pragma unroll\n    for (int j = 0; j < WIDTH; ++j) {\n" + reads + statements +
         "      v[j] = " + expression + ";\n    }\n  }\n}\n";
}

}  // namespace enginery
