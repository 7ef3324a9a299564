#include "cli/output/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace enginery {

std::string counted(uint64_t count, std::string_view thing, std::string_view plural) {
  std::string text = std::to_string(count) + " ";
  if (count == 1 || plural.empty()) text += thing;
  if (count != 1) text += plural.empty() ? "s" : plural;
  return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += separator;
    text += word;
  }
  return text;
}

std::string readable_note(const std::string& note) {
  const size_t colon = note.find(": ");
  if (colon == std::string::npos || !note.ends_with(" = 1")) return note;
  const std::string input = note.substr(0, colon), dimension = note.substr(colon + 2);
  return "input " + input + ": the symbolic dimension " + dimension + " (--shapes " + input +
         ":... sets it)";
}

std::string load_remark(double foreign_load) {
  constexpr double kBearable = 0.1;
  if (!(foreign_load >= kBearable)) return "";
  return fmt::format("measured while other programs used {:.0f} % of the device",
                     100 * foreign_load);
}

std::string with_safe_characters(std::string name, std::string_view also_safe) {
  for (char& c : name) {
    const bool alphanumeric = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!alphanumeric && also_safe.find(c) == std::string_view::npos) c = '_';
  }
  return name;
}

std::vector<std::string> file_names_for(const std::vector<std::string>& names) {
  constexpr std::string_view kSafe = "._-";
  std::set<std::string> taken;
  for (const std::string& name : names) {
    if (with_safe_characters(name, kSafe) == name) taken.insert(name);
  }
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const std::string wanted = with_safe_characters(name, kSafe);
    std::string file = wanted;
    for (int n = 2; wanted != name && !taken.insert(file).second; ++n)
      file = wanted + "." + std::to_string(n);
    out.push_back(std::move(file));
  }
  return out;
}

std::string device_text(const DeviceReading& reading) {
  std::string out;
  const auto add = [&](double number, const char* unit) {
    if (number > 0) out += (out.empty() ? "" : ", ") + fmt::format("{:.0f} {}", number, unit);
  };
  add(reading.clock_mhz, "MHz");
  add(reading.temperature_c, "C");
  add(reading.power_w, "W");
  if (reading.throttle_bits != 0) out += out.empty() ? "throttled" : ", throttled";
  return out;
}

bool have_readings(const std::vector<WorkerView>& workers) {
  return std::any_of(workers.begin(), workers.end(),
                     [](const WorkerView& worker) { return worker.reading != DeviceReading(); });
}

}  // namespace enginery
