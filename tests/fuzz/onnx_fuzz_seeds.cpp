// Writes the seed models into the folder named on the command line.
#include <cstdio>

#include "engine/base/file.h"
#include "tests/engine/import/seed_models.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: onnx_fuzz_seeds FOLDER\n"), 2;
  auto status = enginery::make_folder(argv[1]);
  int n = 0;
  for (const auto& model : enginery::test::seed_models()) {
    std::string file = std::string(argv[1]) + "/seed" + std::to_string(n++) + ".onnx";
    if (status.ok()) status = enginery::write_file(file, model);
  }
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.error().message.c_str()), 1;
  return 0;
}
