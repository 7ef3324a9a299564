#include "tests/conformance/onnx/expectations.h"

#include <sstream>

#include "engine/base/file.h"

namespace enginery::test {

Result<Expectations> Expectations::read(const std::filesystem::path& file) {
  TRY(Bytes text, read_file(file));
  Expectations out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name, reason;
    if (!(words >> kind) || kind[0] == '#') continue;
    bool whole = static_cast<bool>(words >> name) && std::getline(words >> std::ws, reason);
    if (!whole || (kind != "operator" && kind != "case" && kind != "differs")) {
      return Error{ErrorCode::invalid_argument, file.string() + ": '" + line + "' is not a line"};
    }
    (kind == "operator" ? out.operators_ : out.cases_)[name] = {kind, line, reason};
  }
  return out;
}

Expected Expectations::of(const BackendCase& backend_case) {
  bool refused = false;
  for (const std::string& op : backend_case.operators) {
    auto line = operators_.find(op);
    if (line != operators_.end()) refused = line->second.used = true;
  }
  if (refused) return Expected::unsupported;
  auto line = cases_.find(backend_case.name());
  if (line == cases_.end()) return Expected::pass;
  line->second.used = true;
  return line->second.kind == "differs" ? Expected::differs : Expected::unsupported;
}

std::string Expectations::reason(const BackendCase& backend_case) const {
  for (const std::string& op : backend_case.operators) {
    const auto line = operators_.find(op);
    if (line != operators_.end()) return op + ": " + line->second.reason;
  }
  const auto line = cases_.find(backend_case.name());
  return line == cases_.end() ? "" : line->second.reason;
}

std::vector<std::string> Expectations::unused() const {
  std::vector<std::string> out;
  for (const auto* lines : {&operators_, &cases_}) {
    for (const auto& [name, line] : *lines) {
      if (!line.used) out.push_back(line.text);
    }
  }
  return out;
}

}  // namespace enginery::test
