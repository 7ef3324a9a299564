#include "cli/local/catalog_door.h"

#include <nlohmann/json.hpp>

#include "coordinator/client/client.h"

namespace enginery {
namespace {

Result<Json> parse_document(Result<std::string> document) {
  if (!document.ok()) return document.error();
  Json json = Json::parse(*document, nullptr, false);
  if (json.is_object()) return json;
  return Error{ErrorCode::corrupt_data, "catalog: an answer that is no JSON document"};
}

Error wrong_blob(const Digest& digest) {
  return {ErrorCode::corrupt_data, "blob " + digest.text() + ": the bytes have another hash"};
}

CatalogCall call_of(const std::string& action, const std::vector<std::string>& words,
                    const Json& options) {
  const bool some = options.is_object() && !options.empty();
  return {action, words, some ? options.dump(-1, ' ', false, Json::error_handler_t::replace) : ""};
}

}  // namespace

Result<Json> CatalogDoor::operator()(const std::string& action,
                                     const std::vector<std::string>& words,
                                     const Json& options) const {
  return act(action, words, options);
}

CatalogDoor door_to(Catalog& catalog, Catalog& reader) {
  CatalogDoor door;
  door.act = [access = CatalogAccess{catalog, reader}](const std::string& action,
                                                       const std::vector<std::string>& words,
                                                       const Json& options) {
    return parse_document(carry_out(access, call_of(action, words, options)));
  };
  door.read = [&catalog](const Digest& digest, const ChunkSink& sink) -> Status {
    TRY(const uint64_t size, catalog.blobs().size(digest));
    for (uint64_t at = 0; at < size; at += kChunkBytes) {
      TRY(Bytes part, catalog.blobs().read_range(digest, at, kChunkBytes));
      CHECK_OK(sink(std::move(part)));
    }
    return {};
  };
  door.write = [&catalog](const Digest& digest, ByteSpan bytes) -> Status {
    if (sha256(bytes) != digest) return wrong_blob(digest);
    TRY([[maybe_unused]] const Digest stored, catalog.blobs().put(bytes));
    return {};
  };
  return door;
}

CatalogDoor door_to(std::shared_ptr<Client> client) {
  CatalogDoor door;
  door.act = [client](const std::string& action, const std::vector<std::string>& words,
                      const Json& options) {
    const CatalogCall call = call_of(action, words, options);
    const bool is_order = kind_of_action(action) == CatalogActionKind::order;
    return parse_document(is_order ? client->order_catalog({call.action, call.words, call.options})
                                   : client->ask_catalog({call.action, call.words, call.options}));
  };
  door.read = [client](const Digest& digest, const ChunkSink& sink) {
    return client->get_chunks(digest, 0, sink);
  };
  door.write = [client](const Digest& digest, ByteSpan bytes) -> Status {
    if (sha256(bytes) != digest) return wrong_blob(digest);
    const auto source = [&](uint64_t offset, size_t size) {
      return Result<Bytes>(Bytes(as_text(bytes.subspan(offset, size))));
    };
    return client->put_chunks(digest, bytes.size(), source);
  };
  return door;
}

void CatalogOptionsOfVerb::declare(Options& options) {
  place.declare(options);
  options.text("--coordinator", farm.coordinator, "URL",
               "the catalog of this coordinator instead (--data, where it is given, is stronger)");
  farm.declare_key(options);
}

Result<CatalogDoor> open_door(const CatalogOptionsOfVerb& where, NoCatalog missing) {
  if (where.place.data.empty() && where.farm.is_named()) {
    TRY(std::unique_ptr<Client> client, connect(where.farm));
    return door_to(std::shared_ptr<Client>(std::move(client)));
  }
  struct Opened {
    std::unique_ptr<Catalog> catalog, reader;
  };
  auto opened = std::make_shared<Opened>();
  TRY(opened->catalog, missing == NoCatalog::is_made ? open_catalog(where.place)
                                                     : open_existing_catalog(where.place));
  TRY(opened->reader, Catalog::open_reader(*opened->catalog));
  CatalogDoor door = door_to(*opened->catalog, *opened->reader);
  door.act = [opened, act = std::move(door.act)](
                 const std::string& action, const std::vector<std::string>& words,
                 const Json& options) { return act(action, words, options); };
  return door;
}

}  // namespace enginery
