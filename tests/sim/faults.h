// What can go wrong in the simulation, how likely it is, and what it did.
#pragma once

namespace enginery {

// The probabilities of the faults.
struct Faults {
  // A message.
  double lose = 0.05, repeat = 0.05, slow = 0.1;
  // The coordinator, an event.
  double crash_before_commit = 0.004, crash_after_commit = 0.004, crash_between_replies = 0.004;
  double stall = 0.0005;
  // Its disk, an event.
  double disk_full = 0.002, look_up_fails = 0.002, load_fails = 0.1;  // load: a start
  double blob_lost = 0.0003, blob_damaged = 0.0003;
  double lying_disk = 0;  // a commit: only to see that it is noticed
  // A worker, a Sync.
  double worker_crash = 0.01, worker_freeze = 0.004;
  // A step.
  double worker_stops = 0.02, worker_lies = 0.005, internal = 0.02, runner_dies = 0.005;
  double out_of_memory = 0.01, worker_disk = 0.01, back_pressure = 0.02, preempted = 0.01;
  double stops_itself = 0.01;
  // The farm, an event.
  double clock_jump = 0.01;  // wall time
  double partition = 0.0005, drain = 0.0005;

  static Faults none();
};

inline Faults Faults::none() {
  Faults calm;
  for (double* fault : {&calm.lose,
                        &calm.repeat,
                        &calm.slow,
                        &calm.stall,
                        &calm.disk_full,
                        &calm.look_up_fails,
                        &calm.load_fails,
                        &calm.blob_lost,
                        &calm.blob_damaged,
                        &calm.lying_disk,
                        &calm.worker_crash,
                        &calm.worker_freeze,
                        &calm.worker_stops,
                        &calm.worker_lies,
                        &calm.internal,
                        &calm.runner_dies,
                        &calm.worker_disk,
                        &calm.back_pressure,
                        &calm.preempted,
                        &calm.stops_itself,
                        &calm.clock_jump,
                        &calm.partition,
                        &calm.drain,
                        &calm.out_of_memory,
                        &calm.crash_before_commit,
                        &calm.crash_after_commit,
                        &calm.crash_between_replies})
    *fault = 0;
  return calm;
}

// What the faults did to the steps of a key; the retry rules must bear all but the last of each.
struct Harm {
  int kills = 0, internal = 0, out_of_memory = 0, storage = 0, model_gone = 0;

  // More than is tried again.
  bool is_too_much() const {
    return kills >= 3 || internal >= 3 || out_of_memory >= 2 || storage >= 6 || model_gone > 0;
  }
};

}  // namespace enginery
