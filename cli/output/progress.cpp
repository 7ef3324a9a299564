#include "cli/output/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output/table.h"

namespace enginery {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);
constexpr Nanoseconds kLineEvery = std::chrono::seconds(5);
constexpr Nanoseconds kPhaseLasts = std::chrono::milliseconds(500);
constexpr size_t kBarCells = 20, kLeastBarCells = 5;

std::string so_far(const ProgressRow& row) {
  return row.total == 0 ? "" : fmt::format("{}/{}", std::min(row.done, row.total), row.total);
}

std::string bar(const ProgressRow& row, size_t cells) {
  const double share =
      static_cast<double>(std::min(row.done, row.total)) / static_cast<double>(row.total);
  const auto full = static_cast<size_t>(share * static_cast<double>(cells));
  return "[" + std::string(full, '#') + std::string(cells - full, '-') + "]";
}

}  // namespace

std::string progress_bar(const ProgressRow& row, size_t label_width, int columns) {
  std::string text = fmt::format("{:<{}}  {:<11}", row.label, label_width, row.phase);
  if (row.label.empty()) text = fmt::format("{:<11}", row.phase);
  std::string behind = row.total > 0 ? "  " + so_far(row) : "";
  if (row.eta_seconds > 0) behind += "  ETA " + human_seconds(row.eta_seconds);
  const size_t room = static_cast<size_t>(std::max(columns, 20)) - 1;
  // The bar gives way to the numbers.
  const size_t taken = text.size() + behind.size() + 4;
  const size_t cells = taken < room ? std::min(kBarCells, room - taken) : 0;
  if (row.total > 0 && cells >= kLeastBarCells) text += "  " + bar(row, cells);
  text += behind;
  if (!row.note.empty()) text += "  " + row.note;
  if (text.size() > room) text.resize(room);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string progress_line(const ProgressRow& row) {
  std::string text = row.label.empty() ? row.phase : row.label + ": " + row.phase;
  if (row.total > 0) text += " " + so_far(row);
  if (row.eta_seconds > 0) text += ", ETA " + human_seconds(row.eta_seconds);
  if (!row.note.empty()) text += ", " + row.note;
  return text;
}

void ProgressDisplay::show(const std::vector<ProgressRow>& rows) {
  if (console_.err_is_terminal()) {
    draw_bars(rows);
  } else {
    print_lines(rows);
  }
}

void ProgressDisplay::draw_bars(const std::vector<ProgressRow>& rows) {
  const Nanoseconds now = clock_.monotonic();
  if (console_.has_progress() && now - drawn_at_ < kRedrawEvery) return;
  size_t label_width = 0;
  for (const ProgressRow& row : rows) label_width = std::max(label_width, row.label.size());
  std::string lines;
  for (const ProgressRow& row : rows)
    lines += progress_bar(row, label_width, console_.columns()) + "\n";
  console_.show_progress(lines);
  drawn_at_ = now;
}

void ProgressDisplay::print_lines(const std::vector<ProgressRow>& rows) {
  const Nanoseconds now = clock_.monotonic();
  for (const ProgressRow& row : rows) {
    Printed& before = printed_[row.label];
    const bool is_first = before.line.empty();
    const bool is_new_phase = before.phase != row.phase;
    if (is_new_phase && before.new_phase != row.phase) {
      before.new_phase = row.phase;
      before.new_phase_since = now;
    }
    const bool is_due =
        is_new_phase ? now - before.new_phase_since >= kPhaseLasts : now - before.at >= kLineEvery;
    std::string line = progress_line(row);
    if (line == before.line || !(is_first || is_due)) continue;
    console_.note(line);
    before = {row.phase, std::move(line), now, "", {}};
  }
}

void ProgressDisplay::finish() {
  console_.clear_progress();
}

}  // namespace enginery
