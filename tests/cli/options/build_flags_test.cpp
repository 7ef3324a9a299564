#include "cli/options/build_flags.h"

#include <gtest/gtest.h>

#include "engine/base/parallel.h"
#include "engine/plan/streams.h"

namespace enginery {
namespace {

// The options that a command line gives.
Result<BuildOptions> resolved(const std::vector<std::string>& arguments) {
  BuildFlags flags;
  Options options("build", "");
  flags.declare(options);
  TRY([[maybe_unused]] const Parsed parsed, options.parse(arguments));
  return flags.resolve();
}

ErrorCode error_of(const std::vector<std::string>& arguments) {
  const auto options = resolved(arguments);
  return options.ok() ? ErrorCode::internal : options.error().code;
}

TEST(BuildFlags, WithoutArgumentsAreTheDefaultsAndTheAllowedCores) {
  const auto options = resolved({});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->threads, allowed_core_count());
  EXPECT_GE(options->threads, 1);
  EXPECT_EQ(options->level, 3);
  EXPECT_EQ(options->aux_streams, -1);
  EXPECT_EQ(options->precisions, std::set<Precision>{Precision::fp32});
  EXPECT_TRUE(options->shapes.empty());
  EXPECT_FALSE(options->provisional);
}

TEST(BuildFlags, NumbersReachTheOptions) {
  const auto options = resolved({"--threads", "3", "--level=5", "--max-aux-streams", "2"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->threads, 3);
  EXPECT_EQ(options->level, 5);
  EXPECT_EQ(options->aux_streams, 2);
}

TEST(BuildFlags, TheLimitOfAuxStreamsIsThePlans) {
  EXPECT_EQ(kMaxAuxStreams, kMaxStreams - 1);
  EXPECT_TRUE(resolved({"--max-aux-streams", std::to_string(kMaxStreams - 1)}).ok());
  EXPECT_EQ(error_of({"--max-aux-streams", std::to_string(kMaxStreams)}), ErrorCode::usage);
}

TEST(BuildFlags, AnAccuracyDropIsMeasuredOnData) {
  EXPECT_EQ(error_of({"--max-accuracy-drop", "1"}), ErrorCode::usage);
  EXPECT_EQ(error_of({"--accuracy-images", "3"}), ErrorCode::usage);
  EXPECT_EQ(error_of({"--accuracy-labels", "l.csv"}), ErrorCode::usage);
  EXPECT_EQ(error_of({"--max-accuracy-drop", "little", "--accuracy-data", "d"}), ErrorCode::usage);
  const auto options = resolved({"--max-accuracy-drop", "0.50%", "--accuracy-data", "d"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->max_accuracy_drop, "0.5");
  EXPECT_EQ(options->held_out, "") << "the data is not read here";
}

TEST(BuildFlags, PrecisionsAddToFp32) {
  const auto fp16 = resolved({"--precision", "fp16"});
  ASSERT_TRUE(fp16.ok());
  EXPECT_EQ(fp16->precisions, (std::set<Precision>{Precision::fp32, Precision::fp16}));
  const auto best = resolved({"--best"});
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->precisions, (std::set<Precision>{Precision::fp32, Precision::tf32,
                                                   Precision::fp16, Precision::bf16}));
  EXPECT_EQ(error_of({"--precision", "fp8"}), ErrorCode::usage);
  EXPECT_TRUE(resolved({"--int8"})->precisions.contains(Precision::int8));
}

TEST(BuildFlags, SourcesAreExcludedAndTakenBackInOrder) {
  const auto options = resolved({"--tactic-sources=-cudnn,-onednn,+cudnn"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->without_sources, std::set<std::string>{"onednn"});
  for (const char* bad : {"cudnn", "-nosuch", "-", "*cudnn"})
    EXPECT_EQ(error_of({"--tactic-sources=" + std::string(bad)}), ErrorCode::usage) << bad;
}

TEST(BuildFlags, ARangeOfOneShapeIsThatShape) {
  const auto fixed = resolved({"--min-shapes=a:1x3", "--opt-shapes=a:1x3", "--max-shapes=a:1x3"});
  ASSERT_TRUE(fixed.ok());
  EXPECT_EQ(fixed->shapes, (std::map<std::string, Dims>{{"a", {1, 3}}}));
  EXPECT_EQ(error_of({"--min-shapes=a:1x3", "--max-shapes=a:8x3"}), ErrorCode::unsupported);
  EXPECT_EQ(error_of({"--shapes=a:1x3", "--opt-shapes=a:2x3"}), ErrorCode::unsupported);
  EXPECT_EQ(error_of({"--shapes=a"}), ErrorCode::usage);
}

TEST(BuildFlags, WhatThisReleaseLacksIsUnsupportedAndNamed) {
  EXPECT_EQ(error_of({"--profiling-verbosity", "none"}), ErrorCode::unsupported);
  EXPECT_TRUE(resolved({"--profiling-verbosity", "detailed"}).ok());
}

TEST(BuildFlags, TheMemoryPoolIsTheWorkspaceInMiB) {
  const auto workspace = [](const std::string& text) {
    return resolved({"--mem-pool-size", text})->memory_pools.workspace;
  };
  EXPECT_EQ(workspace("workspace:64"), 64 << 20);
  EXPECT_EQ(workspace("64"), 64 << 20) << "trtexec's --workspace=64";
  EXPECT_EQ(workspace("workspace:0.5G"), 512 << 20);
  EXPECT_EQ(resolved({})->memory_pools.workspace, std::nullopt);
  for (const char* bad : {"workspace", "workspace:", "workspace:-1", "workspace:1T", "dlaSRAM:1"})
    EXPECT_EQ(error_of({"--mem-pool-size", bad}), ErrorCode::usage) << bad;
}

TEST(BuildFlags, LayersHavePrecisionsInTheOrderGiven) {
  const auto options =
      resolved({"--layer-precisions=*:fp16,conv1:fp32", "--layer-precisions", "a:b:bf16"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(to_text(options->layer_precisions), "*:fp16,conv1:fp32,a:b:bf16");
  for (const char* bad : {"conv1", ":fp16", "conv1:", "conv1:fp17", "conv1:int9"})
    EXPECT_EQ(error_of({"--layer-precisions", bad}), ErrorCode::usage) << bad;
}

TEST(EngineName, IsTheWantedOneOrTheFilesInSafeCharacters) {
  EXPECT_EQ(engine_name("", "/a/b/resnet50.v1+x.onnx"), "resnet50.v1+x");
  EXPECT_EQ(engine_name("my net/2", "a.onnx"), "my_net_2");
  EXPECT_EQ(engine_name("", ""), "model");
}

TEST(BuildFlags, ACalibrationIsForInt8) {
  EXPECT_TRUE(resolved({"--int8", "--calib", "t", "--calibrator", "mse"}).ok());
  EXPECT_EQ(error_of({"--calib", "t"}), ErrorCode::usage);
  EXPECT_TRUE(resolved({"--int8", "--calib-data", "d", "--bias-correction"}).ok());
  EXPECT_EQ(error_of({"--int8", "--calib", "h", "--bias-correction"}), ErrorCode::usage);
  EXPECT_EQ(error_of({"--int8", "--calibrator", "mse"}), ErrorCode::usage);
}

}  // namespace
}  // namespace enginery
