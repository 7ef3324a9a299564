// edges IN.ppm OUT.pgm: the edges of a picture, by a network of our own. It is put together layer
// by layer, built for this machine, and run, all in this program.
#include <cstdio>
#include <enginery/build.hpp>
#include <fstream>
#include <string>
#include <vector>

// Sobel's two kernels over the mean of three channels, then the length of what they give.
std::string build_edges(int64_t height, int64_t width) {
  enginery::Network network("edges");
  std::vector<float> kernels;
  for (const auto& kernel : {std::vector<float>{-1, 0, 1, -2, 0, 2, -1, 0, 1},
                             std::vector<float>{-1, -2, -1, 0, 0, 0, 1, 2, 1}}) {
    for (int channel = 0; channel < 3; ++channel)
      for (const float weight : kernel) kernels.push_back(weight / 3);
  }
  enginery::Window window;
  window.size = {3, 3};
  window.padding = {1, 1};
  const auto x = network.add_input("picture", ENGINERY_FLOAT32, {1, 3, height, width});
  const auto weights = network.add_constant({2, 3, 3, 3}, kernels, "kernels");
  const auto slopes = network.add_convolution(x, weights, {}, window, 1, "slopes");
  const auto squares = network.add_elementwise(slopes, slopes, "mul", "squares");
  const auto sum = network.add_reduce(squares, "sum", {1}, true, "sum");
  const auto length = network.add_unary(sum, "sqrt", "length");
  network.mark_output(network.add_activation(length, "clip", "bounded", 0, 255), "edges");
  enginery::BuildConfig config;
  config.level = 1;
  return enginery::Builder(config).build(network);
}

int main(int argc, char** argv) try {
  if (argc != 3) return std::fputs("edges IN.ppm OUT.pgm\n", stderr), 2;
  std::ifstream in(argv[1], std::ios::binary);
  std::string magic;
  size_t width = 0, height = 0, most = 0;
  in >> magic >> width >> height >> most;
  in.get();
  if (!in || magic != "P6") throw std::runtime_error("the picture is no PPM file (P6)");
  std::vector<float> picture(3 * width * height), edges(width * height);
  for (size_t i = 0; i < picture.size(); ++i)  // from rows of RGB to three planes
    picture[i % 3 * width * height + i / 3] = static_cast<float>(in.get());
  const std::string bytes = build_edges(static_cast<int64_t>(height), static_cast<int64_t>(width));
  const enginery::Engine engine(bytes.data(), bytes.size());
  enginery::Context context(engine);
  context.set_input("picture", picture);
  context.set_output("edges", edges);
  context.run();
  std::ofstream out(argv[2], std::ios::binary);
  out << "P5\n" << width << " " << height << "\n255\n";
  for (const float edge : edges)
    out.put(static_cast<char>(static_cast<unsigned char>(edge + 0.5f)));
} catch (const std::exception& e) {
  return std::fprintf(stderr, "edges: %s\n", e.what()), 1;
}
