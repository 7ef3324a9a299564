// ResNet-50's distinct convolutions and its tail, with their number, as problems of any batch.
#pragma once

#include <string>
#include <vector>

namespace enginery {

struct LayerRow {
  const char* name;
  int count;
  int c, size, k, filter, stride;
  bool residual;
};

// name, count, C, H = W of the input, K, filter, stride, residual and relu (else relu alone;
// projections: neither)
inline std::vector<LayerRow> resnet50_layers() {
  return {
      {"stem_7x7", 1, 3, 224, 64, 7, 2, false},
      {"res2_1x1_64_64", 1, 64, 56, 64, 1, 1, false},
      {"res2_3x3_64_64", 3, 64, 56, 64, 3, 1, false},
      {"res2_1x1_64_256_add", 3, 64, 56, 256, 1, 1, true},
      {"res2_proj_64_256", 1, 64, 56, 256, 1, 1, false},
      {"res2_1x1_256_64", 2, 256, 56, 64, 1, 1, false},
      {"res3_1x1_256_128", 1, 256, 56, 128, 1, 1, false},
      {"res3_3x3_128_s2", 1, 128, 56, 128, 3, 2, false},
      {"res3_1x1_128_512_add", 4, 128, 28, 512, 1, 1, true},
      {"res3_proj_256_512_s2", 1, 256, 56, 512, 1, 2, false},
      {"res3_1x1_512_128", 3, 512, 28, 128, 1, 1, false},
      {"res3_3x3_128", 3, 128, 28, 128, 3, 1, false},
      {"res4_1x1_512_256", 1, 512, 28, 256, 1, 1, false},
      {"res4_3x3_256_s2", 1, 256, 28, 256, 3, 2, false},
      {"res4_1x1_256_1024_add", 6, 256, 14, 1024, 1, 1, true},
      {"res4_proj_512_1024_s2", 1, 512, 28, 1024, 1, 2, false},
      {"res4_1x1_1024_256", 5, 1024, 14, 256, 1, 1, false},
      {"res4_3x3_256", 5, 256, 14, 256, 3, 1, false},
      {"res5_1x1_1024_512", 1, 1024, 14, 512, 1, 1, false},
      {"res5_3x3_512_s2", 1, 512, 14, 512, 3, 2, false},
      {"res5_1x1_512_2048_add", 3, 512, 7, 2048, 1, 1, true},
      {"res5_proj_1024_2048_s2", 1, 1024, 14, 2048, 1, 2, false},
      {"res5_1x1_2048_512", 2, 2048, 7, 512, 1, 1, false},
      {"res5_3x3_512", 2, 512, 7, 512, 3, 1, false},
  };
}

inline std::string layer_text(const LayerRow& l, int batch) {
  auto n = [](int v) { return std::to_string(v); };
  auto two = [&](int v) { return "[" + n(v) + "," + n(v) + "]"; };
  int pad = l.filter / 2, out = (l.size + 2 * pad - l.filter) / l.stride + 1;
  std::string text = "conv strides=" + two(l.stride) + " dilations=[1,1] pads_begin=" + two(pad) +
                     " pads_end=" + two(pad) + " | float32[" + n(batch) + "x" + n(l.c) + "x" +
                     n(l.size) + "x" + n(l.size) + "] w:float32[" + n(l.k) + "x" + n(l.c) + "x" +
                     n(l.filter) + "x" + n(l.filter) + "] w:float32[" + n(l.k) + "]";
  if (l.residual)
    text += " | add float32[" + n(batch) + "x" + n(l.k) + "x" + n(out) + "x" + n(out) + "]";
  bool projection = std::string(l.name).find("proj") != std::string::npos;
  return text + (projection ? "" : " | act kind=relu");
}

}  // namespace enginery
