// SQLite behind values and scopes: the one place that calls sqlite3_*.
//
// Where: below every table of the catalog and of the coordinator's queue; both live in one file, so
// a queue transition and a result commit can be one transaction. Threads: a Database is
// thread-safe. A Statement or Transaction holds the connection while it lives, and other threads
// wait; the holder's own thread may nest them. Keep both short, and never carry one to another
// thread. Read a statement to its end, or let it die, before beginning a transaction: a reader that
// turns writer is refused when another process has written meanwhile. Processes: several may open
// one file (a local build and a coordinator); writers take turns, a writer waits
// Options::busy_timeout at most and then gets a storage error. Errors: storage (read-only, full,
// permission, locked), corrupt_data (damaged or not a database), incompatible (made by a newer
// enginery), out_of_memory, internal (a statement that breaks the schema's rules).
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace enginery {

class Database;

// A prepared statement on loan from its database's cache, with its parameters bound; given back
// when it dies.
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Moves to the next row; false after the last one (and at once for statements without rows).
  Result<bool> step();

  // The current row's columns, from 0. Views live until the next step().
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  ByteSpan blob(int column) const;
  Digest digest(int column)
      const;  // a blob of another size than 32 is a broken promise of the schema: all zero
  bool is_null(int column) const;

 private:
  friend class Database;
  Statement(Database& database, std::unique_lock<std::recursive_mutex> lock, sqlite3_stmt* handle);
  void bind(int index, int64_t value);
  void bind(int index, uint64_t value) { bind(index, static_cast<int64_t>(value)); }
  void bind(int index, int value) { bind(index, static_cast<int64_t>(value)); }
  void bind(int index, bool value) { bind(index, static_cast<int64_t>(value)); }
  void bind(int index, double value);
  void bind(int index, std::string_view text);
  void bind(int index, const char* text) { bind(index, std::string_view(text)); }
  void bind(int index, const std::string& text) { bind(index, std::string_view(text)); }
  void bind(int index, ByteSpan blob);
  void bind(int index, const Digest& digest) {
    bind(index, std::as_bytes(std::span(digest.bytes)));
  }
  void bind(int index, std::nullptr_t);
  template <typename T>
  void bind(int index, const std::optional<T>& value) {
    value ? bind(index, *value) : bind(index, nullptr);
  }
  void keep_error(int code);

  Database* database_;
  std::unique_lock<std::recursive_mutex> lock_;
  sqlite3_stmt* handle_;
  int bind_error_ = 0;
};

// One step of a schema's history: applied once, in order of `version` (1, 2, ...), never edited
// after release.
struct Migration {
  int version;
  const char* sql;
};

struct DatabaseOptions {
  std::chrono::milliseconds busy_timeout{5000};
  bool quick_check = true;  // PRAGMA quick_check at open
  bool durable = true;      // synchronous FULL; false (tests, simulator) is OFF
};

// One connection. Strings bind as TEXT, ByteSpan and Digest as BLOB, std::optional without a value
// as NULL.
class Database {
  struct Opened {
    explicit Opened() = default;
  };

 public:
  // Opens or creates the file: WAL, 8 KiB pages, foreign keys on, application_id "engi".
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file,
                                                const DatabaseOptions& options = {});
  // A second connection to a database that another one of this process keeps open: for reading
  // only, which waits for no writer and holds none up.
  static Result<std::unique_ptr<Database>> open_reader(
      const std::filesystem::path& file,
      std::chrono::milliseconds busy_timeout = std::chrono::milliseconds(5000));
  // A database that lives in memory and dies with this object.
  static Result<std::unique_ptr<Database>> open_in_memory();
  ~Database();
  Database(const Database&) = delete;

  // A statement with ?1, ?2, ... bound to the arguments in order.
  template <typename... Args>
  Result<Statement> prepare(std::string_view sql, const Args&... args) {
    Result<Statement> statement = lease(sql);
    if (statement.ok()) {
      int index = 0;
      (statement->bind(++index, args), ...);
    }
    return statement;
  }

  // Runs one statement to its end; the number of rows that an INSERT, UPDATE or DELETE changed.
  template <typename... Args>
  Result<int64_t> execute(std::string_view sql, const Args&... args) {
    TRY(Statement statement, prepare(sql, args...));
    return finish(statement);
  }

  // The first column of the first row as an integer; nothing where there is no row or it is NULL.
  template <typename... Args>
  Result<std::optional<int64_t>> find_integer(std::string_view sql, const Args&... args) {
    TRY(Statement statement, prepare(sql, args...));
    TRY(bool row, statement.step());
    if (!row || statement.is_null(0)) return std::optional<int64_t>();
    return std::optional<int64_t>(statement.integer(0));
  }

  // Runs several statements separated by semicolons, without parameters.
  Status script(const char* sql);

  // Brings `module`'s tables to the last version of `migrations`, in one transaction. Each module
  // (cache, coordinator, ...) has a history of its own in the table schema_version. incompatible:
  // the file is newer.
  Status migrate(std::string_view module, std::span<const Migration> migrations);

  // The row id of the last INSERT; inside the transaction that made it.
  int64_t last_insert_id() const;

  // The problems that PRAGMA quick_check and foreign_key_check report; empty when the file is
  // sound.
  Result<std::vector<std::string>> check();

  const std::string& name() const { return name_; }

  // For open() and open_in_memory(), which alone can make the key.
  Database(Opened, std::string name) : name_(std::move(name)) {}

 private:
  friend class Statement;
  friend class Transaction;
  Result<Statement> lease(std::string_view sql);
  Result<int64_t> finish(Statement& statement);
  void give_back(sqlite3_stmt* handle);
  Status connect(const std::string& file, const DatabaseOptions& options);
  Status set_up_file(const DatabaseOptions& options);
  Status check_owner();
  Result<int64_t> version_of(std::string_view module);
  Error error(const std::string& what, int code) const;
  bool lost_transaction() const;

  std::string name_;
  sqlite3* handle_ = nullptr;
  std::recursive_mutex mutex_;
  std::map<std::string, sqlite3_stmt*, std::less<>> idle_;  // prepared statements that nobody holds
  int depth_ = 0;  // open transactions of the thread that holds mutex_
};

// BEGIN IMMEDIATE ... COMMIT, or ROLLBACK when it dies uncommitted. Inside another transaction of
// the same thread it is a savepoint: what it wrote stays only if the outer one commits too.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // Durable when the outermost one returns ok (with DatabaseOptions::durable).
  Status commit();

 private:
  Transaction(Database& database, std::unique_lock<std::recursive_mutex> lock, int depth);
  void roll_back();

  Database* database_;
  std::unique_lock<std::recursive_mutex> lock_;
  int depth_;  // 0: the real transaction; above: a savepoint
  bool open_ = true;
};

}  // namespace enginery
