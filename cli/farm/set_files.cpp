#include "cli/farm/set_files.h"

#include "cli/output/engine_output.h"
#include "engine/base/file.h"
#include "engine/base/signed_file.h"

namespace enginery {
namespace {

Error another_engine(const std::string& what, const EngineView& engine) {
  return {ErrorCode::untrusted, what + " is not the engine that the set names for " + engine.sku +
                                    ", " + engine.engine.text()};
}

Result<Bytes> download(Client& client, const EngineView& engine, const TrustStore& trust) {
  TRY(Bytes bytes, client.get_blob(engine.engine));
  if (sha256(bytes) != engine.engine) return another_engine("what came", engine);
  TRY([[maybe_unused]] const SignedParts parts, check_signature(as_bytes(bytes), trust));
  return bytes;
}

}  // namespace

std::filesystem::path set_path(const std::filesystem::path& folder, const EngineSet& set) {
  return folder / default_file_name(set.name, "set");
}

std::filesystem::path engine_path(const std::filesystem::path& folder, const EngineView& engine) {
  return folder / default_file_name(engine.name, engine.sku + ".engine");
}

bool looks_like_set(std::string_view bytes) {
  return bytes.starts_with(kSetBeginning);
}

Status fetch_set(Client& client, ByteSpan bytes, const EngineSet& set, const TrustStore& trust,
                 const std::filesystem::path& folder) {
  CHECK_OK(make_folder(folder));
  for (const EngineView& engine : set.engines) {
    const Result<Bytes> file = download(client, engine, trust);
    if (!file.ok()) return file.error().within(engine.sku);
    CHECK_OK(write_file(engine_path(folder, engine), *file));
  }
  return write_file(set_path(folder, set), as_text(bytes));
}

Status check_set_files(const EngineSet& set, const std::filesystem::path& folder) {
  for (const EngineView& engine : set.engines) {
    const std::filesystem::path path = engine_path(folder, engine);
    TRY(const Bytes bytes, read_file(path));
    if (sha256(bytes) != engine.engine) return another_engine(path.string(), engine);
  }
  return {};
}

}  // namespace enginery
