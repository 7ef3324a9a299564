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

std::string sentence(const MissView& miss) {
  std::string text =
      miss.key.text().substr(0, 19) + (miss.sku.empty() ? "" : " (" + miss.sku + ")");
  if (miss.present) return text + ": is there, no miss\n";
  if (!miss.nearest) return text + ": no other action of that kind is stored\n";
  text += ": nearest is " + miss.nearest->text().substr(0, 19) + ", which differs in\n";
  for (const FieldDifference& field : miss.differs) {
    text += fmt::format("  {}: wanted {}, had {}\n", field.field,
                        field.wanted.value_or("(nothing)"), field.had.value_or("(nothing)"));
  }
  return text;
}

Result<MissView> explain_locally(Catalog& catalog, const Digest& digest) {
  Results& results = catalog.results();
  TRY(const ActionKey key, results.find_action(digest));
  TRY(const auto present, results.lookup(digest));
  MissView miss;
  miss.key = digest;
  miss.present = present.has_value();
  if (const std::string* sku = key.find("sku")) miss.sku = *sku;
  TRY(const auto nearest, results.nearest(key));
  if (!nearest) return miss;
  miss.nearest = nearest->key;
  for (const KeyDifference& field : nearest->differs)
    miss.differs.push_back({field.field, field.wanted, field.had});
  return miss;
}

class WhyMissCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("KEY|JOB", subject_, "a key (at least 8 hex digits) or a job's id");
    options.flag("--json", json_, "print JSON (enginery.why-miss/1)");
    place_.declare(options);
    farm_.declare(options);
    options.about(
        "A key that the local catalog knows is answered there, everything else by the coordinator. "
        "`build` and `submit`\n"
        "print their keys with --json; `enginery catalog ls --json` lists them.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(auto misses, find());
    if (!json_) {
      for (const MissView& miss : misses) session.console.print(sentence(miss));
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
  Result<std::vector<MissView>> find() const {
    if (farm_.coordinator.empty()) {
      TRY(auto local, find_locally());
      if (local) return std::vector<MissView>{std::move(*local)};
    }
    auto client = connect(farm_);
    if (!client.ok())
      return client.error().within("why-miss " + subject_ + ": not a key of the local catalog");
    return (*client)->why_miss(subject_);
  }

  Result<std::optional<MissView>> find_locally() const {
    auto catalog = open_existing_catalog(place_);
    if (!catalog.ok()) return std::optional<MissView>();
    const auto key = (*catalog)->results().find_key(subject_);
    if (!key.ok()) return std::optional<MissView>();
    TRY(MissView miss, explain_locally(**catalog, *key));
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
