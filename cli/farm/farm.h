// What the verbs that talk to a coordinator share: its address, the options of a verb about one
// job, and the connection.
//
// Where: below every verb of the farm and of jobs. Threads: as any value; a Client is one thread's.
#pragma once

#include <memory>
#include <string>

#include "cli/options/options.h"
#include "coordinator/client/client.h"

namespace enginery {

// Where the coordinator is.
struct FarmOptions {
  std::string coordinator;  // an address; "" means the one that `enginery up` starts
  void declare(Options& options);
};

// The options of a verb that asks about one job: JOB, --json and where the coordinator is.
struct JobQuestion {
  FarmOptions farm;
  std::string job;
  bool json = false;
  // `json_schema`: what --json prints, for its help ("enginery.job/1").
  void declare(Options& options, const std::string& json_schema);
};

// Connects within four seconds. Errors: unavailable, where no coordinator answers or it speaks
// another version; the message names the address and the command that starts one.
Result<std::unique_ptr<Client>> connect(const FarmOptions& options);

}  // namespace enginery
