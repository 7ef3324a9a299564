// Compares our decoders with Pillow on real pictures, where both are at hand.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "engine/base/digest.h"
#include "engine/data/picture.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

std::string run(const std::string& command) {
  std::string out;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return out;
  std::array<char, 4096> part;
  while (size_t n = std::fread(part.data(), 1, part.size(), pipe)) out.append(part.data(), n);
  return pclose(pipe) == 0 ? out : std::string();
}

fs::path shared_folder() {
  const char* set = std::getenv("ENGINERY_SHARED");
  return set && *set ? fs::path(set) : fs::path(ENGINERY_SOURCE_DIR).parent_path() / "shared";
}

// $ENGINERY_PYTHON, the environment that deploy/test makes, or the system's: the first that has
// Pillow.
std::string python_with_pillow() {
  const char* set = std::getenv("ENGINERY_PYTHON");
  for (const std::string& python :
       {std::string(set ? set : ""), std::string(ENGINERY_SOURCE_DIR "/build/venv/bin/python"),
        std::string("python3")}) {
    if (!python.empty() && run(python + " -c 'import PIL; print(1)' 2>/dev/null") == "1\n")
      return python;
  }
  return "";
}

TEST(Pillow, DecodesTheSameBytes) {
  const fs::path images = shared_folder() / "images";
  if (!fs::exists(images)) GTEST_SKIP() << "no pictures at " << images << " (set ENGINERY_SHARED)";
  const std::string python = python_with_pillow();
  if (python.empty())
    GTEST_SKIP() << "no python with Pillow (deploy/test installs one, or set ENGINERY_PYTHON)";

  const std::string script =
      "import sys,hashlib,pathlib;from PIL import Image\n"
      "for p in sorted(pathlib.Path(sys.argv[1]).rglob('*.jpg')):\n"
      "  i=Image.open(p).convert('RGB');print(hashlib.sha256(i.tobytes()).hexdigest(),*i.size,p)";
  const std::string listing = run(python + " -c \"" + script + "\" '" + images.string() + "'");
  ASSERT_FALSE(listing.empty());
  int pictures = 0;
  for (size_t at = 0, end; (end = listing.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = listing.substr(at, end - at);
    const size_t space = line.find(' ', line.find(' ', 65) + 1);
    auto picture = read_picture(line.substr(space + 1));
    ASSERT_TRUE(picture.ok()) << line << ": " << picture.error().message;
    const std::string size = std::to_string(picture->width) + " " + std::to_string(picture->height);
    ASSERT_EQ(line.substr(65, space - 65), size) << line;
    std::string_view bytes(reinterpret_cast<const char*>(picture->rgb.data()), picture->rgb.size());
    EXPECT_EQ(line.substr(0, 64), sha256(bytes).hex()) << line;
    ++pictures;
  }
  EXPECT_GT(pictures, 100);
}

}  // namespace
}  // namespace enginery
