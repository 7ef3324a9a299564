#include "engine/data/row_sources.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "engine/data/topk.h"
#include "engine/tensor/storage_types.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using Sources = std::vector<std::unique_ptr<RowSource>>;

Error misfit(const InputDescription& input, const std::string& why) {
  return {ErrorCode::invalid_argument,
          why + "; input '" + input.name + "' takes " + to_string(input.type)};
}

Dims row_dims(const TensorType& type) {
  return type.dims.empty() ? Dims{} : Dims(type.dims.begin() + 1, type.dims.end());
}

// Whether every value survives the way to `type` and back: what makes int64 labels fit an int32
// input.
bool converts_exactly(const Tensor& tensor, const Tensor& converted) {
  const Tensor back = convert(converted, tensor.type());
  return std::memcmp(back.raw(), tensor.raw(), static_cast<size_t>(tensor.bytes())) == 0;
}

bool is_whole(DataType type) {
  return is_integer(type) || is_4_bit_integer(type);
}

std::string row_label(const std::string& name, int64_t row, int64_t rows) {
  return rows == 1 ? name : name + "[" + std::to_string(row) + "]";
}

// Whether all but the number of rows is the input's.
bool has_dims_of(const Dims& dims, const TensorType& input) {
  return dims.size() == input.dims.size() &&
         (dims.empty() || row_dims({input.type, dims}) == row_dims(input));
}

class TensorSource final : public RowSource {
 public:
  TensorSource(Tensor tensor, std::string label)
      : tensor_(std::move(tensor)), label_(std::move(label)) {}

  int64_t rows() const override { return tensor_.rank() == 0 ? 1 : tensor_.dims()[0]; }
  std::string label(int64_t row) const override { return row_label(label_, row, rows()); }

  Result<Tensor> read(int64_t row) override {
    return tensor_.rank() == 0 ? tensor_ : row_of(tensor_, row);
  }

 private:
  Tensor tensor_;
  std::string label_;
};

class NpySource final : public RowSource {
 public:
  NpySource(NpyFile file, InputDescription input, std::string name)
      : file_(std::move(file)), input_(std::move(input)), name_(std::move(name)) {}

  static Result<std::unique_ptr<RowSource>> open(NpyFile file, const fs::path& path,
                                                 const InputDescription& input) {
    const TensorType& has = file.type();
    if (!has_dims_of(has.dims, input.type))
      return misfit(input, path.string() + " holds " + to_string(has));
    const bool to_floating = is_floating(input.type.type) || is_float8(input.type.type);
    if (!to_floating && has.type != input.type.type &&
        !(is_whole(has.type) && is_whole(input.type.type))) {
      return misfit(input, path.string() + " holds " + to_string(has));
    }
    std::unique_ptr<RowSource> source =
        std::make_unique<NpySource>(std::move(file), input, path.string());
    return source;
  }

  int64_t rows() const override { return file_.type().dims.empty() ? 1 : file_.type().dims[0]; }

  std::string label(int64_t row) const override { return row_label(name_, row, rows()); }

  Result<Tensor> read(int64_t row) override {
    TRY(const Tensor stored,
        file_.type().dims.empty() ? file_.read_all() : file_.read_rows(row, 1));
    const Tensor converted = convert(stored, input_.type.type);
    if (is_whole(stored.type()) && is_whole(input_.type.type) &&
        !converts_exactly(stored, converted)) {
      return misfit(input_, label(row) + " holds a value outside the range");
    }
    return converted.reshaped(row_dims(input_.type));
  }

 private:
  NpyFile file_;
  InputDescription input_;
  std::string name_;
};

// How a picture lies in an input without --preprocess: RGB planes where the second dimension is 3,
// else interleaved.
Preprocess plain_steps(const InputDescription& input) {
  Preprocess steps;
  const Dims& dims = input.type.dims;
  if (dims.size() == 4 && dims[1] == 1) steps.color = ColorOrder::gray;
  if (dims.size() == 4 && dims[1] != 3 && dims[1] != 1) {
    steps.layout = PictureLayout::nhwc;
    if (dims[3] == 1) steps.color = ColorOrder::gray;
  }
  return steps;
}

class PictureSource final : public RowSource {
 public:
  PictureSource(fs::path path, std::string label, InputDescription input, Preprocess steps,
                const char* hint)
      : path_(std::move(path)),
        label_(std::move(label)),
        input_(std::move(input)),
        steps_(std::move(steps)),
        hint_(hint) {}

  int64_t rows() const override { return 1; }
  std::string label(int64_t) const override { return label_; }

  Result<Tensor> read(int64_t) override {
    TRY(Picture picture, read_picture(path_));
    const auto dims = preprocessed_dims(picture.height, picture.width, steps_);
    if (!dims.ok()) return dims.error().within("preprocess " + path_.string());
    if (*dims != row_dims(input_.type)) {
      return misfit(input_, path_.string() + " (" + std::to_string(picture.width) + " x " +
                                std::to_string(picture.height) + " pixels) gives " +
                                to_string(*dims) + hint_);
    }
    TRY(const Tensor tensor, apply(picture, steps_));
    return convert(tensor, input_.type.type);
  }

 private:
  fs::path path_;
  std::string label_;
  InputDescription input_;
  Preprocess steps_;
  const char* hint_;
};

std::unique_ptr<RowSource> picture_source(const fs::path& path, std::string label,
                                          const InputDescription& input, const Preprocess* steps) {
  const char* hint = steps ? "" : " (no --preprocess was given)";
  return std::make_unique<PictureSource>(path, std::move(label), input,
                                         steps ? *steps : plain_steps(input), hint);
}

bool has_picture_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

Result<Sources> open_folder(const fs::path& folder, const InputDescription& input,
                            const Preprocess* steps) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (name[0] != '.' && has_picture_extension(name) && it->is_regular_file(ignored))
      names.push_back(name);
  }
  if (error) return errno_error("list " + folder.string(), error.value());
  if (names.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "folder " + folder.string() + " holds no .jpg, .jpeg or .png file"};
  }
  std::sort(names.begin(), names.end());
  Sources sources;
  for (const std::string& name : names)
    sources.push_back(picture_source(folder / name, name, input, steps));
  return sources;
}

Result<Bytes> first_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return errno_error("open " + path.string(), errno ? errno : EIO);
  std::array<char, 8> head{};
  in.read(head.data(), head.size());
  return Bytes(head.data(), static_cast<size_t>(in.gcount()));
}

// The array of the input's name, or the only one.
Result<std::unique_ptr<RowSource>> open_archive(const fs::path& path,
                                                const InputDescription& input) {
  TRY(const std::vector<std::string> names, npz_members(path));
  const std::string member = names.size() == 1 ? names.front() : input.name;
  TRY(NpyFile file, NpyFile::open_member(path, member));
  return NpySource::open(std::move(file), path, input);
}

}  // namespace

Result<std::unique_ptr<RowSource>> tensor_source(Tensor tensor, const InputDescription& input,
                                                 std::string label) {
  if (!has_dims_of(tensor.dims(), input.type))
    return misfit(input, label + " is " + to_string(tensor.tensor_type()));
  std::unique_ptr<RowSource> source =
      std::make_unique<TensorSource>(convert(tensor, input.type.type), std::move(label));
  return source;
}

bool is_archive(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const auto head = first_bytes(path);
  return head.ok() && head->starts_with("PK\x03\x04");
}

Result<Sources> open_row_sources(const fs::path& path, const InputDescription& input,
                                 const Preprocess* steps) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return errno_error("open " + path.string(), ENOENT);
  if (error) return errno_error("open " + path.string(), error.value());
  if (fs::is_directory(status)) return open_folder(path, input, steps);
  if (!fs::is_regular_file(status)) {
    return Error{ErrorCode::invalid_argument, path.string() + " is neither a file nor a folder"};
  }
  TRY(const Bytes head, first_bytes(path));
  Sources sources;
  if (head.starts_with("\x93NUMPY")) {
    TRY(NpyFile file, NpyFile::open(path));
    TRY(std::unique_ptr<RowSource> source, NpySource::open(std::move(file), path, input));
    sources.push_back(std::move(source));
  } else if (is_archive(path)) {
    TRY(std::unique_ptr<RowSource> source, open_archive(path, input));
    sources.push_back(std::move(source));
  } else if (looks_like_picture(head)) {
    sources.push_back(picture_source(path, path.string(), input, steps));
  } else {
    return Error{ErrorCode::invalid_argument,
                 path.string() + " is neither an .npy or .npz array nor a JPEG or PNG picture"};
  }
  return sources;
}

}  // namespace enginery
