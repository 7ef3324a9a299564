// The committed list of what the importer does not do (unsupported.txt), kept true by the test that
// reads it.
//
//   file = line*      line = KIND NAME reason | "#" comment | nothing
//   KIND = "operator"  every case whose model has that operator is refused as unsupported
//        | "case"      this one case, of operators that are supported otherwise, is refused as
//        unsupported | "differs"   this one case is imported and runs, and means to give something
//        else than the data; the reason says why
//
// A case that does not behave as its line says, and a line that no case needs, are failures.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tests/conformance/onnx/backend_case.h"

namespace enginery::test {

enum class Expected { pass, unsupported, differs, broken };  // nothing may be broken

class Expectations {
 public:
  static Result<Expectations> read(const std::filesystem::path& file);
  // Remembers the lines it used.
  Expected of(const BackendCase& backend_case);
  // What the lines say of a case that does not pass.
  std::string reason(const BackendCase& backend_case) const;
  // Lines that no case needed so far.
  std::vector<std::string> unused() const;

 private:
  struct Line {
    std::string kind, text, reason;
    bool used = false;
  };
  std::map<std::string, Line> operators_, cases_;
};

}  // namespace enginery::test
