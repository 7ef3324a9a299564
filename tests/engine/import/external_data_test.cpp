// Weights beside the model: read from its folder and from nowhere else; packed into one blob for
// travelling.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "engine/base/file.h"
#include "engine/import/onnx/pack.h"
#include "tests/engine/import/model_builder.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {
namespace {

namespace fs = std::filesystem;

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "enginery-import-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = root_ / "model";
    fs::create_directories(folder_ / "sub");
    float values[3] = {10, 20, 30};
    data_.assign(reinterpret_cast<const char*>(values), sizeof values);
    write(folder_ / "weights.bin", "head" + data_ + "tail");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& file, const Bytes& bytes) {
    ASSERT_TRUE(write_file(file, bytes).ok());
  }

  // y = x + w, w float32[3] in `location`.
  fs::path model(const std::string& location, const std::string& offset = "4",
                 const std::string& length = "12") {
    ModelBuilder m;
    m.input("x", {3}).output("y").weights("w", {3}, {}).node("Add", {"x", "w"}, {"y"});
    auto* w = m.graph().mutable_initializer(0);
    w->set_data_location(onnx::TensorProto::EXTERNAL);
    for (auto [key, value] :
         {std::pair{"location", location}, {"offset", offset}, {"length", length}}) {
      if (value.empty()) continue;
      auto* entry = w->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    write(folder_ / "model.onnx", m.bytes());
    return folder_ / "model.onnx";
  }

  // y = x + w + v - v, where w and v are the same bytes of a file.
  fs::path two_of_one_range() {
    ModelBuilder m;
    m.input("x", {3}).output("y").weights("w", {3}, {}).weights("v", {3}, {});
    m.node("Add", {"x", "w"}, {"a"}).node("Add", {"a", "v"}, {"b"}).node("Sub", {"b", "v"}, {"y"});
    for (auto& tensor : *m.graph().mutable_initializer()) {
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      for (const auto& [key, value] : {std::pair{"location", "weights.bin"}, {"offset", "4"}}) {
        auto* entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      }
    }
    write(folder_ / "model.onnx", m.bytes());
    return folder_ / "model.onnx";
  }

  void expect_refused(const fs::path& file, const std::string& part,
                      ErrorCode code = ErrorCode::invalid_argument) {
    for (bool packing : {false, true}) {
      Error error = packing ? error_of(pack_model(file)) : error_of(import_model(file));
      EXPECT_EQ(std::string(to_string(error.code)), to_string(code)) << error.message;
      EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
    }
  }
  template <typename T>
  Error error_of(const Result<T>& result) {
    return result.ok() ? Error{ErrorCode::internal, "it worked"} : result.error();
  }

  void expect_works(const Result<ImportedModel>& imported) {
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    auto out = run_graph(imported->graph, {{"x", Tensor::of<float>({3}, {1, 2, 3})}});
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(out->at("y").data<float>()[2], 33);
  }

  fs::path root_, folder_;
  Bytes data_;
};

// In a file as in the model two of them share a byte, before and after packing.
TEST_F(ExternalData, OfFourBitIntegersIsPairsOfThem) {
  ModelBuilder m;
  m.output("y").node("Cast", {"w"}, {"y"}, {{"to", 1}});
  m.input("x", {3});
  auto* w = m.graph().add_initializer();
  w->set_name("w");
  w->set_data_type(22);  // INT4, which older headers do not name
  w->add_dims(3);
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = w->add_external_data();
  entry->set_key("location");
  entry->set_value("four.bin");
  write(folder_ / "four.bin", "\xf1\x07");
  write(folder_ / "model.onnx", m.bytes());
  const auto packed = pack_model(folder_ / "model.onnx");
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  for (const auto& imported :
       {import_model(folder_ / "model.onnx"),
        import_model(ModelSource{"travelled.onnx", *packed, std::nullopt})}) {
    ASSERT_TRUE(imported.ok()) << imported.error().message;
    auto out = run_graph(imported->graph, {{"x", Tensor::of<float>({3}, {0, 0, 0})}});
    ASSERT_TRUE(out.ok()) << out.error().message;
    EXPECT_EQ(to_int64s(out->at("y")), (std::vector<int64_t>{1, -1, 7}));
  }
}

TEST_F(ExternalData, IsReadAtItsOffset) {
  expect_works(import_model(model("weights.bin")));
}

TEST_F(ExternalData, MayLieInASubFolder) {
  write(folder_ / "sub/w.bin", data_);
  expect_works(import_model(model("sub/w.bin", "", "")));
}

TEST_F(ExternalData, IsPackedIntoOneBlob) {
  auto packed = pack_model(model("weights.bin"));
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  expect_works(import_model(ModelSource{"travelled.onnx", *packed, std::nullopt}));
}

// With a limit of 100 bytes as with one of 2 GiB: the weights are beside the model in one blob,
// each range once, and constants lie where the blob has them.
TEST_F(ExternalData, ThatIsTooLargeForOneMessageIsPackedBesideTheModel) {
  const fs::path file = two_of_one_range();
  const auto source = read_model(file);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const auto packed = pack_onnx(*source, 100);
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  ASSERT_TRUE(packed->starts_with("ENGONNX1"));
  EXPECT_EQ(packed->find(data_), 64u);
  EXPECT_EQ(packed->find(data_, 65), Bytes::npos);
  const auto blob = std::make_shared<const Bytes>(*packed);
  const auto imported = import_model(ModelSource{"travelled.onnx", blob, std::nullopt});
  expect_works(imported);
  for (ValueId v = 0; v < imported->graph.value_count(); ++v) {
    const Tensor* constant = imported->graph.constant(v);
    if (constant) {
      EXPECT_EQ(constant->raw(), blob->data() + 64);
    }
  }
  EXPECT_GT(blob.use_count(), 1);
  // Its own blob is what it is packed to again; as one file it is what it was.
  EXPECT_EQ(pack_onnx(ModelSource{"m", blob, std::nullopt}).value(), *packed);
  const auto inlined = inline_external_data(*source);
  ASSERT_TRUE(inlined.ok());
  EXPECT_FALSE(inlined->starts_with("ENGONNX1"));
  expect_works(import_model(ModelSource{"travelled.onnx", *inlined, std::nullopt}));
}

TEST_F(ExternalData, PackedBesideTheModelIsHeldAgainstTheBlob) {
  const Bytes good = pack_onnx(read_model(two_of_one_range()).value(), 100).value();
  const auto refused = [&](Bytes bytes) {
    return error_of(import_model(ModelSource{"cut.onnx", std::move(bytes), folder_})).message;
  };
  EXPECT_NE(refused(good.substr(0, 40)).find("is cut"), std::string::npos);
  EXPECT_NE(refused(good.substr(0, 70)).find("is cut"), std::string::npos);
  Bytes short_of_weights = good;
  short_of_weights[8] = 8;  // 12 bytes of weights were there: the rest is no model
  EXPECT_NE(refused(short_of_weights), "it worked");
  Bytes elsewhere = good;
  elsewhere.replace(elsewhere.rfind("//container"), 11, "/container/");
  EXPECT_NE(refused(elsewhere).find("came without a folder"), std::string::npos);
  // Outside of a container its weights' name is a path like others.
  expect_refused(model("//container"), "outside the model's folder");
}

TEST_F(ExternalData, PackingLeavesSelfContainedModelsAlone) {
  Bytes bytes = small_convolution().bytes();
  write(folder_ / "inside.onnx", bytes);
  auto packed = pack_model(folder_ / "inside.onnx");
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(*packed, bytes);
}

TEST_F(ExternalData, IsRefusedForAModelThatTravelled) {
  auto bytes = read_file(model("weights.bin"));
  ASSERT_TRUE(bytes.ok());
  auto imported = import_model(ModelSource{"travelled.onnx", *bytes, std::nullopt});
  EXPECT_NE(error_of(imported).message.find("came without a folder"), std::string::npos);
}

TEST_F(ExternalData, OutsideTheFolderIsRefused) {
  write(root_ / "secret.bin", "head" + data_);
  expect_refused(model("../secret.bin"), "outside the model's folder");
  expect_refused(model("sub/../../secret.bin"), "outside the model's folder");
  expect_refused(model((root_ / "secret.bin").string()), "outside the model's folder");
  expect_refused(model("/proc/self/environ"), "outside the model's folder");
}

TEST_F(ExternalData, SymbolicLinksAreRefused) {
  write(root_ / "secret.bin", "head" + data_);
  fs::create_symlink(root_ / "secret.bin", folder_ / "link.bin");
  expect_refused(model("link.bin"), "symbolic link");
  fs::create_directory_symlink(root_, folder_ / "up");
  expect_refused(model("up/secret.bin"), "symbolic link");
  fs::create_symlink("weights.bin", folder_ / "inside.bin");
  expect_refused(model("inside.bin"), "symbolic link");
}

TEST_F(ExternalData, HardLinksAreRefused) {
  write(root_ / "secret.bin", "head" + data_);
  fs::create_hard_link(root_ / "secret.bin", folder_ / "hard.bin");
  expect_refused(model("hard.bin"), "hard links");
}

TEST_F(ExternalData, OnlyRegularFiles) {
  expect_refused(model("sub"), "not a regular file");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_refused(model("pipe"), "not a regular file");
}

TEST_F(ExternalData, AMissingFileIsNotFound) {
  expect_refused(model("gone.bin"), "gone.bin", ErrorCode::not_found);
}

TEST_F(ExternalData, RangesBeyondTheFileAreRefused) {
  expect_refused(model("weights.bin", "9", "12"), "ends at byte");
  expect_refused(model("weights.bin", "9223372036854775807", "12"), "ends at byte");
  expect_refused(model("weights.bin", "-4", "12"), "offset is '-4'");
  expect_refused(model("weights.bin", "many", "12"), "offset is 'many'");
  expect_refused(model("weights.bin", "4", "11"), "11 bytes, its type and dims need 12");
  expect_refused(model("", "4", "12"), "without a location");
}

// The file has 5 GiB in a few blocks of disk; what is read of it are 12 bytes.
TEST_F(ExternalData, MayLieBeyond4GiBOfItsFile) {
  constexpr off_t kOffset = (off_t{9} << 29) + 4;  // which 32 bits do not hold
  const fs::path file = folder_ / "large.bin";
  write(file, "");
  ASSERT_EQ(truncate(file.c_str(), off_t{5} << 30), 0);
  const int opened = open(file.c_str(), O_WRONLY);
  ASSERT_GE(opened, 0);
  EXPECT_EQ(pwrite(opened, data_.data(), data_.size(), kOffset), std::ssize(data_));
  close(opened);
  rlimit found{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &found), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which reserve terabytes
  const rlimit less{rlim_t{4} << 30, found.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
#endif
  expect_works(import_model(model("large.bin", std::to_string(kOffset))));
  const auto packed = pack_model(folder_ / "model.onnx");
  EXPECT_EQ(setrlimit(RLIMIT_AS, &found), 0);
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  EXPECT_LT(packed->size(), 1000u);
  expect_works(import_model(ModelSource{"travelled.onnx", *packed, std::nullopt}));
}

// A file that claims 4 GiB of weights in a few blocks of disk.
TEST_F(ExternalData, SparseFilesCannotFillTheMemory) {
  ModelBuilder m;
  m.input("x", {3}).output("y").weights("w", {int64_t{1} << 30}, {}).node("Add", {"x", "w"}, {"y"});
  auto* w = m.graph().mutable_initializer(0);
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = w->add_external_data();
  entry->set_key("location");
  entry->set_value("holes.bin");
  write(folder_ / "holes.bin", "");
  ASSERT_EQ(truncate((folder_ / "holes.bin").c_str(), off_t{1} << 32), 0);
  write(folder_ / "model.onnx", m.bytes());
  expect_refused(folder_ / "model.onnx", "2048 MiB in all", ErrorCode::unsupported);
}

}  // namespace
}  // namespace enginery::test
