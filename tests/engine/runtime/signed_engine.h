// An engine file in a folder of its own, signed with a key that is trusted there: for tests of the
// public API.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/file.h"
#include "engine/graph/text.h"
#include "enginery/engine.h"
#include "tests/engine/format/small_engine.h"

namespace enginery::test {

class SignedEngine {
 public:
  // `text`: the statements of a graph; each node by the first tactic that one of the sources
  // offers. `sizes`: of its outputs, told by each run.
  explicit SignedEngine(const std::string& text, const SourceFilter& filter = {},
                        const RunTimeSizes& sizes = {}) {
    std::string name =
        (std::filesystem::temp_directory_path() / "enginery-runtime-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    const auto device = open_device(kSku, {}).value();
    const auto sources = make_tactic_sources(*device, filter).value();
    const Network network =
        lower(parse_graph("graph t { " + text + " }").value(), sources, {Precision::fp32}).value();
    TacticSelection selection;
    for (const NetworkNode& node : network.nodes) selection.tactics.push_back(node.tactics[0]);
    EXPECT_TRUE(complete_reformats(network, sources, selection).ok());
    const Plan plan = make_plan(network, selection).value();
    const auto key = SigningKey::load_or_create(folder_ / "signing.key").value();
    Manifest manifest = manifest_of(plan, kSku);
    manifest.run_time_sizes = sizes;
    const Bytes body = unsigned_engine(plan, manifest);
    EXPECT_TRUE(write_file(file(), body + signature_trailer(sha256(body), key)).ok());
  }
  ~SignedEngine() { std::filesystem::remove_all(folder_); }
  SignedEngine(const SignedEngine&) = delete;

  std::string file() const { return (folder_ / "test.engine").string(); }
  const std::filesystem::path& keys() const { return folder_; }
  Result<Engine> load(int threads = 1) const {
    LoadOptions options;
    options.threads = threads;
    options.keys_folder = keys().string();
    return Engine::load(file(), options);
  }

 private:
  static constexpr char kSku[] = "cpu-sse41";
  std::filesystem::path folder_;
};

// The positions of x's elements that are not zero, and their squares: each of as many as a run
// finds.
inline const std::string kFound =
    "input %x : float32[2x3]\n %all, %n = find_non_zero(%x)\n "
    "%y = compact(%all, %n) axes=[1]\n %s = binary(%all, %all) kind=mul\n "
    "%z = compact(%s, %n) axes=[1]\n %size = identity(%n)\n output %y\n output %z\n output %size";
inline const RunTimeSizes kFoundSizes = {{0, 1, 2}, {1, 1, 2}};

// Two layers over two inputs, large enough that kernels divide them among threads.
inline const std::string kTwoLayers =
    "input %x : float32[1x32x40x40]\n input %z : float32[1x32x40x40]\n "
    "%w = constant float32[32x32x3x3] random(1)\n "
    "%c = conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1\n "
    "%s = binary(%c, %z) kind=add\n %y = act(%s) kind=tanh\n output %y";

}  // namespace enginery::test
