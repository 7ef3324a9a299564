// A catalog that an earlier enginery left (old_catalog.sql says how it was made): what is in it
// must answer for ever.
#pragma once

#include <filesystem>
#include <string>

namespace enginery::test {

// Its engine "net" for cpu-sse41: the key, and the file of 9,320 bytes.
inline constexpr const char* kOldEngineKey =
    "66d4525ec42f4aedad9299014342bee23481eede1c589a35749c7400360d4118";
inline constexpr const char* kOldEngine =
    "9572b8785dc5d4dfdd447d0a39d9d04c48f163a344df931af81937c421a5d8d1";
// The key of the engine "later" for cpu-avx2, which was still queued.
inline constexpr const char* kOldQueuedKey =
    "367bcdf372cd8ce0c30582fb111495b8942c6ab3ab813b9146de7d58df778c21";

// Makes catalog.db in the folder out of `sql_file`; "" or what SQLite complains about.
std::string restore_old_catalog(const std::filesystem::path& folder,
                                const std::filesystem::path& sql_file);

}  // namespace enginery::test
