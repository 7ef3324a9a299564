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

// The first `width` columns of a cell, the last of them an ellipsis where it is longer. Cells have
// no colour sequences.
std::string cut_to(const std::string& cell, size_t width) {
  if (display_width(cell) <= width) return cell;
  size_t end = 0;
  for (size_t shown = 0; end < cell.size(); ++end) {
    const bool continuation = (static_cast<unsigned char>(cell[end]) & 0xC0) == 0x80;
    if (!continuation && ++shown == width) break;
  }
  return cell.substr(0, end) + "\u2026";
}

// Takes columns from the widest text column until the line fits; whether it does. Numbers stay
// whole, and so do titles and eight columns of a text.
bool narrow(std::vector<size_t>& widths, const std::vector<Column>& columns, size_t room) {
  constexpr size_t kLeast = 8;
  while (true) {
    size_t sum = 2 * (widths.size() - 1);
    for (const size_t width : widths) sum += width;
    if (sum <= room) return true;
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool can_give = columns[i].align == Align::left &&
                            widths[i] > std::max(kLeast, display_width(columns[i].title));
      if (can_give && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return false;
    --widths[widest];
  }
}

void append_line(std::string& text, const std::vector<std::string>& cells,
                 const std::vector<size_t>& widths, const std::vector<Column>& columns) {
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += "  ";
    line +=
        padded(i < cells.size() ? cut_to(cells[i], widths[i]) : "", widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  ENSURE(cells.size() <= columns_.size(), "a table row with more cells than columns");
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  return widths;
}

std::string Table::text(int columns) const {
  std::vector<size_t> wide = widths();
  if (columns > 0 && !narrow(wide, columns_, static_cast<size_t>(columns)))
    return blocks(static_cast<size_t>(columns));
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string text;
  append_line(text, titles, wide, columns_);
  for (const auto& row : rows_) append_line(text, row, wide, columns_);
  return text;
}

// "NAME    net" for each cell that has something, an empty line between the rows.
std::string Table::blocks(size_t columns) const {
  size_t title_width = 0;
  for (const Column& column : columns_)
    title_width = std::max(title_width, display_width(column.title));
  std::string text;
  for (const auto& row : rows_) {
    if (!text.empty()) text += "\n";
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i].empty()) continue;
      text += padded(columns_[i].title, title_width + 2, Align::left) +
              wrapped(row[i], title_width + 2, columns) + "\n";
    }
  }
  return text;
}

std::string wrapped(const std::string& text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (column > indent && column + 1 + display_width(word) > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += display_width(word);
  }
  return out;
}

std::string wrapped_lines(const std::string& text, size_t width) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool stays = line.starts_with(" ") || line.size() <= width;
    out += (stays ? line : wrapped(line, 0, width)) + "\n";
    begin = end + 1;
  }
  return out;
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

std::string accuracy_words(double agreement_percent, double sqnr_db) {
  if (sqnr_db == 0) return "";
  return (agreement_percent > 0 ? fmt::format("{:.2f} %, ", agreement_percent) : "") +
         fmt::format("{:.1f} dB", sqnr_db);
}

std::string human_milliseconds(double ms) {
  if (ms <= 0) return "";
  return ms < 1     ? fmt::format("{:.4f}", ms)
         : ms < 100 ? fmt::format("{:.3f}", ms)
                    : fmt::format("{:.1f}", ms);
}

}  // namespace enginery
