// why-miss: which field of a key differed from the nearest stored one, from the local catalog or
// the farm's.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/local/local_catalog.h"
#include "cli/output/json_output.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

Json text_or_null(const std::optional<std::string>& text) {
  return text ? Json(valid_utf8(*text)) : Json(nullptr);
}

Json miss_json(const MissView& miss) {
  Json differs = Json::array();
  for (const FieldDifference& field : miss.differs) {
    differs.push_back({{"field", field.field},
                       {"wanted", text_or_null(field.wanted)},
                       {"had", text_or_null(field.had)}});
  }
  return {{"key", miss.key.text()},
          {"nearest", miss.nearest ? Json(miss.nearest->text()) : Json(nullptr)},
          {"differs", differs},
          {"sku", miss.sku},
          {"present", miss.present}};
}

// Whether it is a miss: of a job when it came, of a key now.
std::string verdict(const MissView& miss, bool is_job) {
  if (is_job)
    return miss.present ? "was there when the job came, no miss" : "was a miss when the job came";
  return miss.present ? "is there, no miss; when it was asked for first" : "is a miss";
}

std::string sentence(const MissView& miss, bool is_job) {
  std::string text = miss.key.text().substr(0, 19) +
                     (miss.sku.empty() ? "" : " (" + miss.sku + ")") + ": " + verdict(miss, is_job);
  if (is_job && miss.present) return text + "\n";
  const bool is_past = is_job || miss.present;
  if (!miss.nearest)
    return text + fmt::format(", no other engine {} stored\n", is_past ? "was" : "is");
  text += fmt::format(", nearest {} {}, which differs in\n", is_past ? "was" : "is",
                      miss.nearest->text().substr(0, 19));
  for (const FieldDifference& field : miss.differs) {
    text += fmt::format("  {}: wanted {}, had {}\n", field.field,
                        field.wanted.value_or("(nothing)"), field.had.value_or("(nothing)"));
  }
  return text;
}

class WhyMissCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("KEY|JOB", subject_, "a key (at least 8 hex digits) or a job's id");
    options.flag("--json", json_, "print JSON (enginery.why-miss/1)");
    place_.declare(options);
    farm_.declare(options);
    options.about(
        "A job is explained with what the catalog had when it came.\n"
        "A key that the local catalog knows is answered there, everything else by the coordinator. "
        "`build` and `submit`\n"
        "print their keys with --json; `enginery catalog ls --json` lists them.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(auto misses, find());
    if (!json_) {
      for (const MissView& miss : misses) session.console.print(sentence(miss, is_job(miss)));
      return ExitCode::ok;
    }
    Json all = Json::array();
    for (const MissView& miss : misses) all.push_back(miss_json(miss));
    Json json{{"schema", "enginery.why-miss/1"}};
    if (!misses.empty()) json.update(miss_json(misses.front()));
    json["misses"] = std::move(all);
    print_json(session.console, json);
    return ExitCode::ok;
  }

 private:
  // A key is asked for by its first digits.
  bool is_job(const MissView& miss) const {
    const std::string digits = subject_.starts_with("sha256:") ? subject_.substr(7) : subject_;
    return !miss.key.hex().starts_with(digits);
  }

  Result<std::vector<MissView>> find() const {
    if (farm_.coordinator.empty()) {
      TRY(auto local, find_locally());
      if (local) return std::vector<MissView>{std::move(*local)};
    }
    auto client = connect(farm_);
    if (!client.ok())
      return client.error().within(
          "'" + subject_ + "' is no key of the local catalog, and the farm cannot be asked");
    return (*client)->why_miss(subject_);
  }

  Result<std::optional<MissView>> find_locally() const {
    auto catalog = open_existing_catalog(place_);
    if (!catalog.ok()) return std::optional<MissView>();
    const auto key = (*catalog)->results().find_key(subject_);
    if (!key.ok()) return std::optional<MissView>();
    TRY(MissView miss, explain_miss(**catalog, *key));
    return std::optional<MissView>(std::move(miss));
  }

  FarmOptions farm_;
  CatalogPlace place_;
  std::string subject_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_why_miss() {
  return std::make_unique<WhyMissCommand>();
}

}  // namespace enginery
