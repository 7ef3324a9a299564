// A job as it is sent: the keys of every target, the model uploaded, the request repeated until it
// is answered.
//
// Where: `submit` makes one from a file, `retry` from a job and its model in the farm's catalog.
// Threads: one thread at a time, as the Client.
#pragma once

#include "cli/farm/follow_job.h"
#include "cli/farm/packed_model.h"
#include "cli/output/console.h"
#include "coordinator/client/client.h"

namespace enginery {

// What a submitter decides besides the model and its BuildOptions.
struct SubmitOptions {
  std::vector<std::string> targets;  // SKUs
  std::vector<std::string> tags;
  int32_t priority = 0;           // 100 more doubles the job's share
  bool rebuild = false;           // although the catalog has the engines
  bool wait_for_workers = false;  // queue for SKUs that no worker offers yet
  bool provisional = false;       // untuned engines for SKUs that no worker offers
  bool dry_run = false;
  bool try_quarantined = false;  // although steps ended the processes that ran them
  uint32_t tuning_workers = 0;   // that may share one tuning; 0: as many as are free
};

// The request for the coordinator. A target's keys name the toolchain of its workers where the farm
// (`skus`: what it answered) has any, else this program's own.
SubmitRequest make_submit_request(const PackedModel& packed, const LoadedModel& model,
                                  const BuildOptions& options, const SubmitOptions& submit,
                                  const std::vector<SkuView>& skus);

// Uploads the model, with progress, unless the farm has it or this is a dry run; submits; returns
// the job as the farm has it. Errors: as Client::submit.
Result<JobView> send_submission(Client& client, const PackedModel& packed,
                                const SubmitRequest& request, Console& console);

// follow_job for who has the model's file: when the job failed and the farm has lost the model
// meanwhile, it is sent once more, as a new job.
Result<JobView> follow_submission(Client& client, const PackedModel& packed,
                                  const SubmitRequest& request, const JobView& job,
                                  const FollowOptions& options, Console& console);

}  // namespace enginery
