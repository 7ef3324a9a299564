#include "engine/data/input_set.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "tests/engine/data/picture_files.h"

namespace enginery {
namespace {

const InputDescription kPixels{"x", {DataType::float32, {2, 3, 4, 5}}};

Tensor counting(Dims dims, DataType type = DataType::float32) {
  Tensor values(DataType::float32, std::move(dims));
  for (int64_t i = 0; i < values.size(); ++i)
    values.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
  return convert(values, type);
}

struct InputSetTest : testing::Test {
  TemporaryFolder folder;
  std::string write(const std::string& name, const std::string& bytes) {
    EXPECT_TRUE(make_folder((folder.path / name).parent_path()));
    EXPECT_TRUE(write_file(folder.path / name, bytes));
    return (folder.path / name).string();
  }
  std::string write(const std::string& name, const Tensor& tensor) {
    return write(name, to_npy(tensor));
  }

  ErrorCode failure(const std::vector<std::string>& arguments,
                    const std::vector<InputDescription>& inputs,
                    const PreprocessTable& table = {}) {
    auto set = InputSet::open(arguments, inputs, table);
    if (!set.ok()) return set.error().code;
    for (int64_t i = 0; i < set->batches(); ++i) {
      if (auto batch = set->batch(i); !batch.ok()) return batch.error().code;
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::internal;
  }
};

TEST_F(InputSetTest, CutsAnArrayIntoSlicesAndPadsTheLast) {
  auto set = InputSet::open({write("a.npy", counting({5, 3, 4, 5}))}, {kPixels}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->rows(), 5);
  ASSERT_EQ(set->batches(), 3);
  auto first = set->batch(0), last = set->batch(2);
  ASSERT_TRUE(first.ok() && last.ok());
  EXPECT_EQ(first->valid_rows, 2);
  EXPECT_EQ(first->tensors.at("x").data<float>()[60], 60);
  EXPECT_EQ(last->first_row, 4);
  EXPECT_EQ(last->valid_rows, 1);
  EXPECT_EQ(last->tensors.at("x").data<float>()[0], 240);
  EXPECT_EQ(last->tensors.at("x").data<float>()[60], 240);  // padded with the last row
  EXPECT_EQ(set->labels()[3], (folder.path / "a.npy").string() + "[3]");
}

TEST_F(InputSetTest, ReadsAFolderInByteOrder) {
  for (const char* name : {"b.png", "B.PNG", "a.jpeg", "10.png", "9.png"}) {
    Picture picture = test_picture(4, 5, name[0]);
    write(std::string("set/") + name, name[0] == 'a' ? encode_jpeg(picture) : encode_png(picture));
  }
  write("set/notes.txt", "text");
  write("set/.hidden.png", "no picture");
  auto set = InputSet::open({"x=" + (folder.path / "set").string()}, {kPixels}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->labels(),
            (std::vector<std::string>{"10.png", "9.png", "B.PNG", "a.jpeg", "b.png"}));
  EXPECT_EQ(set->batches(), 3);
  auto batch = set->batch(0);
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_EQ(batch->tensors.at("x").data<float>()[60], test_picture(4, 5, '9').at(0, 0)[0]);
}

TEST_F(InputSetTest, PicturesFollowEachOtherAndAreNeverResizedByGuess) {
  std::string good = write("a.png", encode_png(test_picture(4, 5))),
              large = write("b.png", encode_png(test_picture(8, 10)));
  auto set = InputSet::open({good, "x=" + good, good}, {kPixels}, {});
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->rows(), 3);
  EXPECT_EQ(failure({large}, {kPixels}), ErrorCode::invalid_argument);
  Preprocess steps;
  steps.resize = Preprocess::Size{4, 5};
  EXPECT_TRUE(InputSet::open({large}, {kPixels}, {{"", steps}})->batch(0).ok());
  steps.resize = Preprocess::Size{5, 4};
  EXPECT_EQ(failure({large}, {kPixels}, {{"x", steps}}), ErrorCode::invalid_argument);
}

TEST_F(InputSetTest, ConvertsOnlyWithoutLoss) {
  InputDescription ids{"ids", {DataType::int32, {1, 3}}};
  std::string wide = write("wide.npy", counting({2, 3}, DataType::int64));
  auto set = InputSet::open({wide}, {ids}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(to_int64s(set->batch(1)->tensors.at("ids")), (std::vector<int64_t>{3, 4, 5}));
  Tensor huge = counting({2, 3}, DataType::int64);
  huge.mutable_data<int64_t>()[4] = int64_t{1} << 40;
  EXPECT_EQ(failure({write("huge.npy", huge)}, {ids}), ErrorCode::invalid_argument);
  EXPECT_EQ(failure({write("float.npy", counting({2, 3}))}, {ids}), ErrorCode::invalid_argument);
  EXPECT_TRUE(
      InputSet::open({write("d.npy", counting({2, 3, 4, 5}, DataType::float64))}, {kPixels}, {})
          ->batch(0)
          .ok());
}

// NumPy has no such types: numbers are given, and become them.
TEST_F(InputSetTest, TakesNumbersForTypesThatNumPyLacks) {
  const InputDescription small{"s", {DataType::int4, {1, 4}}},
      eight{"e", {DataType::float8e4m3fn, {1, 4}}};
  const std::string path = write("n.npy", counting({2, 4}, DataType::int8));
  auto set = InputSet::open({path}, {small}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(to_int64s(set->batch(1)->tensors.at("s")), (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(failure({write("wide.npy", counting({3, 4}, DataType::int8))}, {small}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(failure({write("f.npy", counting({2, 4}))}, {small}), ErrorCode::invalid_argument);
  set = InputSet::open({write("g.npy", counting({2, 4}))}, {eight}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(to_int64s(set->batch(1)->tensors.at("e")), (std::vector<int64_t>{4, 5, 6, 7}));
}

TEST_F(InputSetTest, SeveralInputsShareTheirRows) {
  InputDescription a{"a", {DataType::float32, {1, 2}}}, b{"b=c", {DataType::float32, {1, 3}}},
      scale{"s", {DataType::float32, {}}};
  std::string two = write("two.npy", counting({4, 2})),
              three = write("three.npy", counting({4, 3}));
  std::string scalar = write("scalar.npy", counting({}));
  auto set = InputSet::open({"a=" + two, "b=c=" + three, "s=" + scalar}, {a, b, scale}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->batches(), 4);
  auto batch = set->batch(3);
  EXPECT_EQ(batch->tensors.at("b=c").data<float>()[0], 9);
  EXPECT_EQ(batch->tensors.at("s").data<float>()[0], 0);
  std::string short_one = write("short.npy", counting({3, 3}));
  EXPECT_EQ(failure({"a=" + two, "b=c=" + short_one, "s=" + scalar}, {a, b, scale}),
            ErrorCode::invalid_argument);
}

TEST_F(InputSetTest, AnyRowsMakeABatchWhichTheLastOneFills) {
  const InputDescription scale{"s", {DataType::float32, {}}};
  auto set = InputSet::open(
      {"x=" + write("a.npy", counting({5, 3, 4, 5})), "x=" + write("b.npy", counting({1, 3, 4, 5})),
       "s=" + write("s.npy", counting({}))},
      {kPixels, scale}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->batch_rows(), 2);
  const auto fifth = set->row(5), third = set->row(3);
  ASSERT_TRUE(fifth.ok() && third.ok());
  ASSERT_EQ(third->size(), 1u) << "the scalar has no rows";
  EXPECT_EQ(third->front().data<float>()[0], 180);
  const auto two = set->join({*fifth, *third}), one = set->join({*third});
  ASSERT_TRUE(two.ok() && one.ok());
  EXPECT_EQ(two->valid_rows, 2);
  EXPECT_EQ(two->tensors.at("x").data<float>()[1], 1);
  EXPECT_EQ(two->tensors.at("x").data<float>()[60], 180);
  EXPECT_EQ(one->valid_rows, 1);
  EXPECT_EQ(one->tensors.at("x").data<float>()[60], 180);
  EXPECT_EQ(one->tensors.at("s").data<float>()[0], 0);
}

TEST_F(InputSetTest, CallsItsArgumentsAsItsCallerDoes) {
  const auto set = InputSet::open({}, {kPixels}, {}, "--data");
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().message.find("input 'x' has no --data"), std::string::npos);
}

TEST_F(InputSetTest, RefusesWhatDoesNotFit) {
  InputDescription other{"y", {DataType::float32, {1, 2}}};
  std::string good = write("a.npy", counting({2, 3, 4, 5}));
  EXPECT_EQ(failure({}, {kPixels}), ErrorCode::usage);
  EXPECT_EQ(failure({"z=" + good}, {kPixels}), ErrorCode::usage);
  EXPECT_EQ(failure({good}, {kPixels, other}), ErrorCode::usage);
  EXPECT_EQ(failure({"x=" + good}, {kPixels, other}), ErrorCode::usage);
  EXPECT_EQ(failure({(folder.path / "none.npy").string()}, {kPixels}), ErrorCode::not_found);
  EXPECT_EQ(failure({write("text.npy", "some text")}, {kPixels}), ErrorCode::invalid_argument);
  EXPECT_EQ(failure({write("b.npy", counting({2, 3, 5, 4}))}, {kPixels}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(failure({write("c.npy", counting({3, 4, 5}))}, {kPixels}), ErrorCode::invalid_argument);
  EXPECT_EQ(failure({write("e.png", encode_png(test_picture(4, 5)).substr(0, 60))}, {kPixels}),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(make_folder(folder.path / "empty"));
  EXPECT_EQ(failure({(folder.path / "empty").string()}, {kPixels}), ErrorCode::invalid_argument);
  EXPECT_EQ(failure({good}, {kPixels}, {{"y", {}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(failure({"x=" + good, "y=" + good}, {kPixels, other}, {{"", {}}}),
            ErrorCode::invalid_argument);
}

TEST_F(InputSetTest, AnArrayWithoutRowsIsNoBatch) {
  auto set = InputSet::open({write("none.npy", counting({0, 3, 4, 5}))}, {kPixels}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->batches(), 0);
  EXPECT_TRUE(set->labels().empty());
  set = InputSet::open(
      {write("none.npy", counting({0, 3, 4, 5})), write("two.npy", counting({2, 3, 4, 5}))},
      {kPixels}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->rows(), 2);
}

TEST_F(InputSetTest, AModelWithoutInputsRunsOnce) {
  auto set = InputSet::open({}, {}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->batches(), 1);
  EXPECT_EQ(set->labels(), std::vector<std::string>{"-"});
  auto batch = set->batch(0);
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  EXPECT_TRUE(batch->tensors.empty());
  EXPECT_EQ(batch->valid_rows, 1);
  EXPECT_EQ(InputSet::open({"x=a.npy"}, {}, {}).error().message,
            "--input x=a.npy: the model has no inputs");
}

TEST_F(InputSetTest, AcceptsAPathThatHoldsAnEqualsSign) {
  EXPECT_TRUE(InputSet::open({write("a=b.npy", counting({2, 3, 4, 5}))}, {kPixels}, {}).ok());
}

TEST(RowJoin, GivesEmptyOutputsForNoRows) {
  RowJoin join;
  ASSERT_TRUE(join.add_none({{"p", {DataType::float32, {2, 3}}}}, 2).ok());
  EXPECT_EQ(join.finish().at("p").dims(), (Dims{0, 3}));
  const Status table = join.add_none({{"table", {DataType::float32, {7, 2}}}}, 2);
  EXPECT_EQ(table.error().code, ErrorCode::unsupported);
  EXPECT_NE(table.error().message.find("'table'"), std::string::npos);
}

TEST(RowJoin, JoinsTheValidRowsAndKeepsWhatHasNone) {
  RowJoin join;
  ASSERT_TRUE(join.add({{"p", counting({2, 3})}, {"q", counting({2}, DataType::int64)}}, 2, 2));
  ASSERT_TRUE(join.add({{"p", counting({2, 3})}, {"q", counting({2}, DataType::int64)}}, 2, 1));
  auto joined = join.finish();
  EXPECT_EQ(joined.at("p").dims(), (Dims{3, 3}));
  EXPECT_EQ(joined.at("p").data<float>()[6], 0);
  EXPECT_EQ(to_int64s(joined.at("q")), (std::vector<int64_t>{0, 1, 0}));

  RowJoin single;
  ASSERT_TRUE(single.add({{"scalar", counting({})}, {"table", counting({7, 2})}}, 1, 1));
  EXPECT_EQ(single.add({{"scalar", counting({})}}, 1, 1).error().code, ErrorCode::unsupported);
  auto whole = single.finish();
  EXPECT_EQ(whole.at("table").dims(), (Dims{7, 2}));
  EXPECT_EQ(whole.at("scalar").dims(), Dims{});
}

// As many boxes as there are rows in a batch are not one for each row.
TEST(RowJoin, KeepsWholeWhatHasNoRows) {
  RowJoin join;
  join.keep_whole("found");
  ASSERT_TRUE(join.add({{"found", counting({2, 3})}}, 2, 1));
  EXPECT_EQ(join.finish().at("found").dims(), (Dims{2, 3}));
  ASSERT_TRUE(join.add({{"found", counting({2, 3})}}, 2, 2));
  EXPECT_EQ(join.add({{"found", counting({2, 3})}}, 2, 2).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace enginery
