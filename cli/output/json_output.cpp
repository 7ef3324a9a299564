#include "cli/output/json_output.h"

#include <nlohmann/json.hpp>

namespace enginery {

void print_json(Console& console, const Json& json) {
  console.print(json_text(json));
}

}  // namespace enginery
