#include "worker/timing/timing_file.h"

#include <nlohmann/json.hpp>

#include "engine/base/file.h"

namespace enginery {
namespace {

using nlohmann::json;

constexpr char kSchema[] = "enginery.timings/1";
constexpr std::chrono::seconds kSaveEvery{3};

Result<std::vector<TimingEntryText>> read_problem(const std::string& device, const json& problem) {
  std::vector<TimingEntryText> out;
  for (const json& entry : problem.at("timings")) {
    TRY(Timing timing, parse_timing(entry.dump()));
    out.push_back({device, problem.at("problem").get<std::string>(), std::move(timing)});
  }
  return out;
}

}  // namespace

std::string timings_to_json(const std::vector<TimingEntryText>& entries) {
  std::map<std::string, std::map<std::string, json>> grouped;
  for (const TimingEntryText& entry : entries) {
    json& list = grouped[entry.device].emplace(entry.problem, json::array()).first->second;
    list.push_back(json::parse(to_json(entry.timing)));
  }
  json devices = json::array();
  for (auto& [device, problems] : grouped) {
    json list = json::array();
    for (auto& [problem, timings] : problems)
      list.push_back({{"problem", problem}, {"timings", std::move(timings)}});
    devices.push_back({{"device", device}, {"problems", std::move(list)}});
  }
  const json document = {{"schema", kSchema}, {"devices", std::move(devices)}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<std::vector<TimingEntryText>> parse_timings(std::string_view text) {
  const Error broken{ErrorCode::corrupt_data,
                     "timing cache: not a document of schema " + std::string(kSchema)};
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || document.value("schema", json()) != kSchema) return broken;
  std::vector<TimingEntryText> out;
  try {
    for (const json& device : document.at("devices")) {
      for (const json& problem : device.at("problems")) {
        TRY(auto entries, read_problem(device.at("device").get<std::string>(), problem));
        std::move(entries.begin(), entries.end(), std::back_inserter(out));
      }
    }
  } catch (const json::exception&) {
    return broken;
  }
  return out;
}

Result<std::unique_ptr<FileTimingStore>> FileTimingStore::open(const std::filesystem::path& file,
                                                               const Clock& clock) {
  auto store = std::make_unique<FileTimingStore>(Opened(), file, clock);
  auto bytes = read_file(file);
  if (!bytes.ok() && bytes.error().code == ErrorCode::not_found) return store;
  if (!bytes.ok()) return bytes.error().within("timing cache");
  auto entries = parse_timings(*bytes);
  if (!entries.ok()) return entries.error().within(file.string());
  for (TimingEntryText& e : *entries) {
    const std::string tactic = e.timing.tactic;
    store->entries_[{e.device, e.problem}][tactic] = std::move(e.timing);
  }
  return store;
}

Result<std::vector<Timing>> FileTimingStore::find(const std::string& device,
                                                  const std::string& problem) {
  const std::lock_guard lock(mutex_);
  std::vector<Timing> out;
  if (const auto found = entries_.find({device, problem}); found != entries_.end()) {
    for (const auto& [tactic, timing] : found->second) out.push_back(timing);
  }
  return out;
}

Status FileTimingStore::put(const std::string& device, const std::string& problem,
                            const Timing& timing) {
  const std::lock_guard lock(mutex_);
  entries_[{device, problem}][timing.tactic] = timing;
  changed_ = true;
  if (clock_.monotonic() - saved_ < kSaveEvery) return {};
  return save_locked();
}

Status FileTimingStore::save() {
  const std::lock_guard lock(mutex_);
  return changed_ ? save_locked() : Status();
}

Status FileTimingStore::save_locked() {
  std::vector<TimingEntryText> all;
  for (const auto& [key, timings] : entries_) {
    for (const auto& [tactic, timing] : timings) all.push_back({key.first, key.second, timing});
  }
  CHECK_OK(write_file(file_, timings_to_json(all)));
  changed_ = false;
  saved_ = clock_.monotonic();
  return {};
}

}  // namespace enginery
