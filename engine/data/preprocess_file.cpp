// Reads --preprocess files. The only file that sees toml++; its exceptions end here.
#include <toml++/toml.h>

#include <cmath>

#include "engine/base/file.h"
#include "engine/data/preprocess.h"

namespace enginery {
namespace {

constexpr uint64_t kMaxTextBytes = 1 << 20;
constexpr int64_t kMaxSide = 1 << 16;

Error wrong(const std::string& key, const std::string& expected) {
  return {ErrorCode::invalid_argument, "'" + key + "' must be " + expected};
}

Result<int64_t> read_side(const toml::node& node, const std::string& key) {
  const std::optional<int64_t> side = node.is_integer() ? node.value<int64_t>() : std::nullopt;
  if (!side || *side < 1 || *side > kMaxSide) return wrong(key, "a size from 1 to 65536");
  return *side;
}

Result<Preprocess::Size> read_size(const toml::node& node, const std::string& key) {
  const toml::array* array = node.as_array();
  if (!array || array->size() != 2) return wrong(key, "[height, width]");
  TRY(const int64_t height, read_side(*array->get(0), key));
  TRY(const int64_t width, read_side(*array->get(1), key));
  if (height > kMaxPicturePixels / width) return wrong(key, "at most 2^27 pixels");
  return Preprocess::Size{height, width};
}

Result<double> read_number(const toml::node& node, const std::string& key) {
  const std::optional<double> number = node.is_number() ? node.value<double>() : std::nullopt;
  if (!number || !std::isfinite(*number))
    return wrong(key, "a number or a list of numbers, one for each channel");
  return *number;
}

Result<std::vector<double>> read_numbers(const toml::node& node, const std::string& key) {
  std::vector<double> values;
  const toml::array* array = node.as_array();
  if (!array) {
    TRY(const double value, read_number(node, key));
    return std::vector<double>{value};
  }
  for (const toml::node& element : *array) {
    TRY(const double value, read_number(element, key));
    values.push_back(value);
  }
  return values;
}

// The value of `names` at the position that the key's text has among them.
template <typename T>
Result<T> read_choice(const toml::node& node, const std::string& key,
                      const std::vector<std::pair<std::string, T>>& names) {
  const std::optional<std::string> text = node.value<std::string>();
  std::string expected;
  for (const auto& [name, value] : names) {
    if (text && *text == name) return value;
    expected += (expected.empty() ? "\"" : " or \"") + name + "\"";
  }
  return wrong(key, expected);
}

Status read_key(const std::string& key, const toml::node& node, Preprocess& out) {
  if (key == "color") {
    TRY(out.color,
        read_choice<ColorOrder>(
            node, key,
            {{"rgb", ColorOrder::rgb}, {"bgr", ColorOrder::bgr}, {"gray", ColorOrder::gray}}));
  } else if (key == "filter") {
    TRY(out.filter, read_choice<Filter>(
                        node, key, {{"bilinear", Filter::bilinear}, {"nearest", Filter::nearest}}));
  } else if (key == "layout") {
    TRY(out.layout, read_choice<PictureLayout>(
                        node, key, {{"nchw", PictureLayout::nchw}, {"nhwc", PictureLayout::nhwc}}));
  } else if (key == "resize") {
    TRY(out.resize, read_size(node, key));
  } else if (key == "resize_short") {
    TRY(out.resize_short, read_side(node, key));
  } else if (key == "crop") {
    TRY(out.crop, read_size(node, key));
  } else if (key == "mean") {
    TRY(out.mean, read_numbers(node, key));
  } else if (key == "scale") {
    TRY(out.scale, read_numbers(node, key));
  } else {
    return Error{ErrorCode::invalid_argument,
                 "unknown key '" + key +
                     "' (known: color, resize, resize_short, filter, crop, mean, scale, layout)"};
  }
  return {};
}

Result<Preprocess> read_steps(const toml::table& table) {
  Preprocess steps;
  for (const auto& [key, node] : table) CHECK_OK(read_key(std::string(key.str()), node, steps));
  if (steps.resize && steps.resize_short) {
    return Error{ErrorCode::invalid_argument, "'resize' and 'resize_short' exclude each other"};
  }
  const size_t channels = steps.color == ColorOrder::gray ? 1 : kPictureChannels;
  for (const auto* values : {&steps.mean, &steps.scale}) {
    if (values->size() != 1 && values->size() != channels) {
      return wrong(values == &steps.mean ? "mean" : "scale",
                   "one number or " + std::to_string(channels) + " numbers");
    }
  }
  return steps;
}

bool names_inputs(const toml::table& input) {
  for (const auto& [key, node] : input) {
    if (node.is_table()) return true;
  }
  return false;
}

Result<PreprocessTable> read_tables(const toml::table& file) {
  PreprocessTable out;
  for (const auto& [key, node] : file) {
    if (key.str() != "input" || !node.is_table()) {
      return Error{ErrorCode::invalid_argument,
                   "unknown key '" + std::string(key.str()) +
                       "' (expected the table [input] or [input.NAME])"};
    }
  }
  const toml::table* input = file["input"].as_table();
  if (!input) return Error{ErrorCode::invalid_argument, "no table [input] or [input.NAME]"};
  if (!names_inputs(*input)) {
    TRY(out[""], read_steps(*input));
    return out;
  }
  for (const auto& [key, node] : *input) {
    const std::string name(key.str());
    if (!node.is_table()) {
      return Error{ErrorCode::invalid_argument,
                   "key '" + name + "' is in [input], but there are tables [input.NAME] too"};
    }
    auto steps = read_steps(*node.as_table());
    if (!steps.ok()) return steps.error().within("[input." + name + "]");
    out[name] = std::move(steps).value();
  }
  return out;
}

Error at(const toml::parse_error& e) {
  return {ErrorCode::invalid_argument,
          "line " + std::to_string(e.source().begin.line) + ": " + std::string(e.description())};
}

Result<toml::table> parse_toml(std::string_view text) {
  try {
    return toml::table(toml::parse(text));
  } catch (const toml::parse_error& e) {
    return at(e);
  }
}

}  // namespace

Result<PreprocessTable> parse_preprocess(std::string_view text, const std::string& name) {
  const auto file = parse_toml(text);
  if (!file.ok()) return file.error().within("preprocessing file " + name);
  auto tables = read_tables(*file);
  if (!tables.ok()) return tables.error().within("preprocessing file " + name);
  return tables;
}

Result<PreprocessTable> read_preprocess(const std::filesystem::path& path) {
  TRY(const Bytes text, read_file(path, kMaxTextBytes));
  return parse_preprocess(text, path.string());
}

}  // namespace enginery
