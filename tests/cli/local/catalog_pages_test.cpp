#include "cli/local/catalog_pages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

// A catalog of so many engines, each with a tag, behind a door that counts its questions.
struct CatalogPages : testing::Test {
  int64_t engines = 0;
  bool knows_pages = true;  // an older coordinator does not
  int questions = 0;

  CatalogDoor door() {
    CatalogDoor made;
    made.act = [this](const std::string& action, const std::vector<std::string>&,
                      const Json& options) -> Result<Json> {
      EXPECT_EQ(action, "ls");
      ++questions;
      Json page = {
          {"schema", "enginery.catalog/1"}, {"engines", Json::array()}, {"tags", Json::array()}};
      const int64_t from = knows_pages ? options.value("skip", int64_t{0}) : 0;
      const int64_t to = std::min(engines, from + options["limit"].get<int64_t>());
      for (int64_t i = from; i < to; ++i) {
        page["engines"].push_back({{"engine", std::to_string(i)}, {"name", "net"}});
        page["tags"].push_back({{"tag", "t"}, {"engine", std::to_string(i)}});
      }
      if (knows_pages) page["rows"] = engines;
      return page;
    };
    return made;
  }
  Json all(std::optional<int64_t> limit = std::nullopt) {
    const auto listed = list_all_engines(door(), "", limit);
    EXPECT_TRUE(listed.ok());
    return listed.ok() ? *listed : Json();
  }
};

TEST_F(CatalogPages, AllEnginesAreListedHoweverManyThereAre) {
  for (const int64_t count : {0, 1, 500, 501, 2300}) {
    engines = count;
    const Json listed = all();
    ASSERT_EQ(std::ssize(listed["engines"]), count);
    EXPECT_EQ(std::ssize(listed["tags"]), count);
    EXPECT_FALSE(listed.contains("rows")) << "a matter of pages";
    if (count > 0) {
      EXPECT_EQ(listed["engines"].back()["engine"], std::to_string(count - 1));
    }
  }
}

TEST_F(CatalogPages, NoMoreThanTheLimit) {
  engines = 2300;
  EXPECT_EQ(std::ssize(all(700)["engines"]), 700);
  EXPECT_EQ(questions, 2);
}

TEST_F(CatalogPages, AnOlderCoordinatorIsAskedOnce) {
  engines = 2300;
  knows_pages = false;
  EXPECT_EQ(std::ssize(all()["engines"]), 500);
  EXPECT_EQ(questions, 1);
}

TEST_F(CatalogPages, AnErrorEndsTheList) {
  CatalogDoor broken;
  broken.act = [](const std::string&, const std::vector<std::string>&,
                  const Json&) -> Result<Json> {
    return Error{ErrorCode::unavailable, "gone"};
  };
  EXPECT_FALSE(list_all_engines(broken, "", std::nullopt).ok());
}

}  // namespace
}  // namespace enginery
