// What the verbs that talk to a coordinator share: its address, the key to it, the options of a
// verb about one job, and the connection.
//
// Where: below every verb of the farm and of jobs. Threads: as any value; a Client is one thread's.
#pragma once

#include <memory>
#include <string>

#include "cli/options/options.h"
#include "coordinator/client/client.h"

namespace enginery {

// Where the coordinator is, and with which key one comes to it.
struct FarmOptions {
  std::string coordinator;  // an address; "" means the key's, or the one that `enginery up` starts
  std::string key;          // a file of `enginery keys`; "": none
  bool insecure = false;    // no key, on the network either
  void declare(Options& options);
  void declare_key(Options& options);  // without the address
  bool is_named() const { return !coordinator.empty() || !key.empty(); }
};

// The options of a verb that asks about one job: JOB, --json and where the coordinator is.
struct JobQuestion {
  FarmOptions farm;
  std::string job;
  bool json = false;
  // `json_schema`: what --json prints, for its help ("enginery.job/1").
  void declare(Options& options, const std::string& json_schema);
};

// The way to the coordinator, with the key read.
struct FarmWay {
  std::string address;  // "" means default_control_address()
  std::string name;  // what the coordinator calls the key; "" without one, or where it is not said
  Dial dial;
};
// Errors: not_found, untrusted or corrupt_data, where the key's file is not there, is open to
// others, or is none.
Result<FarmWay> way_to(const FarmOptions& options);

// Connects within four seconds. Errors: unavailable, where no coordinator answers or it speaks
// another version; the message names the address and the command that starts one. untrusted: it
// refuses the key.
Result<std::unique_ptr<Client>> connect(const FarmOptions& options);

}  // namespace enginery
