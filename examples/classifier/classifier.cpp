// classifier ENGINE PICTURE.ppm LABELS: the label of the highest score. The picture (P6) has the
// network's size, and its numbers are made as deploy/examples/shapes was trained; yours may differ.
#include <algorithm>
#include <cstdio>
#include <enginery/enginery.hpp>
#include <fstream>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 4) return std::fputs("classifier ENGINE PICTURE.ppm LABELS\n", stderr), 2;
  const enginery::Engine engine(argv[1]);
  const std::vector<enginery::Tensor> tensors = engine.tensors();
  std::vector<float> input(tensors.front().elements()), scores(tensors.back().elements());
  std::ifstream picture(argv[2], std::ios::binary), labels(argv[3]);
  std::string magic, label;
  size_t width = 0, height = 0, most = 0;
  picture >> magic >> width >> height >> most;
  picture.get();
  if (3 * width * height != input.size())
    throw std::runtime_error("the picture has another size than the network");
  for (size_t i = 0; i < input.size();
       ++i)  // from rows of RGB to three planes, as preprocess.toml says
    input[i % 3 * width * height + i / 3] = (static_cast<float>(picture.get()) - 128) * 0.0078125f;
  enginery::Context context(engine);
  context.set_input(tensors.front().name, input);
  context.set_output(tensors.back().name, scores);
  context.run();
  const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  for (auto line = 0; line <= best; ++line) std::getline(labels, label);
  std::printf("%s %.3f\n", label.c_str(), scores[static_cast<size_t>(best)]);
} catch (const std::exception& e) {
  return std::fprintf(stderr, "classifier: %s\n", e.what()), 1;
}
