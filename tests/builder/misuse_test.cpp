// The network interface called wrongly: each mistake is a status with a sentence that names it, and
// leaves the network as it was.
#include <random>
#include <thread>

#include "tests/builder/network_fixture.h"

namespace enginery::test {
namespace {

class NetworkMisuse : public SmallNetwork {
 protected:
  void SetUp() override {
    SmallNetwork::SetUp();
    expect_built(enginery_network_mark_output(network_, add_sum(), "y"));
    before_ = saved();
  }
  void TearDown() override {
    EXPECT_EQ(saved(), before_);
    SmallNetwork::TearDown();
  }
  std::string before_;
};

constexpr enginery_status kInvalid = ENGINERY_ERROR_INVALID_ARGUMENT;

TEST_F(NetworkMisuse, OfInputsIsRefused) {
  enginery_tensor t = 0;
  const int64_t negative[] = {1, -2}, huge[] = {INT64_MAX, 4};
  const auto add = [&](const char* name, enginery_type type, const int64_t* dims, int32_t rank) {
    return enginery_network_add_input(network_, name, type, dims, rank, &t);
  };
  expect_refused(add(nullptr, 0, kDims, 2), kInvalid, "it has no name");
  expect_refused(add("", 0, kDims, 2), kInvalid, "it has no name");
  expect_refused(add("x", 0, kDims, 2), kInvalid, "input 'x': the name is taken");
  expect_refused(add("y", 0, kDims, 2), kInvalid, "input 'y': the name is taken");
  expect_refused(add("z", 99, kDims, 2), kInvalid, "input 'z': there is no type 99");
  expect_refused(add("z", -1, kDims, 2), kInvalid, "there is no type -1");
  expect_refused(add("z", 0, nullptr, 2), kInvalid, "dimensions, got null");
  expect_refused(add("z", 0, kDims, -1), kInvalid, "dimensions, got -1");
  expect_refused(add("z", 0, kDims, 17), kInvalid, "dimensions, got 17");
  expect_refused(add("z", 0, negative, 2), kInvalid, "input 'z'");
  expect_refused(add("z", 0, huge, 2), kInvalid, "input 'z'");
  expect_refused(enginery_network_add_input(network_, "z", 0, kDims, 2, nullptr), kInvalid,
                 "place for the tensor is null");
}

TEST_F(NetworkMisuse, OfConstantsIsRefused) {
  enginery_tensor t = 0;
  const int64_t open[] = {1, -1};
  const char two = 2;
  const auto add = [&](enginery_type type, const int64_t* dims, const void* data, size_t bytes) {
    return enginery_network_add_constant(network_, "c", type, dims, 2, data, bytes, &t);
  };
  expect_refused(add(ENGINERY_FLOAT32, kDims, kWeights, 15), kInvalid,
                 "constant 'c': expected 16 bytes for float32[1x4], got 15");
  expect_refused(add(ENGINERY_FLOAT32, kDims, nullptr, 16), kInvalid, "its data is null");
  expect_refused(add(ENGINERY_FLOAT32, open, kWeights, 16), kInvalid, "constant 'c'");
  expect_refused(enginery_network_add_constant(network_, "c", ENGINERY_BOOL, kDims, 1, &two, 1, &t),
                 kInvalid, "neither 0 nor 1");
}

TEST_F(NetworkMisuse, OfCountedOutputsIsRefused) {
  enginery_layer find = layer("find_non_zero");
  find.inputs = &x_;
  find.input_count = 1;
  enginery_tensor found[2];
  expect_built(enginery_network_add_layer(network_, &find, found, 2, nullptr));
  before_ = saved();
  const auto mark = [&](const char* name, const std::vector<enginery_counted_axis>& axes) {
    return enginery_network_mark_counted_output(network_, found[0], name, axes.data(),
                                                static_cast<int32_t>(axes.size()));
  };
  expect_refused(mark("z", {}), kInvalid, "counted axes is null or of a wrong length");
  expect_refused(mark("z", {{1, found[1] + 1000}}), kInvalid, "count 0: the network has no such");
  expect_refused(mark("z", {{2, found[1]}}), kInvalid, "as output 'z'");
  expect_refused(mark("z", {{1, found[1]}, {0, found[1]}}), kInvalid, "as output 'z'");
  expect_refused(mark("z", {{1, x_}}), kInvalid, "as output 'z'");
  expect_refused(mark("y", {{1, found[1]}}), kInvalid, "the name is taken");
}

TEST_F(NetworkMisuse, OfLayersIsRefusedWithTheLayersName) {
  const enginery_tensor none[] = {x_, ENGINERY_NO_TENSOR}, beyond[] = {x_ + 1000};
  const enginery_attribute bad_kind[] = {{"kind", "swim"}}, unknown[] = {{"speed", "1"}};
  const enginery_attribute null_name[] = {{nullptr, "1"}};
  const enginery_attribute twice[] = {{"kind", "tanh"}, {"kind", "relu"}};
  struct Change {
    const char* words;
    void (*apply)(enginery_layer&, const Change&);
    const void* list = nullptr;
  };
  const auto attributes = [](enginery_layer& l, const Change& c) {
    l.attributes = static_cast<const enginery_attribute*>(c.list);
    l.attribute_count = l.attributes[0].name && l.attributes[0].name == std::string("kind") &&
                                l.attributes[0].value == std::string("tanh")
                            ? 2
                            : 1;
  };
  const auto inputs = [](enginery_layer& l, const Change& c) {
    l.inputs = static_cast<const enginery_tensor*>(c.list);
  };
  const Change wrong[] = {
      {"(fly): no operator is called 'fly'",
       [](enginery_layer& l, const Change&) { l.op = "fly"; }},
      {"add a layer: its operator is null",
       [](enginery_layer& l, const Change&) { l.op = nullptr; }},
      {"struct_size", [](enginery_layer& l, const Change&) { l.struct_size = 0; }},
      {"newer version", [](enginery_layer& l, const Change&) { l.struct_size = sizeof l + 8; }},
      {"layer 'l' (act)", [](enginery_layer& l, const Change&) { l.input_count = 0; }},
      {"list of inputs", [](enginery_layer& l, const Change&) { l.input_count = -1; }},
      {"list of inputs", [](enginery_layer& l, const Change&) { l.inputs = nullptr; }},
      {"list of attributes", [](enginery_layer& l, const Change&) { l.attribute_count = 1; }},
      {"list of names", [](enginery_layer& l, const Change&) { l.output_name_count = 1; }},
      {"'half' is not an element type",
       [](enginery_layer& l, const Change&) { l.precision = "half"; }},
      {"computes in the precision int8",
       [](enginery_layer& l, const Change&) { l.precision = "int8"; }},
      {"'f8'", [](enginery_layer& l, const Change&) { l.output_type = "f8"; }},
      {"layer 'l' (act): act", attributes, bad_kind},
      {"does not have", attributes, unknown},
      {"an attribute's name or value is null", attributes, null_name},
      {"attribute 'kind': it is given twice", attributes, twice},
      {"input 0: the network has no such tensor", inputs, beyond},
      {"layer 'l' (act)", inputs, none + 1},
  };
  for (const Change& change : wrong) {
    enginery_layer made = layer("act");
    made.inputs = &x_;
    made.input_count = 1;
    change.apply(made, change);
    enginery_tensor t = 0;
    expect_refused(enginery_network_add_layer(network_, &made, &t, 1, nullptr), kInvalid,
                   change.words);
  }
  enginery_layer split = layer("split");
  split.inputs = &x_;
  split.input_count = 1;
  const enginery_attribute halves[] = {{"axis", "1"}, {"sizes", "[2,2]"}};
  split.attributes = halves;
  split.attribute_count = 2;
  enginery_tensor t[2] = {};
  expect_refused(enginery_network_add_layer(network_, &split, t, 1, nullptr), kInvalid,
                 "layer 'l' (split): it gives 2 tensors, there is room for 1");
  expect_refused(enginery_network_add_layer(network_, &split, nullptr, 2, nullptr), kInvalid,
                 "null");
  expect_refused(enginery_network_add_layer(network_, nullptr, t, 2, nullptr), kInvalid, "null");
}

TEST_F(NetworkMisuse, ForeignTensorsAreRefused) {
  enginery_network* other = nullptr;
  expect_built(enginery_network_create("other", &other));
  enginery_tensor foreign = 0, t = 0;
  expect_built(enginery_network_add_input(other, "x", ENGINERY_FLOAT32, kDims, 2, &foreign));
  EXPECT_NE(foreign, x_);
  enginery_layer made = layer("act");
  made.inputs = &foreign;
  made.input_count = 1;
  expect_refused(enginery_network_add_layer(network_, &made, &t, 1, nullptr), kInvalid,
                 "layer 'l' (act): input 0: the tensor is not of this network");
  expect_refused(enginery_network_mark_output(network_, foreign, nullptr), kInvalid,
                 "not of this network");
  enginery_tensor_info info{};
  info.struct_size = sizeof info;
  expect_refused(enginery_network_get_tensor(network_, foreign, &info), kInvalid,
                 "not of this network");
  expect_built(enginery_network_destroy(other));
  expect_refused(enginery_network_add_layer(network_, &made, &t, 1, nullptr), kInvalid,
                 "not of this network");
}

TEST_F(NetworkMisuse, OfOutputsIsRefused) {
  expect_refused(enginery_network_mark_output(network_, ENGINERY_NO_TENSOR, "z"), kInvalid,
                 "mark an output: there is no tensor");
  expect_refused(enginery_network_mark_output(network_, x_, "z"), kInvalid,
                 "mark 'x' as output 'z': it is no layer's result");
  expect_refused(enginery_network_mark_output(network_, w_, nullptr), kInvalid,
                 "it is no layer's result");
  const enginery_tensor other = add_sum();
  expect_refused(enginery_network_mark_output(network_, other, "x"), kInvalid, "the name is taken");
  expect_refused(enginery_network_mark_output(network_, other, "y"), kInvalid, "the name is taken");
  expect_built(enginery_network_mark_output(network_, other, "z"));
  expect_refused(enginery_network_mark_output(network_, other, "again"), kInvalid,
                 "it is one already");
  before_ = saved();
}

TEST_F(NetworkMisuse, HandlesThatAreNoneAreRefusedByEveryCall) {
  enginery_network* gone = nullptr;
  expect_built(enginery_network_create(nullptr, &gone));
  expect_built(enginery_network_destroy(gone));
  int own = 0;
  for (enginery_network* handle :
       {gone, static_cast<enginery_network*>(nullptr), reinterpret_cast<enginery_network*>(&own)}) {
    const auto refused = [](enginery_status status) {
      expect_refused(status, ENGINERY_ERROR_HANDLE, "not a live network");
    };
    enginery_tensor t = 0;
    std::string bytes;
    refused(enginery_network_add_input(handle, "z", 0, kDims, 2, &t));
    refused(enginery_network_add_constant(handle, "z", 0, kDims, 2, kWeights, 16, &t));
    refused(enginery_network_add_layer(handle, nullptr, &t, 1, nullptr));
    refused(enginery_network_mark_output(handle, x_, nullptr));
    refused(enginery_network_get_tensor(handle, x_, nullptr));
    refused(enginery_network_save(handle, keep_bytes, &bytes));
    refused(enginery_build_network(handle, nullptr, keep_bytes, &bytes, nullptr));
    if (handle) refused(enginery_network_destroy(handle));
  }
  expect_built(enginery_network_destroy(nullptr));
  expect_refused(enginery_network_create("n", nullptr), kInvalid, "place for the network is null");
}

TEST_F(NetworkMisuse, OfSavingIsRefused) {
  std::string bytes;
  expect_refused(enginery_network_save(network_, nullptr, nullptr), kInvalid, "is null");
  const auto fail = [](void*, const void*, size_t) { return 1; };
  expect_refused(enginery_network_save(network_, fail, nullptr), ENGINERY_ERROR_STORAGE,
                 "takes the network has failed");
  enginery_network* empty = nullptr;
  expect_built(enginery_network_create("empty", &empty));
  expect_refused(enginery_network_save(empty, keep_bytes, &bytes), kInvalid, "'empty'");
  expect_refused(enginery_build_network(empty, nullptr, keep_bytes, &bytes, nullptr), kInvalid,
                 "build network 'empty'");
  expect_built(enginery_network_destroy(empty));
}

// Whatever operators are given: an answer, and never more than their results are added.
TEST(NetworkOperators, TakeAnyInputsWithoutHarm) {
  const uint32_t seed = 20260923;
  std::mt19937 random(seed);
  enginery_network* network = nullptr;
  expect_built(enginery_network_create("any", &network));
  std::vector<enginery_tensor> tensors{ENGINERY_NO_TENSOR};
  const std::vector<std::vector<int64_t>> shapes = {{}, {0}, {3}, {1, 4}, {-1, 4}, {2, 3, 4, 4}};
  const int64_t data[128] = {1, 2, 3, -1, 0, 1, 1, 2};
  for (const auto& dims : shapes) {
    for (const enginery_type type :
         {ENGINERY_FLOAT32, ENGINERY_INT64, ENGINERY_INT8, ENGINERY_BOOL}) {
      const auto rank = static_cast<int32_t>(dims.size());
      enginery_tensor& t = tensors.emplace_back();
      const std::string name = "t" + std::to_string(tensors.size());
      expect_built(enginery_network_add_input(network, name.c_str(), type, dims.data(), rank, &t));
      if (type == ENGINERY_BOOL || rank > 2 || (rank == 2 && dims[0] < 0)) continue;
      size_t bytes = enginery_type_bytes(type);
      for (const int64_t size : dims) bytes *= static_cast<size_t>(size);
      enginery_tensor& c = tensors.emplace_back();
      expect_built(enginery_network_add_constant(network, nullptr, type, dims.data(), rank, data,
                                                 bytes, &c));
    }
  }
  const size_t given = tensors.size();
  int added = 0;
  enginery_tensor last = ENGINERY_NO_TENSOR;
  for (int32_t op = 0; enginery_build_operator(op); ++op) {
    for (int round = 0; round < 200; ++round) {
      std::vector<enginery_tensor> inputs(random() % 6);
      for (enginery_tensor& input : inputs) input = tensors[random() % given];
      enginery_layer layer{};
      layer.struct_size = sizeof layer;
      layer.op = enginery_build_operator(op);
      layer.inputs = inputs.data();
      layer.input_count = static_cast<int32_t>(inputs.size());
      layer.precision = round % 3 == 0 ? "float16" : nullptr;
      layer.output_type = round % 7 == 0 ? "float32" : nullptr;
      enginery_tensor outputs[8];
      const enginery_status status =
          enginery_network_add_layer(network, &layer, outputs, 8, nullptr);
      EXPECT_TRUE(status == ENGINERY_OK || status == kInvalid ||
                  status == ENGINERY_ERROR_UNSUPPORTED)
          << layer.op << ", seed " << seed << ": " << enginery_build_last_error();
      if (status != ENGINERY_OK) continue;
      last = outputs[0];
      ++added;
    }
  }
  EXPECT_GT(added, 100);
  std::string bytes;
  expect_built(enginery_network_mark_output(network, last, "last"));
  expect_built(enginery_network_save(network, keep_bytes, &bytes));
  expect_built(enginery_network_destroy(network));
}

TEST(NetworkThreads, MayShareOneNetwork) {
  enginery_network* network = nullptr;
  expect_built(enginery_network_create("shared", &network));
  constexpr int kThreads = 4, kInputs = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([network, i] {
      for (int n = 0; n < kInputs; ++n) {
        enginery_tensor t = 0, y = 0;
        const std::string name = std::to_string(i) + "_" + std::to_string(n);
        expect_built(enginery_network_add_input(network, name.c_str(), 0, nullptr, 0, &t));
        enginery_layer layer{};
        layer.struct_size = sizeof layer;
        layer.op = "identity";
        layer.inputs = &t;
        layer.input_count = 1;
        expect_built(enginery_network_add_layer(network, &layer, &y, 1, nullptr));
        expect_built(enginery_network_mark_output(network, y, nullptr));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string bytes;
  expect_built(enginery_network_save(network, keep_bytes, &bytes));
  size_t inputs = 0;
  for (size_t at = 0; (at = bytes.find("\"input\":", at)) != std::string::npos; ++at) ++inputs;
  EXPECT_EQ(inputs, size_t{kThreads} * kInputs);
  expect_built(enginery_network_destroy(network));
}

}  // namespace
}  // namespace enginery::test
