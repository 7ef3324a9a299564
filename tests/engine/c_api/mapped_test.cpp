// Engines that are mapped: the weights are read from the file's pages and not copied, and the pages
// stay as long as anything reads them.
#include <unistd.h>

#include <fstream>

#include "tests/engine/c_api/c_fixture.h"

namespace enginery::test {
namespace {

// One product with 16 MiB of weights, which the reference reads where they are.
constexpr char kHeavy[] =
    "input %x : float32[1x2048]\n %w = constant float32[2048x2048] random(1)\n "
    "%y = matmul(%x, %w)\n output %y";
constexpr size_t kWeightBytes = size_t{16} << 20;
constexpr size_t kVectorBytes = 2048 * sizeof(float);

SourceFilter reference_alone() {
  SourceFilter filter;
  filter.only = {"reference"};
  return filter;
}

class CMapped : public testing::Test {
 protected:
  enginery_engine* load(int32_t map_file) {
    enginery_load_options options{};
    options.struct_size = sizeof options;
    const std::string keys = file_.keys().string();
    options.keys_folder = keys.c_str();
    options.map_file = map_file;
    enginery_engine* engine = nullptr;
    EXPECT_EQ(enginery_engine_load_file(file_.file().c_str(), &options, &engine), ENGINERY_OK)
        << enginery_last_error();
    return engine;
  }

  // The outputs on ones, of a context that is left alone with what it needs.
  std::vector<float> outputs_without_engine(enginery_engine* engine) {
    enginery_context* context = nullptr;
    EXPECT_EQ(enginery_context_create(engine, &context), ENGINERY_OK) << enginery_last_error();
    EXPECT_EQ(enginery_engine_destroy(engine), ENGINERY_OK);
    std::filesystem::remove(file_.file());
    const std::vector<float> x(2048, 1.0f);
    std::vector<float> y(2048);
    EXPECT_EQ(enginery_context_set_input(context, "x", x.data(), kVectorBytes), ENGINERY_OK);
    EXPECT_EQ(enginery_context_set_output(context, "y", y.data(), kVectorBytes), ENGINERY_OK);
    EXPECT_EQ(enginery_context_run(context), ENGINERY_OK) << enginery_last_error();
    EXPECT_EQ(enginery_context_destroy(context), ENGINERY_OK);
    return y;
  }

  SignedEngine file_{kHeavy, reference_alone()};
};

size_t resident_bytes() {
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Resident memory that is no file's.
size_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    size_t kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes * 1024;
  }
  ADD_FAILURE() << "no RssAnon in /proc/self/status";
  return 0;
}

TEST_F(CMapped, CopiesNoWeights) {
  const size_t before = anonymous_bytes();
  enginery_engine* const mapped = load(1);
  const size_t with_mapped = anonymous_bytes();
  enginery_engine* const read = load(0);
  const size_t with_both = anonymous_bytes();
#if !defined(__SANITIZE_ADDRESS__)  // which has memory of its own for each allocation
  EXPECT_LT(with_mapped - before, kWeightBytes / 4);
  EXPECT_GE(with_both - with_mapped, kWeightBytes);
#endif
  EXPECT_EQ(enginery_engine_destroy(mapped), ENGINERY_OK);
  EXPECT_EQ(enginery_engine_destroy(read), ENGINERY_OK);
}

// All of the file was hashed, and yet its pages are not this process's memory.
TEST_F(CMapped, IsNotResidentAfterItsLoad) {
  const size_t before = resident_bytes();
  enginery_engine* const mapped = load(1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep memory
  EXPECT_LT(resident_bytes(), before + kWeightBytes / 2);
#endif
  EXPECT_EQ(enginery_engine_destroy(mapped), ENGINERY_OK);
}

TEST_F(CMapped, GivesWhatAReadEngineGivesAndOutlivesFileAndEngine) {
  enginery_engine* const read = load(0);
  enginery_engine* const mapped = load(1);
  EXPECT_EQ(outputs_without_engine(mapped), outputs_without_engine(read));
}

}  // namespace
}  // namespace enginery::test
