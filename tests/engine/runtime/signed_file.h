// An engine file in a folder of its own, signed with a key that is trusted there. Needs the runtime
// alone, and nothing that makes engines.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/file.h"
#include "enginery/engine.h"
#include "tests/engine/format/small_engine.h"

namespace enginery::test {

// The CPU that every machine of the tests has.
inline constexpr char kEverywhere[] = "cpu-sse41";

class SignedFile {
 public:
  // `plan` for kEverywhere; `sizes`: of its outputs, told by each run.
  explicit SignedFile(const Plan& plan, const RunTimeSizes& sizes = {}) {
    std::string name =
        (std::filesystem::temp_directory_path() / "enginery-runtime-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    const auto key = SigningKey::load_or_create(folder_ / "signing.key").value();
    Manifest manifest = manifest_of(plan, kEverywhere);
    manifest.run_time_sizes = sizes;
    const Bytes body = unsigned_engine(plan, manifest);
    EXPECT_TRUE(write_file(file(), body + signature_trailer(sha256(body), key)).ok());
  }
  ~SignedFile() { std::filesystem::remove_all(folder_); }
  SignedFile(const SignedFile&) = delete;

  std::string file() const { return (folder_ / "test.engine").string(); }
  const std::filesystem::path& keys() const { return folder_; }
  Result<Engine> load(int threads = 1) const {
    LoadOptions options;
    options.threads = threads;
    options.keys_folder = keys().string();
    return Engine::load(file(), options);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace enginery::test
