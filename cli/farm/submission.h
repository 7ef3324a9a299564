// A job as it is sent: keys for every target, the model uploaded, the request repeated until it is
// answered.
//
// Where: `submit` makes one from a file, `retry` from a job and its model in the farm's catalog.
#pragma once

#include "cli/options/build_request.h"
#include "cli/output/console.h"
#include "coordinator/client/client.h"

namespace enginery {

struct SubmitOptions {
  std::vector<std::string> targets;  // SKUs
  std::vector<std::string> tags;
  int32_t priority = 0;
  bool rebuild = false, wait_for_workers = false, provisional = false, dry_run = false;
};

// The request for the coordinator. A target's keys are made for the toolchain of its workers, where
// the farm has any.
SubmitRequest make_submit_request(const PackedModel& packed, const LoadedModel& model,
                                  const BuildOptions& options, const SubmitOptions& wish,
                                  const std::vector<SkuView>& farm);

// Uploads the model unless it is there or this is a dry run, with progress; submits; answers the
// job as the farm has it.
Result<JobView> send_submission(Client& client, const PackedModel& packed,
                                const SubmitRequest& request, Console& console);

}  // namespace enginery
