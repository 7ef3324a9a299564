// HtmlPage: a report as one file that needs nothing else: text, tables and drawings (SVG) in the
// page itself.
//
// Where: `inspect --html` and `bench --html`. All texts that it is given are escaped here. Threads:
// as any value.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/output/table.h"

namespace enginery {

// The text with what HTML would read as its own replaced; bytes that are no UTF-8 become U+FFFD.
std::string escaped_html(std::string_view text);

// A row of a bar chart.
struct HtmlBar {
  std::string label, detail;  // `detail` shows on hovering
  double value = 0;           // from 0 on
  std::string value_text;
};

// A box in a drawing of lanes (streams) or heights (memory): from x to x + width, y to y + height.
struct HtmlBox {
  double x = 0, y = 0, width = 0, height = 1;
  std::string detail;  // shows on hovering
  size_t color = 0;    // equal numbers look alike
};
struct HtmlDrawing {
  std::string x_title, y_title;
  double width = 1, height = 1;  // of the whole, in the boxes' units
  std::vector<HtmlBox> boxes;
};

// A small plot of columns, and a line across them.
struct HtmlPlot {
  std::string title, caption, detail;  // `detail` shows on hovering
  std::vector<double> heights;         // from 0 to 1
  double mark = 1;                     // the line's place, from 0 (left) to 1
};

class HtmlPage {
 public:
  HtmlPage(std::string_view title, std::string_view subtitle);

  void section(std::string_view title, std::string_view remark = {});
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  void table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows);
  // Horizontal bars, the longest as wide as the page lets it.
  void bars(const std::vector<HtmlBar>& bars);
  // How often the values lie in each of a few dozen equal parts of their range, up to the 95 %
  // quantile; what is beyond counts in the last part. Requires values.
  void histogram(std::vector<double> values, std::string_view unit);
  void drawing(const HtmlDrawing& drawing);
  // Beside each other, as many as fit.
  void plots(const std::vector<HtmlPlot>& plots);

  std::string text() const;

 private:
  std::string body_;
};

}  // namespace enginery
