// The agent: the half of a worker that talks. It asks the coordinator for work, fetches inputs,
// starts a runner process for each step, hands its progress, log and timings on, uploads what it
// leaves and reports its end.
//
// Where: `enginery worker`, one for each device. It never opens a device itself: the runner
// describes it, too. It survives restarts of the coordinator: the step goes on, and the next Sync
// attaches it again. Threads: run_agent blocks its caller; `stop` is asked from that thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/client/link.h"
#include "engine/base/clock.h"
#include "pipeline/step.h"
#include "schemas/values.h"
#include "worker/runner/sandbox.h"

namespace enginery {

struct AgentOptions {
  std::string coordinator;  // address; "" means default_control_address()
  std::string sku;          // what this worker offers
  std::filesystem::path
      data;         // the worker's own folder: blob cache and runners' files; one agent a folder
  int threads = 0;  // CPU: for steps that do not say; 0: every allowed core
  int device_index = 0;  // GPU: which of the visible ones
  std::string name;      // "" means host/sku, with the index behind it when that is not 0
  std::vector<std::string> runner = {"/proc/self/exe", "runner"};  // program and arguments
  uint64_t blob_cache_bytes = uint64_t{4} << 30;
  uint64_t runner_memory_bytes = 0;  // a runner's limit on its data; 0: none
  SandboxMode sandbox = SandboxMode::prefer;
  // What the sensors of the device with this physical id say; empty: nothing. Asked every few
  // seconds, from the agent's thread.
  std::function<DeviceReading(const std::string& physical_id)> sensors;
  Dial dial;                            // empty: make_zmq_dial()
  StepTable steps = enginery::steps();  // the chain; tests add a row
  // When a Sync is repeated, progress is said, a stop gives up. Null: the machine's; otherwise it
  // outlives the agent.
  const Clock* clock = nullptr;
};

// Serves until `stop` says so (a running step is given up, to be resumed elsewhere) or the
// coordinator says exit. Errors: usage, storage (the folder is in use, read-only, full),
// unavailable (a sandbox is required and there is none), and the device's: not_found, incompatible,
// unavailable.
Status run_agent(const AgentOptions& options, const std::function<bool()>& stop);

}  // namespace enginery
