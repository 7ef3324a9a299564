#include "engine/import/onnx/onnx_types.h"

namespace enginery {

Result<DataType> onnx_type(int64_t type) {
  const auto none = [](const char* name) { return Error{ErrorCode::unsupported, name}; };
  switch (type) {
    case 1:
      return DataType::float32;
    case 2:
      return DataType::uint8;
    case 3:
      return DataType::int8;
    case 4:
      return DataType::uint16;
    case 5:
      return DataType::int16;
    case 6:
      return DataType::int32;
    case 7:
      return DataType::int64;
    case 8:
      return none("string elements");
    case 9:
      return DataType::boolean;
    case 10:
      return DataType::float16;
    case 11:
      return DataType::float64;
    case 12:
      return DataType::uint32;
    case 13:
      return DataType::uint64;
    case 14:
    case 15:
      return none("complex elements");
    case 16:
      return DataType::bfloat16;
    case 17:
      return DataType::float8e4m3fn;
    case 18:
      return DataType::float8e4m3fnuz;
    case 19:
      return DataType::float8e5m2;
    case 20:
      return DataType::float8e5m2fnuz;
    case 21:
      return DataType::uint4;
    case 22:
      return DataType::int4;
    case 23:
      return none("4-bit float elements");
    case 24:
      return none("8-bit exponents as elements");
    case 25:
    case 26:
      return none("2-bit integer elements");
    default:
      return Error{ErrorCode::invalid_argument,
                   "element type " + std::to_string(type) + ", which ONNX does not have"};
  }
}

}  // namespace enginery
