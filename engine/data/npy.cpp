#include "engine/data/npy.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>

#include "engine/base/file.h"
#include "engine/data/zip.h"
#include "engine/tensor/storage_types.h"

namespace enginery {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr int64_t kMaxHeaderBytes = 1 << 20;
constexpr uint64_t kMaxArchiveBytes = uint64_t{1} << 32;
constexpr size_t kMaxRank = 64;  // NumPy 2's own limit

struct DescriptionRow {
  std::string_view text;  // without the byte order
  DataType type;
};
constexpr DescriptionRow kDescriptions[] = {
    {"f4", DataType::float32}, {"f2", DataType::float16}, {"V2", DataType::bfloat16},
    {"f8", DataType::float64}, {"i1", DataType::int8},    {"u1", DataType::uint8},
    {"i2", DataType::int16},   {"u2", DataType::uint16},  {"i4", DataType::int32},
    {"u4", DataType::uint32},  {"i8", DataType::int64},   {"u8", DataType::uint64},
    {"b1", DataType::boolean},
};

std::string_view description_of(DataType type) {
  const auto* row = std::ranges::find(kDescriptions, type, &DescriptionRow::type);
  ENSURE(row != std::end(kDescriptions), "NumPy has no such type");
  return row->text;
}

Error malformed(const std::string& why) {
  return {ErrorCode::invalid_argument, "not a usable .npy array: " + why};
}

// Reads the dictionary literal of the header: {'descr': '<f4', 'fortran_order': False, 'shape': (2,
// 3), }
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  bool take(char c) {
    skip_space();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> quoted() {
    skip_space();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string out(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return out;
  }

  std::optional<int64_t> integer() {
    skip_space();
    int64_t value = 0;
    const auto [next, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(next - text_.data()));
    take('L');  // Python 2 wrote long integers so
    return value;
  }

  bool at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  void skip_space() {
    const size_t n = text_.find_first_not_of(std::string_view(" \t\r\n\0", 5));
    text_.remove_prefix(n == std::string_view::npos ? text_.size() : n);
  }
  std::string_view text_;
};

Status read_description(LiteralReader& in, NpyHeader& out) {
  const std::optional<std::string> text = in.quoted();
  if (!text) return malformed("its element type is structured or missing");
  std::string_view name = *text;
  bool has_order =
      !name.empty() && std::string_view("<>|=").find(name.front()) != std::string_view::npos;
  out.big_endian = has_order && name.front() == '>';
  if (has_order) name.remove_prefix(1);
  for (const DescriptionRow& row : kDescriptions) {
    if (row.text == name) {
      out.type.type = row.type;
      return {};
    }
  }
  return malformed("element type '" + *text +
                   "' is none of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 V2 (bfloat16)");
}

Status read_shape(LiteralReader& in, NpyHeader& out) {
  if (!in.take('(')) return malformed("'shape' is not a tuple");
  while (!in.take(')')) {
    const std::optional<int64_t> size = in.integer();
    if (!size || *size < 0) return malformed("'shape' holds something that is not a size");
    out.type.dims.push_back(*size);
    if (out.type.dims.size() > kMaxRank) return malformed("more than 64 dimensions");
    if (!in.take(',')) return in.take(')') ? Status() : malformed("'shape' is not a tuple");
  }
  return {};
}

Status read_field(LiteralReader& in, const std::string& key, NpyHeader& out) {
  if (key == "descr") return read_description(in, out);
  if (key == "shape") return read_shape(in, out);
  if (key != "fortran_order") return malformed("unknown header key '" + key.substr(0, 40) + "'");
  out.fortran_order = in.take(std::string_view("True"));
  if (!out.fortran_order && !in.take(std::string_view("False")))
    return malformed("'fortran_order' is neither True nor False");
  return {};
}

Status read_dictionary(std::string_view text, NpyHeader& out) {
  LiteralReader in(text);
  if (!in.take('{')) return malformed("the header is not a dictionary");
  std::vector<std::string> seen;
  while (!in.take('}')) {
    const std::optional<std::string> key = in.quoted();
    if (!key || !in.take(':')) return malformed("the header is not a dictionary of three fields");
    if (std::find(seen.begin(), seen.end(), *key) != seen.end())
      return malformed("'" + key->substr(0, 40) + "' occurs twice");
    CHECK_OK(read_field(in, *key, out));
    seen.push_back(*key);
    in.take(',');
  }
  if (!in.at_end()) return malformed("text after the header's dictionary");
  if (seen.size() != 3)
    return malformed("the header misses one of 'descr', 'fortran_order', 'shape'");
  return {};
}

int64_t little_endian(std::string_view bytes) {
  int64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<uint8_t>(bytes[i]);
  return value;
}

void swap_bytes(char* data, int64_t elements, int64_t width) {
  for (int64_t i = 0; i < elements; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

// What the file holds becomes what a Tensor may hold: host byte order, and booleans that are 0
// or 1.
void settle(Tensor& tensor, bool big_endian) {
  char* data = static_cast<char*>(tensor.mutable_bytes());
  if (big_endian) swap_bytes(data, tensor.size(), element_bytes(tensor.type()));
  if (tensor.type() == DataType::boolean) {
    for (int64_t i = 0; i < tensor.size(); ++i) data[i] = data[i] != 0;
  }
}

Tensor from_fortran_order(const Tensor& stored) {
  Tensor out(stored.type(), stored.dims());
  const Dims& dims = stored.dims();
  const int64_t width = element_bytes(stored.type());
  const char* from = static_cast<const char*>(stored.raw());
  char* to = static_cast<char*>(out.mutable_bytes());
  Dims strides(dims.size(), 1);
  for (size_t i = 1; i < dims.size(); ++i) strides[i] = strides[i - 1] * dims[i - 1];
  Dims at(dims.size(), 0);
  int64_t source = 0;
  for (int64_t i = 0; i < out.size(); ++i) {
    std::memcpy(to + i * width, from + source * width, static_cast<size_t>(width));
    for (size_t d = dims.size(); d-- > 0;) {
      source += strides[d];
      if (++at[d] < dims[d]) break;
      source -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
  return out;
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view head, int64_t file_bytes) {
  if (!head.starts_with(kMagic) || head.size() < 10)
    return malformed("the magic bytes are missing");
  const int version = static_cast<uint8_t>(head[6]);
  if (version < 1 || version > 3)
    return malformed("format version " + std::to_string(version) + ", expected 1 to 3");
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (head.size() < 8 + length_bytes) return malformed("the header is cut short");
  const int64_t length = little_endian(head.substr(8, length_bytes));
  if (length > kMaxHeaderBytes)
    return malformed("the header claims " + std::to_string(length) + " bytes");
  NpyHeader header;
  header.data_offset = static_cast<int64_t>(8 + length_bytes) + length;
  if (header.data_offset > static_cast<int64_t>(head.size()))
    return malformed("the header is cut short");
  CHECK_OK(read_dictionary(head.substr(8 + length_bytes, static_cast<size_t>(length)), header));

  const int64_t width = element_bytes(header.type.type);
  TRY(const int64_t elements, checked_volume(header.type.dims, width));
  if (elements * width > file_bytes - header.data_offset) {
    return malformed(to_string(header.type) + " needs " + std::to_string(elements * width) +
                     " bytes, the file has " + std::to_string(file_bytes - header.data_offset));
  }
  return header;
}

Result<Tensor> parse_npy(std::string_view bytes) {
  TRY(NpyHeader header, parse_npy_header(bytes, static_cast<int64_t>(bytes.size())));
  Tensor tensor(header.type.type, header.type.dims);
  std::memcpy(tensor.mutable_bytes(), bytes.data() + header.data_offset,
              static_cast<size_t>(tensor.bytes()));
  settle(tensor, header.big_endian);
  return header.fortran_order ? from_fortran_order(tensor) : tensor;
}

Result<NpyFile> NpyFile::open(const std::filesystem::path& path) {
  NpyFile out;
  out.name_ = path.string();
  out.file_.reset(std::fopen(path.c_str(), "rbe"));
  if (!out.file_) return errno_error("open " + out.name_, errno);
  struct stat info {};
  if (fstat(fileno(out.file_.get()), &info) != 0) return errno_error("stat " + out.name_, errno);
  if (!S_ISREG(info.st_mode))
    return Error{ErrorCode::invalid_argument, "read " + out.name_ + ": not a regular file"};
  Bytes head(static_cast<size_t>(std::min<int64_t>(info.st_size, kMaxHeaderBytes + 12)), '\0');
  head.resize(std::fread(head.data(), 1, head.size(), out.file_.get()));
  auto header = parse_npy_header(head, info.st_size);
  if (!header.ok()) return header.error().within("read " + out.name_);
  out.header_ = std::move(header).value();
  return out;
}

Result<Tensor> NpyFile::read_elements(int64_t first, Dims dims) {
  Tensor tensor(header_.type.type, std::move(dims));
  const int64_t offset = header_.data_offset + first * element_bytes(header_.type.type);
  if (fseeko(file_.get(), offset, SEEK_SET) != 0) return errno_error("seek in " + name_, errno);
  const size_t bytes = static_cast<size_t>(tensor.bytes());
  if (std::fread(tensor.mutable_bytes(), 1, bytes, file_.get()) != bytes) {
    return malformed("the file ends early").within("read " + name_);
  }
  settle(tensor, header_.big_endian);
  return tensor;
}

Result<Tensor> NpyFile::read_all() {
  if (whole_) return *whole_;
  TRY(Tensor stored, read_elements(0, header_.type.dims));
  if (!header_.fortran_order) return stored;
  whole_ = std::make_unique<Tensor>(from_fortran_order(stored));
  return *whole_;
}

Result<NpyFile> NpyFile::open_member(const std::filesystem::path& path, const std::string& member) {
  TRY(const Bytes archive, read_file(path, kMaxArchiveBytes));
  const auto read = [&]() -> Result<Tensor> {
    TRY(const std::vector<ZipMember> members, list_zip(archive));
    for (const ZipMember& each : members) {
      if (each.name != member + ".npy" && each.name != member) continue;
      TRY(const Bytes bytes, read_zip_member(archive, each));
      return parse_npy(bytes);
    }
    return Error{ErrorCode::not_found, "no array of that name"};
  };
  NpyFile out;
  out.name_ = path.string() + "[" + member + "]";
  auto tensor = read();
  if (!tensor.ok()) return tensor.error().within("read " + out.name_);
  out.header_.type = tensor->tensor_type();
  out.whole_ = std::make_unique<Tensor>(std::move(tensor).value());
  return out;
}

Result<std::vector<std::string>> npz_members(const std::filesystem::path& path) {
  TRY(const Bytes archive, read_file(path, kMaxArchiveBytes));
  const auto members = list_zip(archive);
  if (!members.ok()) return members.error().within("read " + path.string());
  std::vector<std::string> names;
  for (const ZipMember& member : *members) {
    names.push_back(member.name.ends_with(".npy") ? member.name.substr(0, member.name.size() - 4)
                                                  : member.name);
  }
  return names;
}

Result<Tensor> NpyFile::read_rows(int64_t first, int64_t count) {
  ENSURE(!header_.type.dims.empty() && first >= 0 && count >= 0 &&
             first + count <= header_.type.dims[0],
         "NpyFile::read_rows: rows outside the array");
  Dims dims = header_.type.dims;
  const int64_t row_elements = volume(Dims(dims.begin() + 1, dims.end()));
  dims[0] = count;
  if (!whole_ && !header_.fortran_order)
    return read_elements(first * row_elements, std::move(dims));
  TRY(const Tensor whole, read_all());
  Tensor out(whole.type(), std::move(dims));
  const int64_t row_bytes = row_elements * element_bytes(whole.type());
  std::memcpy(out.mutable_bytes(), static_cast<const char*>(whole.raw()) + first * row_bytes,
              static_cast<size_t>(out.bytes()));
  return out;
}

Bytes to_npy(const Tensor& tensor) {
  if (is_storage_only(tensor.type())) return to_npy(widen_storage(tensor));
  const std::string_view name = description_of(tensor.type());
  std::string text = "{'descr': '";
  text += element_bytes(tensor.type()) == 1 ? '|' : '<';
  text += name;
  text += "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : tensor.dims()) text += std::to_string(size) + ",";
  text += "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');  // the data begins at a multiple of 64 bytes
  text += '\n';

  Bytes out(kMagic);
  out += std::string_view("\x01\x00", 2);
  out += static_cast<char>(text.size() & 0xff);
  out += static_cast<char>(text.size() >> 8);
  out += text;
  out += as_text(tensor.byte_span());
  return out;
}

Status write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  return write_file(path, to_npy(tensor));
}

}  // namespace enginery
