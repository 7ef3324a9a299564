#include "engine/tactics/cuda/kernel/conv_mma/wgmma_text.h"

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

// "k32.s32.u8.s8": the elements along K and the types of sums, a and b.
std::string types_text(DataType type) {
  switch (type) {
    case DataType::int8:
      return "k32.s32.s8.s8";
    case DataType::uint8:
      return "k32.s32.u8.s8";
    case DataType::bfloat16:
      return "k16.f32.bf16.bf16";
    default:
      return "k16.f32.f16.f16";
  }
}

}  // namespace

std::string wgmma_text(DataType type, int64_t columns, int64_t row_bytes) {
  const bool bytes = is_eight_bits(type);
  const int64_t sums = columns / 2;  // of a thread
  std::string places, operands;
  for (int64_t i = 0; i < sums; ++i) {
    places += (i ? ",%" : "%") + std::to_string(i);
    operands += std::string(i ? "," : "") + (bytes ? "\"+r\"" : "\"+f\"") + "(d[" +
                std::to_string(i / 4) + "][" + std::to_string(i % 4) + "])";
  }
  const std::string a = "%" + std::to_string(sums), b = "%" + std::to_string(sums + 1);
  const std::string descriptor = "matrix_descriptor<" + std::to_string(row_bytes) + ">";
  // Behind the operands: the sums are added to (a predicate); of floats a and b are not negated and
  // not transposed.
  return "template <typename T>\n__device__ __forceinline__ void multiply_group(TSUM (&d)[" +
         std::to_string(columns / 8) + "][4], const void* a, const void* b) {\n" +
         "#ifdef ENGINERY_EMULATE\n  emulator::multiply_group<T, " + std::to_string(row_bytes) +
         ">(d, a, b);\n#else\n  asm volatile(\"{.reg .pred p; setp.eq.u32 p, 0, 0; "
         "wgmma.mma_async.sync.aligned.m64n" +
         std::to_string(columns) + types_text(type) + " {" + places + "}, " + a + ", " + b + ", p" +
         (bytes ? "" : ", 1, 1, 0, 0") + ";}\" : " + operands + " : \"l\"(" + descriptor +
         "(a)), \"l\"(" + descriptor + "(b)));\n#endif\n}\n";
}

}  // namespace enginery
