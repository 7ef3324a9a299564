// INT8 in the user's process: by a calibrator's functions, its cache, a table, histograms and data
// in files; and how each is refused.
#include <cmath>
#include <filesystem>
#include <functional>

#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "tests/builder/cpu_sku.h"
#include "tests/builder/network_fixture.h"
#include "tests/support/temporary_folder.h"
#include "tuner/calibrate/table.h"

namespace enginery::test {
namespace {

constexpr int64_t kIn = 16, kOut = 8, kModelRows = 2;

// A calibrator over rows of `in`, and what it was asked.
struct Rows {
  std::vector<std::vector<float>> batches;  // of each call
  std::string cache, written;
  size_t calls = 0;
  int32_t batch_size = 4, failure = 0, cache_failure = 0;
  size_t said_bytes = 0;  // instead of those that there are; 0: the truth
  std::string asked;      // "in 4x16 256"

  static int32_t get_batch(void* user, const enginery_tensor_info* inputs, int32_t count,
                           const void** data, size_t* bytes) {
    Rows& rows = *static_cast<Rows*>(user);
    EXPECT_EQ(count, 1);
    rows.asked = std::string(inputs[0].name) + " " + std::to_string(inputs[0].dims[0]) + "x" +
                 std::to_string(inputs[0].dims[1]) + " " + std::to_string(inputs[0].bytes);
    if (rows.failure != 0) return rows.failure;
    if (rows.calls == rows.batches.size()) return 0;
    const std::vector<float>& batch = rows.batches[rows.calls++];
    data[0] = batch.data();
    bytes[0] = rows.said_bytes ? rows.said_bytes : batch.size() * sizeof(float);
    return 1;
  }
  static int32_t read_cache(void* user, const void** data, size_t* bytes) {
    const Rows& rows = *static_cast<Rows*>(user);
    *data = rows.cache.data();
    *bytes = rows.cache.size();
    return rows.cache_failure;
  }
  static int32_t write_cache(void* user, const void* data, size_t bytes) {
    return keep_bytes(&static_cast<Rows*>(user)->written, data, bytes);
  }
};

// y = in w, where in is float32[2x16]; or in w + b.
class CalibratedBuild : public testing::Test {
 protected:
  void make_network(bool with_bias) {
    const int64_t in_dims[] = {kModelRows, kIn}, w_dims[] = {kIn, kOut};
    enginery_tensor product[3] = {}, y = 0;
    enginery_network_destroy(network_);
    expect_built(enginery_network_create("product", &network_));
    expect_built(enginery_network_add_input(network_, "in", ENGINERY_FLOAT32, in_dims, 2, product));
    expect_built(enginery_network_add_constant(network_, "w", ENGINERY_FLOAT32, w_dims, 2,
                                               weights_.data(), weights_.size() * sizeof(float),
                                               product + 1));
    if (with_bias) {
      const int64_t b_dims[] = {kOut};
      expect_built(enginery_network_add_constant(network_, "b", ENGINERY_FLOAT32, b_dims, 1,
                                                 weights_.data(), kOut * sizeof(float),
                                                 product + 2));
    }
    enginery_layer layer{};
    layer.struct_size = sizeof layer;
    layer.op = with_bias ? "gemm" : "matmul";
    layer.name = "product";
    layer.inputs = product;
    layer.input_count = with_bias ? 3 : 2;
    expect_built(enginery_network_add_layer(network_, &layer, &y, 1, nullptr));
    expect_built(enginery_network_mark_output(network_, y, "y"));
  }
  void SetUp() override {
    for (size_t i = 0; i < weights_.size(); ++i)
      weights_[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i)));
    make_network(false);
    set_options();
    rows_.batches = {values(4), values(4), values(3)};
  }
  void TearDown() override { enginery_network_destroy(network_); }

  void set_options() {
    catalog_ = (folder_.path / "catalog").string();
    keys_ = (folder_.path / "keys").string();
    sku_ = cpu_sku();
    options_.struct_size = sizeof options_;
    expect_built(enginery_build_options_init(&options_));
    options_.catalog = catalog_.c_str();
    options_.keys = keys_.c_str();
    options_.threads = 1;
    options_.level = 0;
    options_.sku = sku_.c_str();
    options_.precisions = "int8";
    report_.struct_size = sizeof report_;
    calibrator_.struct_size = sizeof calibrator_;
    calibrator_.get_batch = Rows::get_batch;
    calibrator_.read_cache = Rows::read_cache;
    calibrator_.write_cache = Rows::write_cache;
    calibrator_.user = &rows_;
  }
  // Rows between -1 and 1, other ones each time.
  std::vector<float> values(int64_t rows) {
    std::vector<float> out(static_cast<size_t>(rows * kIn));
    for (float& x : out) x = static_cast<float>(std::sin(1.3 * static_cast<double>(++made_)));
    return out;
  }
  std::string npy(int64_t rows) {
    Tensor tensor(DataType::float32, {rows, kIn});
    const std::vector<float> all = values(rows);
    std::copy(all.begin(), all.end(), tensor.mutable_data<float>().begin());
    const auto file = folder_.path / ("rows" + std::to_string(rows) + ".npy");
    EXPECT_TRUE(write_npy(file, tensor).ok());
    return file.string();
  }
  enginery_status build() {
    calibrator_.batch_size = rows_.batch_size;
    return enginery_build_network(network_, &options_, keep_bytes, &engine_, &report_);
  }
  enginery_status build_by_calls() {
    options_.calibrator = &calibrator_;
    return build();
  }
  // Which table or histograms the engine says that it was built with.
  bool engine_names(const std::string& bytes) const {
    return engine_.find(sha256(bytes).hex()) != std::string::npos;
  }

  TemporaryFolder folder_;
  Rows rows_;
  std::vector<float> weights_ = std::vector<float>(kIn * kOut);
  int64_t made_ = 0;
  std::string catalog_, keys_, sku_, engine_;
  enginery_network* network_ = nullptr;
  enginery_calibrator calibrator_{};
  enginery_build_options options_{};
  enginery_build_report report_{};
};

TEST_F(CalibratedBuild, CollectsWhatTheCalibratorGivesAndWritesItsCache) {
  expect_built(build_by_calls());
  EXPECT_EQ(rows_.asked, "in 4x16 256");
  EXPECT_EQ(rows_.calls, 3u);
  const auto set = decode_histogram_set(rows_.written);
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->samples, 11u);  // the model takes two at once: the last one alone counts once
  EXPECT_EQ(set->tensors.at("in").count(), 11u * kIn);
  EXPECT_TRUE(engine_names(rows_.written));
  EXPECT_LT(report_.error, 0.05);
}

TEST_F(CalibratedBuild, ReadsTheCacheInsteadOfTheData) {
  expect_built(build_by_calls());
  const std::string first = engine_;
  rows_.cache = rows_.written;
  rows_.written.clear();
  expect_built(build_by_calls());
  EXPECT_EQ(rows_.calls, 3u);
  EXPECT_TRUE(rows_.written.empty());
  EXPECT_EQ(report_.from_catalog, 1);
  EXPECT_EQ(engine_, first);
  // Another calibrator makes other scales of the same histograms.
  options_.calibrator_name = "minmax";
  expect_built(build_by_calls());
  EXPECT_EQ(report_.from_catalog, 0);
  EXPECT_EQ(rows_.calls, 3u);
}

TEST_F(CalibratedBuild, TakesATableAndHistogramsAsFiles) {
  expect_built(build_by_calls());
  const auto set = decode_histogram_set(rows_.written);
  ASSERT_TRUE(set.ok());
  const std::string table = to_text(make_table(*set, *make_calibrators().front()));
  const std::string histogram_file = (folder_.path / "h").string();
  const std::string table_file = (folder_.path / "t").string();
  ASSERT_TRUE(write_file(histogram_file, rows_.written).ok());
  ASSERT_TRUE(write_file(table_file, table).ok());
  options_.calibrator = nullptr;
  options_.calibration = histogram_file.c_str();
  expect_built(build());
  EXPECT_EQ(report_.from_catalog, 1);  // as by the calls
  options_.calibration = table_file.c_str();
  expect_built(build());
  EXPECT_TRUE(engine_names(table));
  rows_.cache = table;  // as TensorRT wrote it
  options_.calibration = nullptr;
  expect_built(build_by_calls());
  EXPECT_EQ(report_.from_catalog, 1);
}

TEST_F(CalibratedBuild, CalibratesOnFiles) {
  const std::string file = npy(7), named = "in=" + npy(5);
  const char* data[] = {file.c_str(), named.c_str()};
  options_.calibration_data = data;
  options_.calibration_data_count = 2;
  expect_built(build());
  EXPECT_LT(report_.error, 0.05);
  options_.calibration_rows = 3;
  expect_built(build());
  EXPECT_EQ(report_.from_catalog, 0);
}

TEST_F(CalibratedBuild, KeepsMeansToCorrectBiasesBy) {
  make_network(true);
  expect_built(build_by_calls());
  const std::string plain = rows_.written;
  EXPECT_FALSE(holds_channel_means(plain));
  rows_.cache = plain;
  rows_.calls = 0;
  options_.bias_correction = 1;
  expect_built(build_by_calls());
  EXPECT_EQ(rows_.calls, 3u) << "the cache has no means";
  ASSERT_TRUE(holds_channel_means(rows_.written));
  EXPECT_TRUE(engine_names(rows_.written));
  EXPECT_EQ(report_.from_catalog, 0);
  const std::string corrected = engine_;
  rows_.cache = rows_.written;
  rows_.calls = 0;
  expect_built(build_by_calls());
  EXPECT_EQ(rows_.calls, 0u);
  EXPECT_EQ(engine_, corrected);
  options_.bias_correction = 0;  // means that nobody asked for
  expect_built(build_by_calls());
  EXPECT_EQ(rows_.calls, 0u);
  EXPECT_TRUE(engine_names(plain));
  rows_.cache = "TRT-8601-MinMaxCalibration\nin: 3c010a14\n";
  options_.bias_correction = 1;
  expect_refused(build_by_calls(), ENGINERY_ERROR_USAGE, "a table, which has no place");
}

TEST_F(CalibratedBuild, OfProductsWithoutABiasTakesItsCacheWithoutMeans) {
  options_.bias_correction = 1;
  expect_built(build_by_calls());
  EXPECT_EQ(rows_.calls, 3u);
  EXPECT_FALSE(holds_channel_means(rows_.written));
  rows_.cache = rows_.written;
  expect_built(build_by_calls());
  EXPECT_EQ(rows_.calls, 3u);
  options_.calibrator = nullptr;
  const std::string file = npy(7);
  const char* data[] = {file.c_str()};
  options_.calibration_data = data;
  options_.calibration_data_count = 1;
  make_network(true);
  expect_built(build());
  options_.bias_correction = 0;
  expect_built(build());
  EXPECT_EQ(report_.from_catalog, 0) << "the engine of corrected biases";
}

TEST_F(CalibratedBuild, RefusesWhatTheCalibratorGivesWrongly) {
  const struct {
    std::function<void(Rows&)> change;
    enginery_status status;
    const char* words;
  } wrong[] = {
      {[](Rows& r) { r.failure = -1; }, ENGINERY_ERROR_STORAGE, "get_batch has failed"},
      {[](Rows& r) { r.cache_failure = 1; }, ENGINERY_ERROR_STORAGE, "read_cache has failed"},
      {[](Rows& r) { r.batches.clear(); }, ENGINERY_ERROR_INVALID_ARGUMENT, "gives no rows"},
      {[](Rows& r) { r.said_bytes = 100; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "batch 1 of the calibrator has 100 bytes for input 'in', which takes 256 (float32[4x16]) or "
       "fewer whole rows"},
      {[](Rows& r) { r.said_bytes = 320; }, ENGINERY_ERROR_INVALID_ARGUMENT, "320 bytes"},
      {[](Rows& r) { r.batches[1].clear(); }, ENGINERY_ERROR_INVALID_ARGUMENT, "batch 2"},
      {[](Rows& r) { r.batches[2][5] = NAN; }, ENGINERY_ERROR_INVALID_ARGUMENT, "'in'"},
      {[](Rows& r) { r.batches[0][5] = INFINITY; }, ENGINERY_ERROR_INVALID_ARGUMENT, "'in'"},
      {[](Rows& r) { r.batch_size = 0; }, ENGINERY_ERROR_INVALID_ARGUMENT, "batch_size above 0"},
      {[](Rows& r) { r.cache = "TRT-x"; }, ENGINERY_ERROR_INVALID_ARGUMENT, "calibration table"},
  };
  const Rows good = rows_;
  for (const auto& [change, status, words] : wrong) {
    rows_ = good;
    change(rows_);
    expect_refused(build_by_calls(), status, words);
    EXPECT_TRUE(rows_.written.empty()) << words;
  }
  rows_ = good;
  calibrator_.write_cache = [](void*, const void*, size_t) { return int32_t{1}; };
  expect_refused(build_by_calls(), ENGINERY_ERROR_STORAGE, "write_cache has failed");
  calibrator_.get_batch = nullptr;
  expect_refused(build_by_calls(), ENGINERY_ERROR_INVALID_ARGUMENT, "function get_batch");
  calibrator_.struct_size += 8;
  expect_refused(build_by_calls(), ENGINERY_ERROR_INVALID_ARGUMENT, "newer version");
}

TEST_F(CalibratedBuild, RefusesSourcesThatDoNotGoTogether) {
  const char* data[] = {"/no/such/folder"};
  const enginery_build_options good = options_;
  const struct {
    std::function<void(enginery_build_options&)> change;
    enginery_status status;
    const char* words;
  } wrong[] = {
      {[](auto&) {}, ENGINERY_ERROR_UNSUPPORTED, "int8 needs scales"},
      {[](auto& o) { o.calibration = "/no/table"; }, ENGINERY_ERROR_NOT_FOUND, "/no/table"},
      {[](auto& o) { o.calibrator_name = "mse"; }, ENGINERY_ERROR_USAGE, "is for histograms"},
      {[](auto& o) { o.bias_correction = 1; }, ENGINERY_ERROR_USAGE, "which are missing"},
      {[](auto& o) { o.calibration_rows = 3; }, ENGINERY_ERROR_USAGE, "which is missing"},
      {[&](auto& o) {
         o.calibrator = &calibrator_;
         o.calibration = "/no/table";
       },
       ENGINERY_ERROR_USAGE, "calibration and calibrator: scales come from one of them"},
      {[&](auto& o) {
         o.calibrator = &calibrator_;
         o.calibrator_name = "guess";
       },
       ENGINERY_ERROR_USAGE, "guess"},
      {[&](auto& o) {
         o.calibrator = &calibrator_;
         o.precisions = "fp32";
       },
       ENGINERY_ERROR_USAGE, "not among the precisions"},
      {[&](auto& o) {
         o.calibration_data = data;
         o.calibration_data_count = 1;
       },
       ENGINERY_ERROR_NOT_FOUND, "/no/such/folder"},
      {[&](auto& o) { o.calibration_data_count = 1; }, ENGINERY_ERROR_INVALID_ARGUMENT,
       "calibration_data[0] is null"},
      {[&](auto& o) {
         o.calibration_data = data;
         o.calibration_data_count = -1;
       },
       ENGINERY_ERROR_USAGE, "not negative"},
  };
  for (const auto& [change, status, words] : wrong) {
    options_ = good;
    change(options_);
    expect_refused(build(), status, words);
    EXPECT_EQ(rows_.calls, 0u) << words;
  }
}

// A caller that was compiled before there were calibrators.
TEST_F(CalibratedBuild, KnowsOlderOptions) {
  options_.struct_size = offsetof(enginery_build_options, calibration);
  options_.precisions = "fp32";
  options_.calibrator_name = "not looked at";
  expect_built(build());
}

}  // namespace
}  // namespace enginery::test
