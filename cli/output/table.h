// Tables for people, columns padded to their widest cell, and quantities as people read them.
//
// Where: every verb's output without --json. Threads: as any value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace enginery {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells are empty; more cells than columns are a broken promise (aborts).
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  // Title line and rows, two spaces between columns, no trailing spaces, each line ended. In at
  // most `columns` columns (0: any number): the widest cells are cut, with an ellipsis, and where
  // that does not do each row is a block of lines "TITLE  cell".
  std::string text(int columns = 0) const;

 private:
  // Of the title and the widest cell.
  std::vector<size_t> widths() const;
  std::string blocks(size_t columns) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The text in lines of at most `width` columns, those after the first indented; a word that is
// longer stays whole.
std::string wrapped(const std::string& text, size_t indent, size_t width);

// The text with each of its lines that is longer wrapped; an example, a line that begins with a
// space, stays as it is.
std::string wrapped_lines(const std::string& text, size_t width);

// Columns that a text takes on a terminal: code points, without colour sequences.
size_t display_width(std::string_view text);

// Decimal units: "512 B", "1.5 kB", "4.9 MB".
std::string human_bytes(uint64_t bytes);
// "0.8 s", "12 s", "3 min 20 s", "2 h 5 min"; a negative time is "0.0 s".
std::string human_seconds(double seconds);
// Nanoseconds since 1970 as "2026-11-21 06:50:12" in local time; "" for 0.
std::string human_time(int64_t wall_time_ns);
// "0.1230", "4.321", "123.4", without the unit; "" for 0 (not measured).
std::string human_milliseconds(double ms);
// "97.25 %, 23.4 dB": of the rows that agree with the model in float (0: not known), and signal to
// noise; "" where that is 0 (not measured).
std::string accuracy_words(double agreement_percent, double sqnr_db);

}  // namespace enginery
