#include "engine/ops/float_function.h"

namespace enginery {
namespace {

bool maps_floats(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::logical_not:
    case UnaryKind::is_positive_inf:
    case UnaryKind::is_negative_inf:
    case UnaryKind::bitwise_not:
    case UnaryKind::is_nan:
    case UnaryKind::is_inf:
      return false;
    default:
      return true;
  }
}

bool maps_floats(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
    case BinaryKind::sub:
    case BinaryKind::mul:
    case BinaryKind::div:
    case BinaryKind::pow:
    case BinaryKind::min:
    case BinaryKind::max:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_float_function(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op)) return maps_floats(unary->kind);
  if (const auto* binary = std::get_if<Binary>(&op)) return maps_floats(binary->kind);
  return std::holds_alternative<Activation>(op) || std::holds_alternative<PRelu>(op) ||
         std::holds_alternative<Where>(op);
}

bool makes_floats(const Op& op) {
  const auto* cast = std::get_if<Cast>(&op);
  return cast && is_floating(cast->to);
}

bool adds_or_multiplies(const Op& op) {
  const auto* binary = std::get_if<Binary>(&op);
  return binary && (binary->kind == BinaryKind::add || binary->kind == BinaryKind::mul);
}

}  // namespace enginery
