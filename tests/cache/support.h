// What the catalog's tests share: a folder that disappears, a clock that stands still, keys and
// blobs by number.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "cache/catalog.h"
#include "cache/local_blob_store.h"
#include "engine/base/clock.h"
#include "tests/support/temporary_folder.h"

namespace enginery::test {

struct FakeClock final : Clock {
  Nanoseconds now{1'700'000'000'000'000'000};
  Nanoseconds monotonic() const override { return now; }
  Nanoseconds wall_time() const override { return now; }
};

// Without fsync: for everything but the tests about crashes.
inline CatalogOptions quick(const Clock* clock = nullptr) {
  CatalogOptions options;
  options.database.durable = false;
  options.database.quick_check = false;
  options.database.busy_timeout = std::chrono::milliseconds(5000);
  options.clock = clock;
  return options;
}

inline std::unique_ptr<Catalog> open_catalog(const std::filesystem::path& folder,
                                             const Clock* clock = nullptr) {
  auto catalog = Catalog::open(folder, quick(clock));
  EXPECT_TRUE(catalog.ok()) << (catalog.ok() ? "" : catalog.error().message);
  return catalog.ok() ? std::move(*catalog) : nullptr;
}

// `size` bytes that are the same for the same seed and differ for others.
inline Bytes pattern(size_t size, uint64_t seed) {
  Bytes out(size, '\0');
  uint64_t x = seed * 0x9e3779b97f4a7c15 + 1;
  for (char& c : out) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    c = static_cast<char>(x);
  }
  return out;
}

inline ActionKey key_of(int number, const std::string& sku = "cpu-avx2") {
  ActionKey key("assemble", "local");
  key.add("sku", sku).add("number", number).add("precision", "fp32");
  return key;
}

inline ActionResult result_of(const ActionKey& key, std::vector<ResultOutput> outputs,
                              int64_t generation = 1) {
  ActionResult result;
  result.key = key.digest();
  result.generation = generation;
  result.outcome = "{}";
  result.outputs = std::move(outputs);
  return result;
}

// Changes one byte of a file, in spite of its mode.
inline void flip_byte(const std::filesystem::path& file, std::streamoff at) {
  std::filesystem::permissions(file, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  FILE* f = fopen(file.c_str(), "r+b");
  ASSERT_NE(f, nullptr) << file;
  fseek(f, at, SEEK_SET);
  int c = fgetc(f);
  fseek(f, at, SEEK_SET);
  fputc(c ^ 0x40, f);
  fclose(f);
}

// The value of a Result; an error is an exception, which fails the test and leaves the others their
// turn.
template <typename T>
T value_of(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

}  // namespace enginery::test

#define VALUE(...) ::enginery::test::value_of(__VA_ARGS__)
#define EXPECT_OK(...)                                                          \
  do {                                                                          \
    auto status_ = (__VA_ARGS__);                                               \
    EXPECT_TRUE(status_.ok()) << (status_.ok() ? "" : status_.error().message); \
  } while (false)
#define EXPECT_ERROR(wanted, ...)                                                               \
  do {                                                                                          \
    auto status_ = (__VA_ARGS__);                                                               \
    EXPECT_FALSE(status_.ok());                                                                 \
    if (!status_.ok()) {                                                                        \
      EXPECT_EQ(to_string(status_.error().code), to_string(wanted)) << status_.error().message; \
    }                                                                                           \
  } while (false)
