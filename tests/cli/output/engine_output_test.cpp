#include "cli/output/engine_output.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

TEST(DefaultEnginePath, IsTheContractsNameWithoutFolders) {
  EXPECT_EQ(default_engine_path("squeezenet1.1", "cpu-avx2").string(),
            "./squeezenet1.1.cpu-avx2.engine");
  EXPECT_EQ(default_engine_path("../a/b", "p4").string(), "./.._a_b.p4.engine");
  EXPECT_EQ(default_engine_path("a\\b\n", "p4").string(), "./a_b_.p4.engine");
}

TEST(WriteEngine, WritesTheNamedFileAndReturnsItsPath) {
  const TemporaryHome home;
  FakeConsole fake;
  const auto path = write_engine({home.file("x.engine"), "net", "p4"}, "bytes", fake.console());
  ASSERT_TRUE(path.ok());
  ASSERT_TRUE(path->has_value());
  EXPECT_EQ(path->value().string(), home.file("x.engine"));
  EXPECT_EQ(*read_file(home.file("x.engine")), "bytes");
  EXPECT_EQ(fake.out() + fake.err(), "");
}

TEST(WriteEngine, ADashIsStdoutAndNothingElse) {
  FakeConsole fake;
  const auto path = write_engine({"-", "net", "p4"}, std::string("a\0b", 3), fake.console());
  ASSERT_TRUE(path.ok());
  EXPECT_FALSE(path->has_value());
  EXPECT_EQ(fake.out(), std::string("a\0b", 3));
}

TEST(WriteEngine, SaysWhenItReplacesAnotherEngine) {
  const TemporaryHome home;
  FakeConsole fake;
  const EngineOutput where{home.file("x.engine"), "net", "p4"};
  ASSERT_TRUE(write_engine(where, "ENGINERY one", fake.console()).ok());
  ASSERT_TRUE(write_engine(where, "ENGINERY one", fake.console()).ok());
  EXPECT_EQ(fake.err(), "") << "the same bytes replace nothing";
  ASSERT_TRUE(write_engine(where, "ENGINERY two", fake.console()).ok());
  EXPECT_EQ(fake.err(), home.file("x.engine") + " held another engine (" +
                            sha256(std::string("ENGINERY one")).text().substr(0, 19) +
                            "), which this one replaces\n");
}

TEST(CheckEngineOutput, RefusesToOverwriteWhatIsNoEngine) {
  const TemporaryHome home;
  ASSERT_TRUE(write_file(home.file("model.onnx"), "a model").ok());
  EXPECT_EQ(check_engine_output({home.file("model.onnx"), "net", "p4"}).error().code,
            ErrorCode::usage);
  for (const char* elsewhere : {"-", "/dev/stdout", "/dev/null"})
    EXPECT_TRUE(check_engine_output({elsewhere, "net", "p4"}).ok()) << elsewhere;
}

TEST(WriteEngine, AFolderThatIsNotThereIsAnError) {
  const TemporaryHome home;
  FakeConsole fake;
  const auto path = write_engine({home.file("no/x.engine"), "net", "p4"}, "bytes", fake.console());
  ASSERT_FALSE(path.ok());
  EXPECT_NE(path.error().message.find("no/x.engine"), std::string::npos);
}

}  // namespace
}  // namespace enginery
