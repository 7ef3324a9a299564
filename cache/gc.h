// Collection: what nobody needs goes, and what its loss would cost is said before.
//
// Kept are the roots: pinned blobs, tagged engines, the newest engines of each model, SKU and
// toolchain, leased blobs, what running jobs need (the caller says it), and everything younger than
// the grace. A dropped blob takes the results and engines that need it away (completeness.h); they
// are misses from then on. Threads: free functions; the catalog is thread-safe, and others may work
// meanwhile.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cache/catalog.h"

namespace enginery {

struct GcOptions {
  int64_t newest = 3;                       // engines of each model, SKU and toolchain
  std::chrono::hours grace{24};             // no younger blob goes
  std::chrono::hours small_grace{30 * 24};  // nor a small one, which may save a measurement
  std::set<Digest> in_use;                  // by running jobs
  uint64_t bytes_to_free = UINT64_MAX;      // the oldest go first, until so much is free
  bool dry_run = false;
};

struct GcDropped {
  Digest digest;
  uint64_t size_bytes = 0;
  std::vector<std::string> rebuilds;  // what somebody who asks for it again must do: "engine net
                                      // for p4", "assemble for p4"; empty: nothing names it
};

struct GcReport {
  uint64_t bytes = 0, bytes_freed = 0;  // of all blobs, before; of those that go
  int64_t blobs = 0;                    // before
  std::vector<GcDropped> dropped;
};

// Lets the engines' contents and unsigned forms, which are their beginnings, share the engines'
// files; says how many files went. storage.
Result<int64_t> share_engine_files(Catalog& catalog);

// `reader`: the same catalog over a connection of its own, so that the long questions hold up
// nobody; null: `catalog` itself. storage: the catalog cannot be read, or a blob cannot be removed
// (what went before stays gone).
Result<GcReport> collect_garbage(Catalog& catalog, const GcOptions& options = {},
                                 Catalog* reader = nullptr);

// Keeps the blobs from being collected for kBlobLease from now on: somebody was told that they are
// there and is about to name them. One whose lease has half its time left costs no write. storage.
inline constexpr std::chrono::minutes kBlobLease{15};
Status lease_blobs(Catalog& catalog, Catalog& reader, std::span<const Digest> blobs);

// When the store is too full: above `high` of what it may have, it is emptied to `low` of it.
struct Watermarks {
  uint64_t quota_bytes = 0;  // 0: as much as the disk has
  double high = 0.9, low = 0.8;
};
// How much should go, of `used` bytes with `free` bytes left on the disk; 0 when there is room.
uint64_t bytes_above_watermark(uint64_t used, uint64_t free, const Watermarks& marks);

// Drops events, and results and engines that have been marked gone, from before `before_ns` (wall
// time), all but the newest `events_kept` events, and ended leases of blobs. A key's newest
// generation stays, so that its number is not used again, and so does what a tag names. In short
// transactions, so that others can write in between. Says how many rows went. storage.
Result<int64_t> prune_history(Catalog& catalog, int64_t before_ns, int64_t events_kept = INT64_MAX);

}  // namespace enginery
