#include <random>

#include "tests/builder/layer_sink.h"

namespace enginery::test {
namespace {

class Describer {
 public:
  explicit Describer(LayerSink& net) : net_(net) {}

  std::string weights(const std::string& name, const Shape& dims, float least = -0.1f,
                      float most = 0.1f) {
    size_t count = 1;
    for (const int64_t size : dims) count *= static_cast<size_t>(size);
    std::uniform_real_distribution<float> values(least, most);
    std::vector<float> data(count);
    for (float& value : data) value = values(random_);
    net_.weights(name, dims, data);
    return name;
  }

  // Convolution and its normalisation.
  std::string conv_norm(const std::string& name, const std::string& x, int64_t in, int64_t out,
                        const LayerSink::Window& window) {
    const std::string w = weights(name + ".w", {out, in, window.size, window.size});
    net_.convolution(name, x, w, window);
    const std::string norm = name + "_norm";
    weights(norm + ".s", {out}, 0.5f, 1.5f);
    weights(norm + ".b", {out});
    weights(norm + ".m", {out});
    weights(norm + ".v", {out}, 0.5f, 1.5f);
    net_.batch_norm(norm, name);
    return norm;
  }

  std::string relu(const std::string& x) {
    net_.relu(x + "_relu", x);
    return x + "_relu";
  }

  // 1x1, 3x3, 1x1 with four times the channels, and the way around them.
  std::string bottleneck(const std::string& name, std::string x, int64_t in, int64_t middle,
                         int64_t stride) {
    const int64_t out = 4 * middle;
    std::string y = relu(conv_norm(name + "_a", x, in, middle, {1, 1, 0}));
    y = relu(conv_norm(name + "_b", y, middle, middle, {3, stride, 1}));
    y = conv_norm(name + "_c", y, middle, out, {1, 1, 0});
    if (in != out) x = conv_norm(name + "_d", x, in, out, {1, stride, 0});
    net_.add(name, y, x);
    return relu(name);
  }

  std::string projected(const std::string& name, const std::string& x, int64_t in, int64_t out) {
    net_.product(name + "_product", x, weights(name + ".w", {in, out}));
    net_.add(name, name + "_product", weights(name + ".b", {out}));
    return name;
  }

  std::string normalized(const std::string& name, const std::string& x, int64_t width) {
    weights(name + ".s", {width}, 0.5f, 1.5f);
    weights(name + ".b", {width});
    net_.layer_norm(name, x);
    return name;
  }

 private:
  LayerSink& net_;
  std::mt19937 random_{20260923};
};

}  // namespace

void describe_resnet50(LayerSink& net) {
  constexpr int64_t kWidth = 8;
  Describer make(net);
  net.input("x", {1, 3, 64, 64});
  std::string y = make.relu(make.conv_norm("stem", "x", 3, kWidth, {7, 2, 3}));
  net.max_pool("stem_pool", y, {3, 2, 1});
  y = "stem_pool";
  int64_t channels = kWidth;
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t middle = kWidth << stage;
    for (int64_t block = 0; block < blocks[stage]; ++block) {
      const std::string name = "s" + std::to_string(stage) + "b" + std::to_string(block);
      y = make.bottleneck(name, y, channels, middle, stage > 0 && block == 0 ? 2 : 1);
      channels = 4 * middle;
    }
  }
  net.average_planes("average", y);
  net.flatten("features", "average");
  make.weights("classes.w", {10, channels});
  make.weights("classes.b", {10});
  net.fully_connected("classes", "features", "classes.w", "classes.b");
  net.output("classes");
}

void describe_transformer(LayerSink& net) {
  constexpr int64_t kTokens = 16, kWidth = 64, kHeads = 4, kDepth = kWidth / kHeads;
  Describer make(net);
  net.input("x", {1, kTokens, kWidth});
  const auto heads = [&](const std::string& name, const Shape& permutation) {
    make.projected(name, "x", kWidth, kWidth);
    net.reshape(name + "_split", name, {1, kTokens, kHeads, kDepth});
    net.transpose(name + "_heads", name + "_split", permutation);
    return name + "_heads";
  };
  net.product("scores", heads("q", {0, 2, 1, 3}), heads("k", {0, 2, 3, 1}));
  net.weights("scale", {}, {0.25f});
  net.multiply("scaled", "scores", "scale");
  net.softmax("shares", "scaled");
  net.product("mixed", "shares", heads("v", {0, 2, 1, 3}));
  net.transpose("joined", "mixed", {0, 2, 1, 3});
  net.reshape("flat", "joined", {1, kTokens, kWidth});
  net.add("attended", make.projected("out", "flat", kWidth, kWidth), "x");
  make.normalized("norm1", "attended", kWidth);
  net.gelu("gelu", make.projected("wide", "norm1", kWidth, 4 * kWidth));
  net.add("sum", make.projected("narrow", "gelu", 4 * kWidth, kWidth), "norm1");
  net.output(make.normalized("y", "sum", kWidth));
}

void describe_selection(LayerSink& net) {
  net.input("boxes", {1, 8, 4});
  net.input("scores", {1, 2, 8});
  net.input("x", {4, 6});
  net.input("c", {6});
  net.nms("chosen", "boxes", "scores", 3, 0.5f, 0.1f);
  net.output("chosen");
  net.non_zero("places", "x");
  net.output("places");
  net.compress("columns", "x", "c");
  net.output("columns");
}

}  // namespace enginery::test
