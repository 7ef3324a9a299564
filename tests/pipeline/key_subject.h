// The builds whose keys golden_keys.txt pins. Every field differs from its default, or is a default
// on purpose (`plain`).
#pragma once

#include "pipeline/keys.h"

namespace enginery::test {

inline KeySubject cpu_subject() {
  KeySubject s;
  s.model = sha256("model");
  s.structure = sha256("structure");
  s.name = "net";
  s.sku = "cpu-avx2";
  s.cpu = true;
  // A fact with an odd name, one that is there twice and one without a value: the rules for all of
  // them are part of the bytes.
  s.toolchain =
      "enginery=0.1.0;kernels=7d99ad254f5fdd57;onednn=2.6.3;Odd Fact!=a=b;kernels=twice;alone";
  s.options.precisions = {Precision::fp32, Precision::fp16};
  s.options.shapes = {{"x", {1, 3, 224, 224}}, {"y", {1, 128}}};
  s.options.threads = 2;
  s.options.level = 4;
  s.options.aux_streams = 1;
  s.options.without_sources = {"onednn", "reference"};
  s.options.skip_passes = {"fold", "fuse"};
  return s;
}

inline KeySubject gpu_subject() {
  KeySubject s = cpu_subject();
  s.sku = "h200";
  s.cpu = false;
  s.options.threads = 0;
  s.toolchain = "enginery=0.1.0;cudnn=9.1";
  return s;
}

inline KeySubject provisional_subject() {
  KeySubject s = gpu_subject();
  s.options.provisional = true;
  s.options.aux_streams = -1;
  return s;
}

inline KeySubject plain_subject() {
  KeySubject s;
  s.model = sha256("model");
  s.structure = sha256("structure");
  s.name = "net";
  s.sku = "cpu-sse41";
  s.options.threads = 1;
  return s;
}

}  // namespace enginery::test
