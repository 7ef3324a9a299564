#include "cache/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "cache/file_ops.h"

namespace enginery {
namespace {

constexpr int64_t kApplicationId = 0x656e6769;  // "engi"
constexpr int64_t kFileFormat =
    1;  // user_version: changes only if the file itself changes its meaning
constexpr size_t kIdleStatements = 256;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOLFS:
    case SQLITE_PROTOCOL:
      return ErrorCode::storage;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::corrupt_data;
    case SQLITE_NOMEM:
      return ErrorCode::out_of_memory;
    case SQLITE_TOOBIG:
      return ErrorCode::invalid_argument;
    case SQLITE_INTERRUPT:
      return ErrorCode::cancelled;
    default:
      return ErrorCode::internal;
  }
}

std::string first_words(std::string_view sql) {
  return std::string(sql.substr(0, 60));
}

}  // namespace

// ---- Statement

Statement::Statement(Database& database, std::unique_lock<std::recursive_mutex> lock,
                     sqlite3_stmt* handle)
    : database_(&database), lock_(std::move(lock)), handle_(handle) {}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      lock_(std::move(other.lock_)),
      handle_(std::exchange(other.handle_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (handle_) database_->give_back(handle_);
}

void Statement::keep_error(int code) {
  if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::bind(int index, int64_t value) {
  keep_error(sqlite3_bind_int64(handle_, index, value));
}
void Statement::bind(int index, double value) {
  keep_error(sqlite3_bind_double(handle_, index, value));
}
void Statement::bind(int index, std::nullptr_t) {
  keep_error(sqlite3_bind_null(handle_, index));
}
void Statement::bind(int index, std::string_view text) {
  const char* data = text.data() ? text.data() : "";
  keep_error(sqlite3_bind_text64(handle_, index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}
void Statement::bind(int index, ByteSpan blob) {
  const void* data =
      blob.data() ? static_cast<const void*>(blob.data()) : "";  // null would bind NULL
  keep_error(sqlite3_bind_blob64(handle_, index, data, blob.size(), SQLITE_TRANSIENT));
}

Result<bool> Statement::step() {
  const char* sql = sqlite3_sql(handle_);
  if (bind_error_ != SQLITE_OK)
    return database_->error("bind '" + first_words(sql) + "'", bind_error_);
  if (database_->lost_transaction()) {
    return Error{ErrorCode::storage,
                 database_->name_ + ": the transaction was rolled back by an earlier failure"};
  }
  int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->error("run '" + first_words(sql) + "'", code);
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_, column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(handle_, column);
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_, column) == SQLITE_NULL;
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  return data ? std::string(data, static_cast<size_t>(sqlite3_column_bytes(handle_, column)))
              : std::string();
}

ByteSpan Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(handle_, column));
  return data ? ByteSpan(data, static_cast<size_t>(sqlite3_column_bytes(handle_, column)))
              : ByteSpan();
}

Digest Statement::digest(int column) const {
  Digest out;
  ByteSpan bytes = blob(column);
  if (bytes.size() == out.bytes.size()) std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
  return out;
}

// ---- Database

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file,
                                                 const DatabaseOptions& options) {
  auto database = std::make_unique<Database>(Opened(), file.string());
  CHECK_OK(database->connect(file.string(), options));
  CHECK_OK(database->set_up_file(options));
  return database;
}

Result<std::unique_ptr<Database>> Database::open_reader(const std::filesystem::path& file,
                                                        std::chrono::milliseconds busy_timeout) {
  auto database = std::make_unique<Database>(Opened(), file.string());
  DatabaseOptions options;
  options.busy_timeout = busy_timeout;
  CHECK_OK(database->connect(file.string(), options));
  CHECK_OK(database->check_owner());
  CHECK_OK(database->script("PRAGMA query_only=ON;"));
  return database;
}

Result<std::unique_ptr<Database>> Database::open_in_memory() {
  auto database = std::make_unique<Database>(Opened(), "(memory)");
  CHECK_OK(database->connect(":memory:", {}));
  return database;
}

Database::~Database() {
  for (auto& [sql, handle] : idle_) sqlite3_finalize(handle);
  sqlite3_close_v2(handle_);
}

Status Database::connect(const std::string& file, const DatabaseOptions& options) {
  int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int code = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) return error("open", code);
  sqlite3_busy_timeout(handle_, static_cast<int>(options.busy_timeout.count()));
  return script(
      "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA "
      "temp_store=MEMORY;");
}

// Refuses a database that something else, or a newer enginery, has made.
Status Database::check_owner() {
  TRY(auto tables, find_integer("SELECT count(*) FROM sqlite_master"));
  TRY(auto application, find_integer("PRAGMA application_id"));
  TRY(auto format, find_integer("PRAGMA user_version"));
  if (application.value_or(0) != kApplicationId &&
      (application.value_or(0) != 0 || tables.value_or(0) != 0)) {
    return Error{ErrorCode::corrupt_data,
                 name_ + ": a database of another application (application_id " +
                     std::to_string(application.value_or(0)) + ")"};
  }
  if (format.value_or(0) > kFileFormat) {
    return Error{ErrorCode::incompatible, name_ + ": made by a newer enginery (file format " +
                                              std::to_string(*format) + ", this one knows " +
                                              std::to_string(kFileFormat) + ")"};
  }
  return {};
}

Status Database::set_up_file(const DatabaseOptions& options) {
  if (sqlite3_db_readonly(handle_, "main") == 1) {
    return Error{ErrorCode::storage,
                 name_ + ": open for writing: the file or its folder is read-only"};
  }
  CHECK_OK(check_owner());
  TRY(auto tables, find_integer("SELECT count(*) FROM sqlite_master"));
  if (tables.value_or(0) == 0) CHECK_OK(script("PRAGMA page_size=8192;"));  // only works before WAL
  {
    TRY(Statement mode, prepare("PRAGMA journal_mode=WAL"));
    TRY(bool row, mode.step());
    if (!row || mode.text(0) != "wal") {
      return Error{ErrorCode::storage, name_ + ": write-ahead log refused, journal mode is '" +
                                           (row ? mode.text(0) : std::string("unknown")) + "'"};
    }
  }
  CHECK_OK(script(options.durable ? "PRAGMA synchronous=FULL;" : "PRAGMA synchronous=OFF;"));
  CHECK_OK(script("PRAGMA journal_size_limit=67108864;"));
  TRY(auto application, find_integer("PRAGMA application_id"));
  if (application.value_or(0) == 0) {
    std::string sql = "PRAGMA application_id=" + std::to_string(kApplicationId) +
                      "; PRAGMA user_version=" + std::to_string(kFileFormat) + ";";
    CHECK_OK(script(sql.c_str()));
  }
  if (!options.quick_check) return {};
  TRY(auto problems, check());
  if (problems.empty()) return {};
  return Error{ErrorCode::corrupt_data, name_ + ": quick_check: " + problems[0]};
}

Error Database::error(const std::string& what, int code) const {
  std::string reason = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  if ((code & 0xff) == SQLITE_BUSY) reason += " by another process";
  if ((code & 0xff) == SQLITE_FULL) reason += kMakeRoom;
  if ((code & 0xff) == SQLITE_IOERR) {
    int number = handle_ ? sqlite3_system_errno(handle_) : 0;
    if (number != 0) reason += std::string(" (") + std::strerror(number) + ")";
    if (number == ENOSPC) reason += kMakeRoom;
  }
  return {code_of(code), name_ + ": " + what + ": " + reason};
}

// SQLite rolls a transaction back by itself on a full disk; what follows must not run outside of
// it.
bool Database::lost_transaction() const {
  return depth_ > 0 && sqlite3_get_autocommit(handle_) != 0;
}

Result<Statement> Database::lease(std::string_view sql) {
  std::unique_lock lock(mutex_);
  sqlite3_stmt* handle = nullptr;
  if (auto found = idle_.find(sql); found != idle_.end()) {
    handle = found->second;
    idle_.erase(found);
  } else {
    int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                  SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
    if (code != SQLITE_OK) return error("prepare '" + first_words(sql) + "'", code);
    ENSURE(handle != nullptr, "an empty statement");
  }
  return Statement(*this, std::move(lock), handle);
}

void Database::give_back(sqlite3_stmt* handle) {
  sqlite3_reset(handle);
  sqlite3_clear_bindings(handle);
  if (idle_.size() >= kIdleStatements || !idle_.emplace(sqlite3_sql(handle), handle).second)
    sqlite3_finalize(handle);
}

Result<int64_t> Database::finish(Statement& statement) {
  while (true) {
    TRY(bool row, statement.step());
    if (!row) return static_cast<int64_t>(sqlite3_changes64(handle_));
  }
}

Status Database::script(const char* sql) {
  std::lock_guard lock(mutex_);
  if (lost_transaction()) {
    return Error{ErrorCode::storage,
                 name_ + ": the transaction was rolled back by an earlier failure"};
  }
  int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error("run '" + first_words(sql) + "'", code);
  return {};
}

Result<int64_t> Database::version_of(std::string_view module) {
  TRY(auto known,
      find_integer("SELECT 1 FROM sqlite_master WHERE type='table' AND name='schema_version'"));
  if (!known) return int64_t{0};
  TRY(auto version, find_integer("SELECT version FROM schema_version WHERE module=?1", module));
  return version.value_or(0);
}

Status Database::migrate(std::string_view module, std::span<const Migration> migrations) {
  int64_t last = migrations.empty() ? 0 : migrations.back().version;
  TRY(int64_t before, version_of(module));
  if (before == last) return {};  // the usual case takes no write lock
  TRY(Transaction transaction, Transaction::begin(*this));
  CHECK_OK(
      script("CREATE TABLE IF NOT EXISTS schema_version(module TEXT PRIMARY KEY, version INTEGER "
             "NOT NULL) "
             "WITHOUT ROWID;"));
  TRY(int64_t from, version_of(module));
  if (from > last) {
    return Error{ErrorCode::incompatible, name_ + ": the tables of '" + std::string(module) +
                                              "' have version " + std::to_string(from) +
                                              ", this enginery knows " + std::to_string(last)};
  }
  if (from == last) return transaction.commit();
  int64_t previous = 0;
  for (const Migration& migration : migrations) {
    ENSURE(migration.version == previous + 1, "migrations are numbered 1, 2, ...");
    previous = migration.version;
    if (migration.version <= from) continue;
    Status status = script(migration.sql);
    if (!status.ok()) {
      return status.error().within("migrate '" + std::string(module) + "' to version " +
                                   std::to_string(migration.version));
    }
  }
  CHECK_OK(
      execute("INSERT INTO schema_version(module, version) VALUES(?1, ?2) "
              "ON CONFLICT(module) DO UPDATE SET version=excluded.version",
              module, last));
  return transaction.commit();
}

int64_t Database::last_insert_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

Result<std::vector<std::string>> Database::check() {
  std::vector<std::string> problems;
  TRY(Statement quick, prepare("PRAGMA quick_check"));
  while (true) {
    Result<bool> row = quick.step();
    if (!row.ok() && row.error().code != ErrorCode::corrupt_data) return row.error();
    if (!row.ok()) problems.push_back(row.error().message);
    if (!row.ok() || !*row) break;
    if (quick.text(0) != "ok") problems.push_back(quick.text(0));
  }
  if (!problems.empty()) return problems;
  TRY(Statement keys, prepare("PRAGMA foreign_key_check"));
  while (true) {
    TRY(bool row, keys.step());
    if (!row) return problems;
    problems.push_back("row " + std::to_string(keys.integer(1)) + " of table " + keys.text(0) +
                       " names a row that table " + keys.text(2) + " lacks");
  }
}

// ---- Transaction

Transaction::Transaction(Database& database, std::unique_lock<std::recursive_mutex> lock, int depth)
    : database_(&database), lock_(std::move(lock)), depth_(depth) {}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(other.database_),
      lock_(std::move(other.lock_)),
      depth_(other.depth_),
      open_(std::exchange(other.open_, false)) {}

Result<Transaction> Transaction::begin(Database& database) {
  std::unique_lock lock(database.mutex_);
  int depth = database.depth_;
  std::string sql = depth == 0 ? "BEGIN IMMEDIATE" : "SAVEPOINT s" + std::to_string(depth);
  CHECK_OK(database.execute(sql));
  ++database.depth_;
  return Transaction(database, std::move(lock), depth);
}

Transaction::~Transaction() {
  if (open_) roll_back();
}

Status Transaction::commit() {
  ENSURE(open_, "a transaction commits once");
  ENSURE(database_->depth_ == depth_ + 1, "inner transactions end before outer ones");
  std::string sql = depth_ == 0 ? "COMMIT" : "RELEASE s" + std::to_string(depth_);
  Result<int64_t> done = database_->execute(sql);
  if (!done.ok()) {
    roll_back();
    return done.error();
  }
  open_ = false;
  --database_->depth_;
  lock_.unlock();
  return {};
}

void Transaction::roll_back() {
  std::string name = " s" + std::to_string(depth_);
  if (sqlite3_get_autocommit(database_->handle_) == 0) {
    if (depth_ == 0) {
      (void)database_->script("ROLLBACK");
    } else {
      (void)database_->script(("ROLLBACK TO" + name + "; RELEASE" + name).c_str());
    }
  }
  open_ = false;
  --database_->depth_;
  lock_.unlock();
}

}  // namespace enginery
