// camera ENGINE FOLDER LABELS: the label of every picture of a folder (PPM, P6, of the network's
// size), in the order of their names, as of a camera's frames. Two contexts of one engine take
// turns: one picture is read while the other is in the network. Slot::read makes the numbers that
// deploy/examples/shapes was trained with; another network wants its own there.
#include <algorithm>
#include <cstdio>
#include <enginery/enginery.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

namespace fs = std::filesystem;

// A picture that is under way, and the context that it goes through.
struct Slot {
  explicit Slot(const enginery::Engine& engine) : context(engine) {
    const std::vector<enginery::Tensor> tensors = engine.tensors();
    input.resize(tensors.front().elements());
    scores.resize(tensors.back().elements());
    context.set_input(tensors.front().name, input);
    context.set_output(tensors.back().name, scores);
  }

  void read() {
    std::ifstream file(picture, std::ios::binary);
    std::string magic;
    size_t width = 0, height = 0, most = 0;
    file >> magic >> width >> height >> most;
    file.get();
    if (magic != "P6" || 3 * width * height != input.size())
      throw std::runtime_error(picture.string() + ": expected a PPM file of the network's size");
    // From rows of RGB to three planes, as the network was trained.
    for (size_t i = 0; i < input.size(); ++i)
      input[i % 3 * width * height + i / 3] = (static_cast<float>(file.get()) - 128) * 0.0078125f;
  }

  void begin(const fs::path& next) {
    picture = next;
    done = std::async(std::launch::async, [this] {
      read();
      context.run();
    });
  }

  enginery::Context context;
  std::vector<float> input, scores;
  fs::path picture;
  std::future<void> done;  // ends first: it waits for what uses the others
};

void report(Slot& slot, const std::vector<std::string>& labels) {
  slot.done.get();
  const auto best = std::max_element(slot.scores.begin(), slot.scores.end());
  const auto index = static_cast<size_t>(best - slot.scores.begin());
  std::printf("%s %s %.3f\n", slot.picture.filename().c_str(), labels.at(index).c_str(), *best);
}

int main(int argc, char** argv) try {
  if (argc != 4) return std::fputs("camera ENGINE FOLDER LABELS\n", stderr), 2;
  const enginery::Engine engine(argv[1]);
  std::vector<fs::path> pictures(fs::directory_iterator(argv[2]), fs::directory_iterator{});
  std::sort(pictures.begin(), pictures.end());
  std::vector<std::string> labels;
  std::ifstream lines(argv[3]);
  for (std::string label; std::getline(lines, label);) labels.push_back(label);

  Slot slots[] = {Slot(engine), Slot(engine)};
  for (size_t i = 0; i < pictures.size() + 2; ++i) {
    Slot& slot = slots[i % 2];
    if (slot.done.valid()) report(slot, labels);
    if (i < pictures.size()) slot.begin(pictures[i]);
  }
} catch (const std::exception& e) {
  return std::fprintf(stderr, "camera: %s\n", e.what()), 1;
}
