#include "cli/output/html_page.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(HtmlPage, EscapesEveryTextThatItIsGiven) {
  const std::string evil = "<script>alert(\"1\" & '2')</script>";
  HtmlPage page(evil, evil);
  page.section(evil, evil);
  page.facts({{evil, evil}});
  page.table({{evil}}, {{evil}});
  page.bars({{evil, evil, 1, evil}});
  page.histogram({1, 2, 3}, evil);
  page.drawing({evil, evil, 1, 1, {{0, 0, 1, 1, evil, 0}}});
  EXPECT_FALSE(has(page.text(), "<script"));
  EXPECT_TRUE(
      has(page.text(), "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;"));
}

TEST(HtmlPage, NeedsNothingFromElsewhere) {
  HtmlPage page("t", "s");
  page.bars({{"a", "b", 1, "1"}});
  page.histogram({1}, "ms");
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("})
    EXPECT_FALSE(has(page.text(), outside)) << outside;
}

// Bars and bins are proportional to what they stand for.
TEST(HtmlPage, BarsAreAsWideAsTheirValues) {
  HtmlPage page("t", "s");
  page.bars({{"whole", "", 4, ""}, {"half", "", 2, ""}});
  EXPECT_TRUE(has(page.text(), "width=\"870.0\"")) << page.text();
  EXPECT_TRUE(has(page.text(), "width=\"435.0\"")) << page.text();
}

TEST(HtmlPage, AHistogramCountsEveryValueOnce) {
  HtmlPage page("t", "s");
  page.histogram({1, 1, 1, 2, 3, 1000}, "ms");
  size_t counted = 0;
  const std::string text = page.text();
  for (size_t at = text.find("<title>"); (at = text.find("<title>", at + 1)) != std::string::npos;)
    counted += std::stoul(text.substr(at + 7));
  EXPECT_EQ(counted, 6u);
}

}  // namespace
}  // namespace enginery
