// The catalog's examination: `catalog verify`, and what the kill tests ask after every crash.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/catalog.h"

namespace enginery {

struct VerifyOptions {
  int64_t rehash_at_most =
      -1;             // blobs to hash again, chosen by digest order from a random start; -1: all
  uint64_t seed = 0;  // of that choice
  bool repair =
      false;  // set damaged blobs aside, forget results that need them, take up complete orphans
};

struct VerifyProblem {
  std::string kind;     // database, folder_away, corrupt_blob, missing_blob, corrupt_orphan,
                        // double_commit, bad_key, unreadable_blob
  std::string subject;  // digest, key or file
  std::string detail;
};

struct VerifyReport {
  std::vector<VerifyProblem> problems;
  int64_t blobs = 0;
  int64_t blobs_hashed = 0;
  uint64_t bytes_hashed = 0;
  int64_t results = 0;
  int64_t engines = 0;
  int64_t orphans = 0;  // complete files that a crash left without a row: harmless, not a problem
  int64_t repaired = 0;

  bool clean() const { return problems.empty(); }
};

// Checks the database, every reference, every key's bytes and the blobs' content. Others may work
// meanwhile. The Error is for what could not be examined at all (storage); everything found is in
// the report.
Result<VerifyReport> verify(Catalog& catalog, const VerifyOptions& options = {});

}  // namespace enginery
