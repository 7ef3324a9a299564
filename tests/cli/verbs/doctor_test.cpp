// `doctor MODEL`: what of a model is not supported. (`doctor` alone looks at the machine:
// local/doctor_checks_test.cpp.)
#include <nlohmann/json.hpp>

#include "engine/base/file.h"
#include "tests/cli/temporary_home.h"
#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

// A field of protobuf's wire format that holds bytes, of fewer than 128.
std::string wire_field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

std::string wire_node(const std::string& type, const std::string& in, const std::string& out) {
  return wire_field(1, wire_field(1, in) + wire_field(2, out) + wire_field(4, type));
}

// x float32[1] -> Frobnicate -> Relu -> y, of operator set 13.
std::string model_that_cannot_be_built() {
  const std::string shape = wire_field(2, wire_field(1, "\x08\x01"));
  const std::string type = wire_field(2, wire_field(1, "\x08\x01" + shape));
  const std::string graph = wire_node("Frobnicate", "x", "h") + wire_node("Relu", "h", "y") +
                            wire_field(2, "g") + wire_field(11, wire_field(1, "x") + type) +
                            wire_field(12, wire_field(1, "y") + type);
  return "\x08\x07" + wire_field(8, "\x10\x0d") + wire_field(7, graph);
}

class DoctorVerb : public testing::Test {
 protected:
  const TemporaryHome home_;
  const std::string model_ = home_.file("frob.onnx");
  void SetUp() override { ASSERT_TRUE(write_file(model_, model_that_cannot_be_built()).ok()); }
};

TEST_F(DoctorVerb, SaysThatAModelIsSupported) {
  const Printed shown = ask({"doctor", kExampleModel});
  EXPECT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_NE(shown.out.find("all of them supported"), std::string::npos) << shown.out;
  const Json json = ask({"doctor", kExampleModel, "--json"}).json();
  expect_fields(json, {"schema", "model", "supported", "nodes", "unsupported", "unchecked",
                       "operators", "problems"});
  EXPECT_EQ(json["schema"], "enginery.doctor.model/1");
  EXPECT_EQ(json["supported"], true);
}

TEST_F(DoctorVerb, CountsWhatOfAModelIsNotSupported) {
  const Printed shown = ask({"doctor", model_});
  EXPECT_EQ(shown.code, ExitCode::invalid_input);
  for (const char* part : {"2 nodes of 2 operators, 1 not supported, 1 behind them not looked at",
                           "Frobnicate", "FIRST ONE", " h ", "the operator is not supported"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << " is missing in: " << shown.out;
  EXPECT_EQ(shown.out.find("Relu"), std::string::npos) << shown.out;
  const Json json = ask({"doctor", model_, "--json"}).json();
  EXPECT_EQ(json["supported"], false);
  EXPECT_EQ(json["operators"][0], Json({{"op", "Frobnicate"},
                                        {"nodes", 1},
                                        {"unsupported", 1},
                                        {"reason", "the operator is not supported"},
                                        {"first_node", "h"}}));
  EXPECT_EQ(json["problems"].size(), 1u);
}

TEST_F(DoctorVerb, RefusesWhatIsNoModel) {
  expect_refused({{"doctor", model_ + ".none"}, ExitCode::not_found, "frob.onnx.none"});
  expect_refused({{"doctor", "--shapes", "x:1"}, ExitCode::usage, "--shapes is of a model"});
}

}  // namespace
}  // namespace enginery
