#include "cli/output/html_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output/json_output.h"

namespace enginery {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{}</title><style>
:root{{--ink:#1c2430;--faint:#66707f;--line:#e3e7ec;--bar:#3b7dd8;--back:#fff}}
@media(prefers-color-scheme:dark){{:root{{--ink:#e6e9ee;--faint:#98a2b0;--line:#323a45;--bar:#5b9bf0;--back:#171c22}}}}
body{{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:1280px;margin:2rem auto;padding:0 1.5rem}}
h1{{font-size:1.6rem;margin:0}}h2{{font-size:1.1rem;margin:2.2rem 0 .4rem}}
p{{color:var(--faint);margin:.2rem 0 .8rem}}
dl{{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:0}}dt{{color:var(--faint)}}dd{{margin:0;overflow-wrap:anywhere}}
table{{border-collapse:collapse;width:100%;font-size:12.5px}}
th,td{{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}}
td:first-child{{min-width:9rem}}th{{color:var(--faint);font-weight:600;white-space:nowrap}}.r{{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}}
svg{{width:100%;height:auto;display:block}}svg text{{fill:var(--ink);font-size:11px}}svg .f{{fill:var(--faint)}}svg .b{{fill:var(--bar)}}svg .l{{stroke:var(--line)}}
svg .m{{stroke:#d1495b;stroke-width:1.5}}
.plots{{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:.6rem 1.2rem}}
</style></head><body><h1>{}</h1><p>{}</p>
)";

constexpr int kWidth = 1240;
constexpr size_t kBins = 60;
constexpr double kShown =
    0.95;  // of a histogram's values; the rest would make one thin column of it

std::string hover(const std::string& text) {
  return "<title>" + escaped_html(text) + "</title>";
}

std::string svg(double height, const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\">{}</svg>\n", kWidth, height,
                     content);
}

std::string svg_text(double x, double y, std::string_view text, std::string_view anchor = "start",
                     std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>", x,
                     y, anchor, style, escaped_html(text));
}

// Colours far apart for neighbouring numbers.
std::string color_of(size_t number) {
  return fmt::format("hsl({} 55% 55%)", (number * 137 + 212) % 360);
}

std::string shortened(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 2) + "..";
}

}  // namespace

std::string escaped_html(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(std::string(text))) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

HtmlPage::HtmlPage(std::string_view title, std::string_view subtitle)
    : body_(fmt::format(fmt::runtime(kHead), escaped_html(title), escaped_html(title),
                        escaped_html(subtitle))) {}

void HtmlPage::section(std::string_view title, std::string_view remark) {
  body_ += "<h2>" + escaped_html(title) + "</h2>\n";
  if (!remark.empty()) body_ += "<p>" + escaped_html(remark) + "</p>\n";
}

void HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ += "<dl>";
  for (const auto& [name, value] : facts) {
    if (!value.empty())
      body_ += "<dt>" + escaped_html(name) + "</dt><dd>" + escaped_html(value) + "</dd>\n";
  }
  body_ += "</dl>\n";
}

void HtmlPage::table(const std::vector<Column>& columns,
                     const std::vector<std::vector<std::string>>& rows) {
  const auto cell = [&](const char* tag, size_t column, const std::string& text) {
    const char* style = columns[column].align == Align::right ? " class=\"r\"" : "";
    return fmt::format("<{}{}>{}</{}>", tag, style, escaped_html(text), tag);
  };
  body_ += "<table><thead><tr>";
  for (size_t i = 0; i < columns.size(); ++i) body_ += cell("th", i, columns[i].title);
  body_ += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    ENSURE(row.size() <= columns.size(), "more cells than columns");
    body_ += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) body_ += cell("td", i, row[i]);
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table>\n";
}

void HtmlPage::bars(const std::vector<HtmlBar>& bars) {
  constexpr double kRow = 18, kLabels = 260, kValues = 110;
  double largest = 1e-30;
  for (const HtmlBar& bar : bars) largest = std::max(largest, bar.value);
  std::string content;
  for (size_t i = 0; i < bars.size(); ++i) {
    const HtmlBar& bar = bars[i];
    const double y = static_cast<double>(i) * kRow;
    const double width = (kWidth - kLabels - kValues) * bar.value / largest;
    content += "<g>" + hover(bar.label + "\n" + bar.detail) +
               svg_text(kLabels - 8, y + 13, shortened(bar.label, 40), "end") +
               fmt::format(
                   "<rect class=\"b\" x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                   "height=\"{}\" rx=\"2\"/>",
                   kLabels, y + 3, std::max(width, 0.5), kRow - 5) +
               svg_text(kLabels + width + 6, y + 13, bar.value_text, "start", "f") + "</g>\n";
  }
  body_ += svg(static_cast<double>(bars.size()) * kRow, content);
}

void HtmlPage::histogram(std::vector<double> values, std::string_view unit) {
  ENSURE(!values.empty(), "a histogram of nothing");
  constexpr double kHeight = 180, kBase = 150;
  std::sort(values.begin(), values.end());
  const double low = values.front();
  const double high = values[static_cast<size_t>(kShown * static_cast<double>(values.size() - 1))];
  const double step = std::max((high - low) / kBins, 1e-12);
  std::vector<size_t> counts(kBins, 0);
  for (const double v : values)
    ++counts[std::min(static_cast<size_t>(std::max(0.0, (v - low) / step)), kBins - 1)];
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const double column = static_cast<double>(kWidth) / kBins;
  std::string content;
  for (size_t i = 0; i < kBins; ++i) {
    const double height = (kBase - 10) * static_cast<double>(counts[i]) / most;
    const double from = low + step * static_cast<double>(i);
    content += fmt::format(
        "<rect class=\"b\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}</rect>",
        column * static_cast<double>(i), kBase - height, column - 2, height,
        hover(fmt::format("{} from {:.4f} {}", counts[i], from, unit)));
  }
  content += fmt::format("<line class=\"l\" x1=\"0\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>", kWidth,
                         kBase + 0.5, kBase + 0.5);
  constexpr int kMarks = 6;
  for (int i = 0; i <= kMarks; ++i) {
    const double share = static_cast<double>(i) / kMarks;
    content += svg_text(kWidth * share, kBase + 16,
                        fmt::format("{:.4g} {}", low + (high - low) * share, unit),
                        i == 0        ? "start"
                        : i == kMarks ? "end"
                                      : "middle",
                        "f");
  }
  body_ += svg(kHeight, content);
}

void HtmlPage::drawing(const HtmlDrawing& drawing) {
  constexpr double kHeight = 220;
  const double height = std::min(kHeight, 40 + drawing.height * 40);
  const double x_scale = kWidth / std::max(drawing.width, 1e-12);
  const double y_scale = height / std::max(drawing.height, 1e-12);
  std::string content = fmt::format(
      "<rect x=\"0\" y=\"0\" width=\"{}\" height=\"{:.1f}\" fill=\"none\" class=\"l\"/>", kWidth,
      height);
  for (const HtmlBox& box : drawing.boxes) {
    content += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\">{}</rect>",
        box.x * x_scale, box.y * y_scale, std::max(box.width * x_scale - 0.6, 0.4),
        std::max(box.height * y_scale - 0.6, 0.4), color_of(box.color), hover(box.detail));
  }
  content += svg_text(0, height + 15, drawing.y_title, "start", "f") +
             svg_text(kWidth, height + 15, drawing.x_title, "end", "f");
  body_ += svg(height + 22, content);
}

void HtmlPage::plots(const std::vector<HtmlPlot>& plots) {
  constexpr double kPlotWidth = 220, kTop = 16, kBase = 76, kPlotHeight = 94;
  body_ += "<div class=\"plots\">";
  for (const HtmlPlot& plot : plots) {
    const double column =
        kPlotWidth / static_cast<double>(std::max<size_t>(plot.heights.size(), 1));
    std::string content = hover(plot.detail) + svg_text(0, 11, shortened(plot.title, 34));
    for (size_t i = 0; i < plot.heights.size(); ++i) {
      const double height = (kBase - kTop) * plot.heights[i];
      content += fmt::format(
          "<rect class=\"b\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
          column * static_cast<double>(i), kBase - height, std::max(column - 0.6, 0.4), height);
    }
    content += fmt::format(
        "<line class=\"l\" x1=\"0\" x2=\"{0}\" y1=\"{1}\" y2=\"{1}\"/>"
        "<line class=\"m\" x1=\"{2:.1f}\" x2=\"{2:.1f}\" y1=\"{3}\" y2=\"{1}\"/>",
        kPlotWidth, kBase + 0.5, kPlotWidth * plot.mark, kTop);
    content += svg_text(0, kPlotHeight - 3, plot.caption, "start", "f");
    body_ += fmt::format("<svg viewBox=\"0 0 {} {}\"><g>{}</g></svg>\n", kPlotWidth, kPlotHeight,
                         content);
  }
  body_ += "</div>\n";
}

std::string HtmlPage::text() const {
  return body_ + "</body></html>\n";
}

}  // namespace enginery
