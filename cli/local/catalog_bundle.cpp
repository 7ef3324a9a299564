// `enginery catalog export|import`: engines with their keys, results, tags and bytes in one signed
// file, for a site without a network.
//
//   bundle   := "ENGBDL01" size(u64, little endian) manifest blob* trailer
//   manifest := JSON, size bytes: {"schema": "enginery.bundle/1", "engines": [document, ...],
//               "blobs": [{"digest", "size_bytes"}, ...]}, documents as coordinator/catalog's
//               bundle_actions.cpp has them
//   blob*    := the bytes of each of "blobs", in their order
//   trailer  := the exporter's signature over everything before it (engine/base/signed_file.h)
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/local/catalog_actions.h"
#include "cli/local/catalog_pages.h"
#include "cli/local/user_keys.h"
#include "cli/output/output_file.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "engine/base/file.h"
#include "engine/base/signed_file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBundleMagic = "ENGBDL01";
constexpr size_t kBundleHead = 16;
constexpr const char* kBundleSchema = "enginery.bundle/1";

// A file that appears under its name when it is complete.
class BundleFile {
 public:
  explicit BundleFile(const fs::path& file)
      : file_(file), part_(file.string() + ".part"), out_(part_, std::ios::binary) {}
  ~BundleFile() {
    std::error_code ignored;
    if (!complete_) fs::remove(part_, ignored);
  }
  Status write(std::string_view bytes) {
    hash_.update(bytes);
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return out_ ? Status() : Status(errno_error("write " + part_.string(), errno));
  }
  Status finish(const SigningKey& key) {
    const Bytes trailer = signature_trailer(hash_.finish(), key);
    out_.write(trailer.data(), static_cast<std::streamsize>(trailer.size()));
    out_.close();
    if (!out_ || std::rename(part_.c_str(), file_.c_str()) != 0)
      return errno_error("write " + file_.string(), errno);
    complete_ = true;
    return {};
  }

 private:
  const fs::path file_, part_;
  std::ofstream out_;
  Sha256 hash_;
  bool complete_ = false;
};

// A file's bytes without reading them all into memory.
class MappedBundle {
 public:
  MappedBundle(const MappedBundle&) = delete;
  MappedBundle(MappedBundle&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  ~MappedBundle() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  static Result<MappedBundle> open(const fs::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno_error("open " + file.string(), errno);
    struct stat info {};
    const bool known = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
    void* data =
        known ? mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0)
              : MAP_FAILED;
    const int failed = errno;
    close(fd);
    if (!known) return Error{ErrorCode::invalid_argument, file.string() + ": not a bundle"};
    if (data == MAP_FAILED) return errno_error("read " + file.string(), failed);
    return MappedBundle(data, static_cast<size_t>(info.st_size));
  }
  ByteSpan bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

 private:
  MappedBundle(void* data, size_t size) : data_(data), size_(size) {}
  void* data_;
  size_t size_;
};

struct Bundle {
  std::vector<Json> engines;                        // their documents
  std::vector<std::pair<Digest, uint64_t>> listed;  // of each blob its size, in their order
  ByteSpan blobs;
};

// Throws Json::exception where a field is missing or of another type.
Result<Bundle> read_manifest(const Json& manifest) {
  Bundle bundle;
  bundle.engines = manifest.at("engines").get<std::vector<Json>>();
  for (const Json& blob : manifest.at("blobs").get<std::vector<Json>>()) {
    TRY(const Digest digest, Digest::parse(blob.at("digest").get<std::string>()));
    bundle.listed.emplace_back(digest, blob.at("size_bytes").get<uint64_t>());
  }
  return bundle;
}

// corrupt_data: what the signer signed is no bundle of this version.
Result<Bundle> parse_bundle(ByteSpan body) {
  const Error broken{ErrorCode::corrupt_data, "not a bundle that this version can read"};
  if (body.size() < kBundleHead || as_text(body.first(8)) != kBundleMagic) return broken;
  uint64_t size = 0;
  for (size_t i = 0; i < 8; ++i) size |= static_cast<uint64_t>(body[8 + i]) << (8 * i);
  body = body.subspan(kBundleHead);
  if (size > body.size()) return broken;
  const Json manifest = Json::parse(as_text(body.first(size)), nullptr, false);
  if (!is_document(manifest, kBundleSchema)) return broken;
  try {
    TRY(Bundle bundle, read_manifest(manifest));
    bundle.blobs = body.subspan(size);
    return bundle;
  } catch (const Json::exception&) {
    return broken;
  }
}

// The engines that are named, or all of them.
Result<Json> engines_to_export(const CatalogDoor& door, const CatalogArguments& arguments) {
  std::vector<std::string> names(arguments.words.begin() + 1, arguments.words.end());
  if (names.empty()) {
    TRY(const Json listed, list_all_engines(door, "", std::nullopt));
    for (const Json& engine : listed["engines"])
      names.push_back(engine["engine"].get<std::string>());
  }
  TRY(const Json options, sku_options(arguments));
  Json engines = Json::array();
  for (const std::string& name : names) {
    TRY(Json engine, door("bundle-engine", {name}, options));
    engines.push_back(std::move(engine));
  }
  return engines;
}

// Each blob that the engines need, once: the engine's own and its result's.
std::map<std::string, uint64_t> blobs_of_engines(const Json& engines) {
  std::map<std::string, uint64_t> blobs;
  for (const Json& engine : engines) {
    blobs[engine["engine"].get<std::string>()] = engine["size_bytes"].get<uint64_t>();
    for (const Json& output : engine["outputs"])
      blobs[output["digest"].get<std::string>()] = output["size_bytes"].get<uint64_t>();
  }
  return blobs;
}

Status write_blob(const CatalogDoor& door, const Digest& digest, uint64_t size, BundleFile& file) {
  Sha256 hash;
  uint64_t written = 0;
  const auto sink = [&](Bytes part) {
    hash.update(part);
    written += part.size();
    return file.write(part);
  };
  CHECK_OK(door.read(digest, sink));
  if (hash.finish() == digest && written == size) return {};
  return Error{ErrorCode::corrupt_data,
               "blob " + digest.text() + " arrived with other bytes; try again"};
}

// Stores the blobs from where the manifest says they begin; says how many bytes there were.
Result<uint64_t> store_blobs(const CatalogDoor& door, const Bundle& bundle) {
  ByteSpan rest = bundle.blobs;
  for (const auto& [digest, size] : bundle.listed) {
    if (size > rest.size())
      return Error{ErrorCode::corrupt_data, "bundle: blob " + digest.text() + " is cut"};
    CHECK_OK(door.write(digest, rest.first(size)));
    rest = rest.subspan(size);
  }
  return bundle.blobs.size() - rest.size();
}

}  // namespace

Result<ExitCode> catalog_export(const CatalogDoor& door, const CatalogArguments& arguments,
                                Console& console) {
  CHECK_OK(words_between(arguments, 1, 10'000, "catalog export FILE [ENGINE...]"));
  TRY(const SigningKey key, SigningKey::load_or_create(signing_key_file()));
  CHECK_OK(check_output_file(arguments.words[0], files_that_begin_with(std::string(kBundleMagic))));
  TRY(const Json engines, engines_to_export(door, arguments));
  Json blobs = Json::array();
  uint64_t bytes = 0;
  for (const auto& [digest, size] : blobs_of_engines(engines)) {
    blobs.push_back({{"digest", digest}, {"size_bytes", size}});
    bytes += size;
  }
  const std::string manifest =
      Json{{"schema", kBundleSchema}, {"engines", engines}, {"blobs", blobs}}.dump(
          -1, ' ', false, Json::error_handler_t::replace);
  BundleFile file(arguments.words[0]);
  Bytes head(kBundleMagic);
  for (size_t i = 0; i < 8; ++i) head.push_back(static_cast<char>(manifest.size() >> (8 * i)));
  CHECK_OK(file.write(head + manifest));
  for (const Json& blob : blobs) {
    TRY(const Digest digest, Digest::parse(blob["digest"].get<std::string>()));
    CHECK_OK(write_blob(door, digest, blob["size_bytes"].get<uint64_t>(), file));
  }
  CHECK_OK(file.finish(key));
  if (arguments.json)
    print_json(console, {{"schema", "enginery.catalog.export/1"},
                         {"file", valid_utf8(arguments.words[0])},
                         {"engines", engines.size()},
                         {"bytes", bytes},
                         {"signer", key_id(key.public_key())}});
  else
    console.note(fmt::format(
        "{} ({}) written to {}, signed by {}; the other site trusts it with: enginery keys "
        "trust FILE (this site's enginery keys show --json has the key)",
        counted(engines.size(), "engine"), human_bytes(bytes), arguments.words[0],
        key_id(key.public_key())));
  return ExitCode::ok;
}

Result<ExitCode> catalog_import(const CatalogDoor& door, const CatalogArguments& arguments,
                                Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "catalog import FILE"));
  TRY(const MappedBundle file, MappedBundle::open(arguments.words[0]));
  TRY(const TrustStore trust, load_trust());
  const auto parts = check_signature(file.bytes(), trust);
  if (!parts.ok()) return parts.error().within(arguments.words[0]);
  const auto bundle = parse_bundle(parts->body);
  if (!bundle.ok()) return bundle.error().within(arguments.words[0]);
  TRY(const uint64_t bytes, store_blobs(door, *bundle));
  const std::vector<Json>& engines = bundle->engines;
  for (const Json& engine : engines)
    CHECK_OK(door("bundle-add", {}, {{"engine_document", engine}}));
  if (arguments.json)
    print_json(console, {{"schema", "enginery.catalog.import/1"},
                         {"engines", engines.size()},
                         {"bytes", bytes},
                         {"signer", key_id(parts->signer)}});
  else
    console.note(fmt::format("{} ({}) signed by {} {} in the catalog",
                             counted(engines.size(), "engine"), human_bytes(bytes),
                             key_id(parts->signer), engines.size() == 1 ? "is" : "are"));
  return ExitCode::ok;
}

}  // namespace enginery
