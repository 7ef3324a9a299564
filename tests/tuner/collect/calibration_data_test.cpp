// Which rows a model is calibrated on: a choice that the seed decides, without what cannot be read.
#include "tuner/collect/calibration_data.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "tests/support/temporary_folder.h"

namespace enginery {
namespace {

// A PNG file of 2 x 2 pixels, all (10, 20, 30).
const std::string kPicture =
    from_hex(
        "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a7300000010494441"
        "54789c63e01291032206080500064e00f1386332810000000049454e44ae426082")
        .value();

struct CalibrationDataTest : testing::Test {
  test::TemporaryFolder folder;
  const InputDescription pixels{"x", {DataType::float32, {2, 1}}};

  std::string rows(int64_t count, int64_t width = 1) {
    Tensor tensor(DataType::float32, {count, width});
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
    const auto path = folder.path / ("rows" + std::to_string(count) + ".npy");
    EXPECT_TRUE(write_npy(path, tensor).ok());
    return path.string();
  }
  // What the valid rows of all batches hold.
  static std::vector<float> read_all(CalibrationData& data) {
    std::vector<float> out;
    for (;;) {
      auto batch = data.next();
      EXPECT_TRUE(batch.ok()) << batch.error().message;
      if (!batch.ok() || batch->valid_rows == 0) return out;
      const auto all = batch->tensors.at("x").data<float>();
      out.insert(out.end(), all.begin(), all.begin() + batch->valid_rows);
    }
  }
  std::vector<float> chosen(int64_t wanted, uint64_t seed) {
    auto data = CalibrationData::open({{rows(50)}, {}, wanted, seed}, {pixels});
    EXPECT_TRUE(data.ok()) << data.error().message;
    EXPECT_EQ(data->available(), 50);
    EXPECT_EQ(data->chosen(), wanted);
    return read_all(*data);
  }
};

TEST_F(CalibrationDataTest, TakesAllRowsInOrder) {
  auto data = CalibrationData::open({{rows(5)}, {}, 0, 1}, {pixels});
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(read_all(*data), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(data->done(), 5);
  auto more = CalibrationData::open({{rows(5)}, {}, 9, 1}, {pixels});
  EXPECT_EQ(more->chosen(), 5);
}

TEST_F(CalibrationDataTest, ChoosesDifferentRowsByTheSeed) {
  const std::vector<float> one = chosen(7, 1);
  EXPECT_EQ(one.size(), 7u);
  EXPECT_EQ(std::set<float>(one.begin(), one.end()).size(), 7u);
  EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
  EXPECT_EQ(chosen(7, 1), one);
  EXPECT_NE(chosen(7, 2), one);
}

TEST_F(CalibrationDataTest, NamesWhatIsWrongWithTheShape) {
  const auto wide = CalibrationData::open({{rows(4, 3)}, {}, 0, 1}, {pixels});
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(wide.error().message.find("float32[4x3]; input 'x' takes float32[2x1]"),
            std::string::npos)
      << wide.error().message;
  const auto none = CalibrationData::open({{rows(0)}, {}, 0, 1}, {pixels});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("holds no rows"), std::string::npos);
  const auto missing = CalibrationData::open({{}, {}, 0, 1}, {pixels});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("has no --data"), std::string::npos);
}

struct PicturesTest : CalibrationDataTest {
  const InputDescription image{"x", {DataType::float32, {2, 3, 2, 2}}};

  void write(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(write_file(folder.path / name, bytes).ok());
  }
  Result<CalibrationData> open() {
    return CalibrationData::open({{folder.path.string()}, {}, 0, 1}, {image});
  }
};

TEST_F(PicturesTest, LeavesOutAndNamesWhatCannotBeRead) {
  for (int i = 0; i < 5; ++i) write("p" + std::to_string(i) + ".png", kPicture);
  write("p1.png", kPicture.substr(0, 40));
  auto data = open();
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(read_all(*data).size(), 4u);
  ASSERT_EQ(data->skipped().size(), 1u);
  EXPECT_EQ(data->skipped()[0].label, "p1.png");
  EXPECT_NE(data->skipped()[0].reason.find("p1.png"), std::string::npos);
}

TEST_F(PicturesTest, RefusesWhenTooManyCannotBeRead) {
  for (int i = 0; i < 5; ++i) write("p" + std::to_string(i) + ".png", kPicture);
  write("p1.png", "x");
  write("p2.png", "y");
  auto data = open();
  ASSERT_TRUE(data.ok());
  Result<InputBatch> batch = data->next();
  while (batch.ok() && batch->valid_rows > 0) batch = data->next();
  ASSERT_FALSE(batch.ok());
  EXPECT_NE(batch.error().message.find("2 of 5 rows of --data"), std::string::npos)
      << batch.error().message;
  EXPECT_NE(batch.error().message.find("p1.png"), std::string::npos);
}

TEST_F(PicturesTest, RefusesWhereNoneCanBeReadAndWhereThereIsNone) {
  const auto empty = open();
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().message.find("holds no .jpg, .jpeg or .png file"), std::string::npos);
  write("only.png", "x");
  auto data = open();
  ASSERT_TRUE(data.ok());
  const auto batch = data->next();
  ASSERT_FALSE(batch.ok());
  EXPECT_NE(batch.error().message.find("1 of 1 rows"), std::string::npos);
}

}  // namespace
}  // namespace enginery
