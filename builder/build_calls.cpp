// Builds of the build library.
#include <atomic>

#include "builder/build_options.h"
#include "builder/calibration.h"
#include "builder/network_object.h"
#include "engine/base/file.h"
#include "engine/base/signed_file.h"
#include "engine/c_api/growing_struct.h"
#include "engine/import/saved/network_file.h"

namespace enginery {
namespace {

// This process's one build, while it lasts: a process has one cap of CPU instructions, one OpenMP.
class OneBuild {
 public:
  OneBuild() : is_ours_(!is_under_way().test_and_set()) {}
  ~OneBuild() {
    if (is_ours_) is_under_way().clear();
  }
  OneBuild(const OneBuild&) = delete;
  OneBuild& operator=(const OneBuild&) = delete;
  explicit operator bool() const { return is_ours_; }

 private:
  static std::atomic_flag& is_under_way() {
    static std::atomic_flag flag;
    return flag;
  }
  bool is_ours_;
};

// Who takes the engine's bytes.
struct Taker {
  enginery_bytes_fn take;
  void* user;
};

struct BuiltEngine {
  Bytes bytes;
  LocalBuildReport report;
};

// An engine of the catalog that these keys do not vouch for is built again.
Result<BuiltEngine> build_trusted(LocalBuildRequest request,
                                  const enginery_build_options& options) {
  TRY(const auto catalog, Catalog::open(catalog_of(options)));
  const StepHooks hooks = hooks_of(options);
  CHECK_OK(calibrate(options, hooks, request));
  BuiltEngine out;
  TRY(out.report, build_local(*catalog, request, hooks));
  TRY(out.bytes, catalog->blobs().get(out.report.engine));
  TRY(const TrustStore trust, TrustStore::load(request.keys));
  const auto signature = check_signature(as_bytes(out.bytes), trust);
  if (signature.ok()) return out;
  if (out.report.source != Source::cache) return signature.error();
  request.rebuild = true;
  TRY(out.report, build_local(*catalog, request, hooks));
  TRY(out.bytes, catalog->blobs().get(out.report.engine));
  return out;
}

enginery_build_report report_of(const LocalBuildReport& from) {
  enginery_build_report out{};
  out.engine_bytes = from.size_bytes;
  out.timings_measured = from.timings_measured;
  out.timings_reused = from.timings_reused;
  out.latency_ms = from.latency_ms;
  out.error = from.error;
  out.from_catalog = from.source == Source::cache ? 1 : 0;
  return out;
}

// What both ways to build share; `name_model` fills what the request's model is.
template <typename NameModel>
Failure build_engine(const enginery_build_options* options, const std::string& fallback_name,
                     const Taker& taker, enginery_build_report* report, NameModel&& name_model) {
  if (!taker.take)
    return {ENGINERY_ERROR_INVALID_ARGUMENT, "the function that takes the engine is null"};
  enginery_build_options all = default_build_options();
  const Failure unread = read_struct("enginery_build_options", options, all);
  if (unread.status() != ENGINERY_OK) return unread;
  enginery_build_report said{};
  if (report) {
    const Failure unfilled = fill_struct("enginery_build_report", said, report);
    if (unfilled.status() != ENGINERY_OK) return unfilled;
  }
  const OneBuild ours;
  if (!ours)
    return {ENGINERY_ERROR_BUSY, "build " + fallback_name +
                                     ": another build is under way in this process; begin when it "
                                     "has ended"};
  auto request = read_build_options(all, fallback_name);
  if (!request) return request.error().within("build " + fallback_name);
  const Status named = name_model(*request);
  if (!named.ok()) return named;
  const auto built = build_trusted(std::move(*request), all);
  if (!built) return built.error();
  if (taker.take(taker.user, built->bytes.data(), built->bytes.size()) != 0)
    return {ENGINERY_ERROR_STORAGE, "the function that takes the engine has failed"};
  return report ? fill_struct("enginery_build_report", report_of(built->report), report)
                : Failure();
}

// The network's name and bytes as they are now: it may change while its engine is built.
Result<std::pair<std::string, Bytes>> saved(const NetworkUse& use) {
  const auto whole = use.whole();
  if (!whole) return whole.error().within("build network '" + use.graph().name + "'");
  TRY(Bytes bytes, save_network(*whole));
  return std::pair(whole->name, std::move(bytes));
}

}  // namespace
}  // namespace enginery

using namespace enginery;

enginery_status enginery_build_options_init(enginery_build_options* options) {
  return outcome_of([&]() -> Failure {
    return fill_struct("enginery_build_options", default_build_options(), options);
  });
}

enginery_status enginery_build_network(const enginery_network* network,
                                       const enginery_build_options* options,
                                       enginery_bytes_fn take, void* user,
                                       enginery_build_report* report) {
  return outcome_of([&]() -> Failure {
    std::pair<std::string, Bytes> content;
    {
      const NetworkUse use(network);
      if (!use) return use.failure();
      auto now = saved(use);
      if (!now) return now.error();
      content = std::move(*now);
    }
    return build_engine(
        options, content.first, {take, user}, report, [&](LocalBuildRequest& request) -> Status {
          request.model = content.first;
          request.model_bytes = std::make_shared<const Bytes>(std::move(content.second));
          return {};
        });
  });
}

enginery_status enginery_build_file(const char* path, const enginery_build_options* options,
                                    enginery_bytes_fn take, void* user,
                                    enginery_build_report* report) {
  return outcome_of([&]() -> Failure {
    if (!path) return {ENGINERY_ERROR_INVALID_ARGUMENT, "the model's path is null"};
    const std::filesystem::path file(path);
    return build_engine(options, file.stem().string(), {take, user}, report,
                        [&](LocalBuildRequest& request) -> Status {
                          request.model = file;
                          return {};
                        });
  });
}
