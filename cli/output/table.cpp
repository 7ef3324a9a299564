#include "cli/output/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "engine/base/result.h"

namespace enginery {
namespace {

std::string padded(const std::string& cell, size_t width, Align align) {
  const std::string space(width - std::min(width, display_width(cell)), ' ');
  return align == Align::left ? cell + space : space + cell;
}

void append_line(std::string& text, const std::vector<std::string>& cells,
                 const std::vector<size_t>& widths, const std::vector<Column>& columns) {
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += "  ";
    line += padded(i < cells.size() ? cells[i] : "", widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  ENSURE(cells.size() <= columns_.size(), "a table row with more cells than columns");
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  std::vector<std::string> titles;
  for (const Column& column : columns_) {
    widths.push_back(display_width(column.title));
    titles.push_back(column.title);
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  append_line(text, titles, widths, columns_);
  for (const auto& row : rows_) append_line(text, row, widths, columns_);
  return text;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
      continue;
    }
    const bool continuation = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!continuation) ++width;
  }
  return width;
}

std::string human_bytes(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  for (value /= 1000; value >= 999.95 && unit < 5; value /= 1000) ++unit;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", std::max(seconds, 0.0));
  const auto whole = static_cast<int64_t>(std::llround(std::min(seconds, 1e12)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string human_time(int64_t wall_time_ns) {
  if (wall_time_ns == 0) return "";
  const std::time_t seconds = wall_time_ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return std::string(text, size);
}

std::string human_milliseconds(double ms) {
  if (ms <= 0) return "";
  return ms < 1     ? fmt::format("{:.4f}", ms)
         : ms < 100 ? fmt::format("{:.3f}", ms)
                    : fmt::format("{:.1f}", ms);
}

}  // namespace enginery
