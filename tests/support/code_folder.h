// A folder of compiled kernels: PTX that was made on one machine for tests on another.
#pragma once

#ifdef ENGINERY_HAVE_CUDA

#include "engine/base/file.h"
#include "engine/kernels/cuda/compiler.h"

namespace enginery {

class CodeFolder final : public CodeStore {
 public:
  explicit CodeFolder(std::string folder) : folder_(std::move(folder)) {}
  std::optional<Bytes> find(const Digest& key) override {
    auto code = read_file(folder_ + "/" + key.hex() + ".code");
    return code.ok() ? std::optional(*code) : std::nullopt;
  }
  void insert(const Digest& key, const Bytes& code) override {
    (void)write_file(folder_ + "/" + key.hex() + ".code", code);
  }

 private:
  const std::string folder_;
};

}  // namespace enginery

#endif
