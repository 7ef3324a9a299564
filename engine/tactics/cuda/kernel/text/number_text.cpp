#include "engine/tactics/cuda/kernel/text/number_text.h"

#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {

bool are_combined(DataType type) {
  return !storage_type_text(type).empty() || type == DataType::int32 || type == DataType::int64;
}

void define_numbers(KernelProgram& program, DataType type) {
  const bool floats = is_floating(type);
  program.define("FLOATS", floats);
  program.define("ACC", floats ? "float" : element_type_text(type));
  program.define("LOAD(p)", floats ? "load_one(p)" : "(*(p))");
  program.define("STORE(p, v)", floats ? "store_one(p, v)" : "(*(p) = (v))");
  const std::string bare = type == DataType::int64 ? "unsigned long long" : "unsigned";
  const auto combined = [&](const char* with) {
    return floats ? std::string("((p) ") + with + " (q))"
                  : "static_cast<ACC>(static_cast<" + bare + ">(p) " + with + " static_cast<" +
                        bare + ">(q))";
  };
  program.define("ADD(p, q)", combined("+"));
  program.define("MULTIPLY(p, q)", combined("*"));
}

}  // namespace enginery
