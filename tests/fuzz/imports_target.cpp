// Fuzzing what carries a catalog from one site to another: a bundle that a trusted key has signed,
// an export of timings, a timing cache file. Any bytes are taken or refused with an error.
#include <nlohmann/json.hpp>

#include "cache/memory_blob_store.h"
#include "cli/local/catalog_actions.h"
#include "cli/local/user_keys.h"
#include "engine/base/file.h"
#include "engine/base/signed_file.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/temporary_home.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imports_mutator.h"
#include "worker/timing/timing_file.h"

namespace enginery::test {
namespace {

// A site: a home with the key that it trusts, and a catalog.
struct Site {
  Site() {
    ENSURE(make_folder(home.path() / "data").ok(), "a home");
    catalog = std::move(*Catalog::open_in_memory(blobs, clock));
    key = SigningKey::load_or_create(signing_key_file());
    ENSURE(key->ok(), "a signing key");
  }

  Status import(CatalogVerb& verb, const Bytes& bytes) {
    const std::string file = (home.path() / "import").string();
    CHECK_OK(write_file(file, bytes));
    FakeConsole console;
    const auto code = verb(door_to(*catalog, *catalog), {{file}}, console.console());
    return code.ok() ? Status() : Status(code.error());
  }
  Result<Bytes> exported(CatalogVerb& verb, const std::string& name) {
    const std::string file = (home.path() / name).string();
    FakeConsole console;
    TRY([[maybe_unused]] const ExitCode code,
        verb(door_to(*catalog, *catalog), {{file}}, console.console()));
    return read_file(file);
  }

  const TemporaryHome home;
  const SystemClock clock;
  MemoryBlobStore blobs;
  std::unique_ptr<Catalog> catalog;
  std::optional<Result<SigningKey>> key;
};

Status fill(Catalog& catalog) {
  const ActionKey key = ActionKey("engine", kTrustDomain).add("model", "m").add("sku", "p4");
  EngineRow row;
  TRY(row.digest, catalog.blobs().put(as_bytes(std::string_view("an engine"))));
  row.name = "net";
  row.sku = "p4";
  row.key = key.digest();
  row.size_bytes = 9;
  ActionResult result;
  result.key = row.key;
  result.outputs.push_back({"engine", row.digest, 0});
  TRY([[maybe_unused]] const Commit done, catalog.results().commit(key, result));
  CHECK_OK(catalog.engines().add(row));
  CHECK_OK(catalog.engines().set_tag({"net", "prod", "p4", row.digest}));
  const ActionKey device = ActionKey("timing-device", kTrustDomain).add("sku", "p4");
  const ActionKey problem = ActionKey("timing-problem", kTrustDomain).add("problem", "conv");
  for (const ActionKey& one : {device, problem}) CHECK_OK(catalog.timings().record_key(one));
  const TimingRow timing{device.digest(), problem.digest(), "direct", R"({"median_us":2})", 7};
  TRY([[maybe_unused]] const int64_t stored, catalog.timings().put({&timing, 1}));
  return {};
}

Result<std::vector<FuzzSeed>> import_seeds() {
  Site site;
  CHECK_OK(fill(*site.catalog));
  TRY(Bytes bundle, site.exported(catalog_export, "catalog"));
  TRY(Bytes timings, site.exported(timing_export, "timings"));
  bundle.resize(bundle.size() - kSignatureTrailerBytes);
  Timing timing;
  timing.tactic = "direct";
  return std::vector<FuzzSeed>{{"bundle", std::move(bundle)},
                               {"timings", std::move(timings)},
                               {"cache", timings_to_json({{"device", "problem", timing}})}};
}

Status take(Site& site, const Bytes& input) {
  if (input.starts_with("ENGBDL01"))
    return site.import(catalog_import, input + signature_trailer(sha256(input), **site.key));
  if (input.find("enginery.timings/1") == Bytes::npos) return site.import(timing_import, input);
  const auto read = parse_timings(input);
  return read.ok() ? Status() : Status(read.error());
}

size_t import_bytes(const Bytes& input) {
  static Site site;
  const Status taken = take(site, input);
  ENSURE(taken.ok() || taken.error().code != ErrorCode::internal, taken.error().message);
  return taken.ok() ? 1 : 0;
}

}  // namespace

const FuzzTarget& fuzz_target() {
  static const FuzzTarget kImports{.name = "imports",
                                   .fates = {"refused", "taken"},
                                   .seeds = import_seeds,
                                   .edited = edited_import,
                                   .run = import_bytes};
  return kImports;
}

}  // namespace enginery::test
