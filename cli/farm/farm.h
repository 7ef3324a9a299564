// What the verbs that talk to a coordinator share.
#pragma once

#include <memory>
#include <string>

#include "cli/options/options.h"
#include "coordinator/client/client.h"

namespace enginery {

struct FarmOptions {
  std::string coordinator;  // "" means the one that `enginery up` starts
  void declare(Options& options);
};

// The words of a verb that asks about one job: JOB, --json and where the coordinator listens.
struct JobQuestion {
  FarmOptions farm;
  std::string job;
  bool json = false;
  // `json_schema` is what --json prints, for its help: "enginery.job/1".
  void declare(Options& options, const std::string& json_schema);
};

// Connects within four seconds. unavailable: nobody answers, or it speaks another version; the
// message names the address and the command that starts a coordinator.
Result<std::unique_ptr<Client>> connect(const FarmOptions& options);

}  // namespace enginery
