// skus: device types: those of this machine, and those that the farm's workers offer where a
// coordinator answers.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"
#include "coordinator/views/farm_json.h"
#include "engine/device/sku_table.h"

namespace enginery {
namespace {

using Row = SkuLine;

Row& row_of(std::vector<Row>& rows, const std::string& sku, std::string_view kind) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.sku == sku; });
  if (found != rows.end()) return *found;
  rows.push_back({sku, std::string(kind)});
  return rows.back();
}

class SkusCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.flag(
        "--all", all_,
        "every SKU that enginery knows by name, not only those of this machine and the farm");
    options.flag("--local", local_, "do not ask a coordinator");
    options.flag("--names", names_, "only the names, one a line");
    options.flag("--json", json_, "print JSON (enginery.skus/1)");
    farm_.declare(options);
    options.about("`this` as a target is this machine's first SKU in the list.");
  }

  Result<ExitCode> run(Session& session) override {
    std::vector<Row> rows;
    for (const LocalSku& local : local_skus())
      row_of(rows, local.name, to_string(local.kind)).here = true;
    CHECK_OK(add_farm(session.console, rows));
    if (all_) {
      for (const SkuRow& known : sku_table()) row_of(rows, known.name, to_string(known.kind));
    }
    print(session.console, rows);
    return ExitCode::ok;
  }

 private:
  // Without an address a farm is optional: the command works alone.
  Status add_farm(Console& console, std::vector<Row>& rows) const {
    if (local_) return {};
    auto client = connect(farm_);
    if (!client.ok()) {
      if (!farm_.coordinator.empty()) return client.error();
      if (!names_ && !json_)
        console.note(
            "no coordinator answers, so these are this machine's alone (enginery up starts a "
            "farm)");
      return {};
    }
    TRY(const auto skus, (*client)->skus());
    for (const SkuView& sku : skus) {
      Row& row = row_of(rows, sku.sku, sku.kind);
      row.workers = sku.workers;
      row.idle = sku.idle;
      row.toolchains = sku.toolchains;
    }
    return {};
  }

  void print(Console& console, const std::vector<Row>& rows) const {
    if (json_) {
      return print_json(console, skus_json(rows));
    }
    Table table({{"SKU"}, {"KIND"}, {"HERE"}, {"WORKERS", Align::right}, {"IDLE", Align::right}});
    for (const Row& row : rows) {
      if (names_) console.print_line(row.sku);
      table.add({row.sku, row.kind, row.here == true ? "yes" : "", std::to_string(row.workers),
                 std::to_string(row.idle)});
    }
    if (names_) return;
    console.print(table.text(console.table_width()));
    for (const Row& row : rows) print_toolchains(console, row);
  }

  // Engines are built for one toolchain: `submit` takes the first. Those that nobody has any longer
  // are left out.
  static void print_toolchains(Console& console, const Row& row) {
    std::vector<std::string> lines;
    for (const ToolchainView& one : row.toolchains)
      if (one.workers > 0)
        lines.push_back("  " + std::to_string(one.workers) + " worker(s)  " + one.toolchain);
    if (lines.size() < 2) return;
    console.print_line("");
    console.print_line("Toolchains of " + row.sku + ", `submit` builds for the first:");
    for (const std::string& line : lines) console.print_line(line);
  }

  FarmOptions farm_;
  bool all_ = false, local_ = false, names_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_skus() {
  return std::make_unique<SkusCommand>();
}

}  // namespace enginery
