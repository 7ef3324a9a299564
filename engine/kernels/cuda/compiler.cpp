#include "engine/kernels/cuda/compiler.h"

namespace enginery {

Digest kernel_cache_key(const std::string& text, int compute_capability, CodeKind kind) {
  return sha256(nvrtc_target(compute_capability, kind) + "\n" + text);
}

Result<Bytes> KernelCompiler::compile(const std::string& text) {
  std::promise<Result<Bytes>> promise;
  Compiled compiled;
  bool mine = false;
  {
    std::lock_guard lock(mutex_);
    auto [place, inserted] = compiled_.try_emplace(sha256(text));
    if (inserted) place->second = promise.get_future().share();
    compiled = place->second;
    mine = inserted;
  }
  if (mine) promise.set_value(compile_text(text));
  return compiled.get();
}

Result<Bytes> KernelCompiler::compile_text(const std::string& text) const {
  TRY(auto output, nvrtc_.compile(text, compute_capability_, kind_, {}));
  return std::move(output.code);
}

}  // namespace enginery
