// NumPy's .npy files and .npz archives: what tests and scripts give to inference and read back from
// it.
//
// Where: below input_set (reads) and the command line (writes). Reads versions 1 to 3, C and
// Fortran order, either byte order; writes version 1, C order, little-endian. bfloat16, which NumPy
// has no name for, is stored as '<V2', as the ml_dtypes package does; 8-bit floats are written as
// float32, 4-bit integers as int8 or uint8. Errors: invalid_argument for
// a file that breaks the format, not_found and storage from the file system.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "engine/tensor/tensor.h"

namespace enginery {

// What the head of a .npy file says. Source: numpy.lib.format.
struct NpyHeader {
  TensorType type;
  bool fortran_order = false;
  bool big_endian = false;
  int64_t data_offset = 0;  // bytes from the start of the file
};

// Reads a header from the first bytes of a file; `file_bytes` is the size of all of it and bounds
// the array.
Result<NpyHeader> parse_npy_header(std::string_view head, int64_t file_bytes);

// The whole array in `bytes`.
Result<Tensor> parse_npy(std::string_view bytes);

// An open .npy file whose rows (slices of the first dimension) are read when asked for, so that an
// array larger than memory can be run. A resource; one thread at a time.
class NpyFile {
 public:
  static Result<NpyFile> open(const std::filesystem::path& path);

  // The array `member` of the .npz archive at `path`, read whole.
  static Result<NpyFile> open_member(const std::filesystem::path& path, const std::string& member);

  const TensorType& type() const { return header_.type; }

  // Rows [first, first + count) as a tensor of dims {count, ...}. Requires a rank of at least 1 and
  // rows that exist.
  Result<Tensor> read_rows(int64_t first, int64_t count);
  Result<Tensor> read_all();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Result<Tensor> read_elements(int64_t first, Dims dims);

  std::string name_;
  NpyHeader header_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<Tensor> whole_;  // a member, or a Fortran-order file transposed on first use
};

// The names of the arrays in a .npz archive, without their ".npy".
Result<std::vector<std::string>> npz_members(const std::filesystem::path& path);

// Bytes of a .npy file that holds `tensor`.
Bytes to_npy(const Tensor& tensor);

// Writes atomically (base's write_file).
Status write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace enginery
