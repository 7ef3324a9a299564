#include "tests/cache/old_catalog.h"

#include <sqlite3.h>

#include <fstream>
#include <sstream>

namespace enginery::test {

std::string restore_old_catalog(const std::filesystem::path& folder,
                                const std::filesystem::path& sql_file) {
  std::stringstream sql;
  sql << std::ifstream(sql_file).rdbuf();
  sqlite3* database = nullptr;
  sqlite3_open((folder / "catalog.db").c_str(), &database);
  char* message = nullptr;
  sqlite3_exec(database, sql.str().c_str(), nullptr, nullptr, &message);
  const std::string problem = message != nullptr ? message : "";
  sqlite3_free(message);
  sqlite3_close(database);
  return problem;
}

}  // namespace enginery::test
