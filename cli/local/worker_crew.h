// This machine's workers as children of one process: which, with which arguments, and whether the
// coordinator knows them all.
//
// Where: `up` starts them beside a coordinator, `join` for one on another host. Threads: the main
// thread's.
#pragma once

#include <functional>
#include <memory>

#include "cli/options/options.h"
#include "cli/output/exit_code.h"
#include "cli/process/detach.h"
#include "cli/process/supervisor.h"
#include "coordinator/client/client.h"
#include "engine/device/sku_table.h"

namespace enginery {

// What `up` and `join` ask about workers.
struct CrewOptions {
  std::vector<std::string> skus;
  std::optional<int64_t> threads;
  std::string sandbox = "prefer";
  void declare(Options& options);
};

// One worker for each: every GPU is a device of its own, two of one SKU as well. Errors:
// incompatible (a SKU that this machine cannot run), usage; unavailable: a sandbox is required and
// there is none.
Result<std::vector<LocalSku>> crew_devices(const CrewOptions& options);

// A worker's arguments; `connection`: those that say where the coordinator is.
ChildSpec crew_child(const LocalSku& device, const CrewOptions& options,
                     const std::vector<std::string>& connection);

// Waits until the coordinator answers and knows every worker among the children. False: asked to
// end before that. Errors: of a child that cannot even start; timed_out after two minutes.
Result<bool> wait_for_crew(Supervisor& supervisor, const Clock& clock,
                           const std::function<std::unique_ptr<Client>()>& connect);

// What the foreground process of --detach says: the background one's announcement, or its failure.
Result<ExitCode> report_detached(Detached& detached, Console& console);

}  // namespace enginery
