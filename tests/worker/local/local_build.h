// Builds of small_models.h over a catalog in a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/worker/small_models.h"
#include "worker/local_farm.h"

namespace enginery::test {

class LocalBuild : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Catalog::open(folder_.path / "catalog");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    catalog_ = std::move(*opened);
    request_.model = folder_.path / "net.onnx";
    request_.sku = best_cpu_sku();
    request_.keys = folder_.path / "keys";
    request_.options.threads = 1;
    request_.options.level = 2;
    write_model(1);
  }

  void write_model(int seed) {
    ASSERT_TRUE(write_file(request_.model, convolutions(2, seed)).ok());
  }

  LocalBuildReport build() {
    auto report = build_local(*catalog_, request_);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? *report : LocalBuildReport{};
  }

  TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_;
  LocalBuildRequest request_;
};

}  // namespace enginery::test
