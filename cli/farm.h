// What the verbs that talk to a coordinator share.
#pragma once

#include <memory>
#include <string>

#include "cli/options.h"
#include "coordinator/client/client.h"

namespace enginery {

struct FarmOptions {
  std::string coordinator;  // "" means the one that `enginery up` starts
  void declare(Options& options);
};

// Connects within four seconds. unavailable: nobody answers, or it speaks another version; the message names the address
// and the command that starts a coordinator.
Result<std::unique_ptr<Client>> connect(const FarmOptions& options);

}  // namespace enginery
