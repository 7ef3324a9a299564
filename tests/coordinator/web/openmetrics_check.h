// A strict reader of OpenMetrics 1.0 text: says what is wrong with it.
#pragma once

#include <map>
#include <string>

namespace enginery::test {

struct CheckedMetrics {
  std::string problem;                       // the first one, with its line; "" when there is none
  std::map<std::string, double> samples;     // by name and labels as written
  std::map<std::string, std::string> types;  // of the families
};
CheckedMetrics check_openmetrics(const std::string& text);

}  // namespace enginery::test
