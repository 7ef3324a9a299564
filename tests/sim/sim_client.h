// A client: submits jobs, repeats until it hears, waits for their ends, cancels some.
#pragma once

#include "tests/sim/world.h"

namespace enginery {

struct SimTarget {
  std::string sku, toolchain;
};

// What a client asks for.
enum class Demand : uint8_t {
  mixed,   // a few jobs over some time, some cancelled, some alike
  greedy,  // many different ones at once
  small,   // a few different ones, after the greedy client's
};

class SimClient {
 public:
  SimClient(World& world, std::string name, int jobs, std::vector<SimTarget> targets,
            Demand demand = Demand::mixed);
  void start();
  void hear(RequestId request, const Body& body);
  const std::string& name() const { return name_; }
  bool quiet() const { return open_ == 0; }
  // How long the slowest of its jobs took.
  Nanoseconds longest() const { return longest_; }
  // Ids of the jobs that the coordinator acknowledged.
  const std::vector<std::string>& acknowledged() const { return acknowledged_; }

 private:
  struct Job {
    SubmitRequest request;
    std::string model;  // its bytes
    RequestId submit_id, wait_id;
    std::string id;
    Nanoseconds asked_at{};
    bool ended = false;
  };
  SubmitRequest make_request(Job& job);
  void add_targets(SubmitRequest& submit);
  void submit(size_t index);
  void wait(size_t index);
  void ask(size_t index);
  void heard_job(Job& job, size_t index, const JobView& view);
  void heard_end(const Job& job, const JobView& view);

  World& world_;
  std::string name_;
  std::vector<SimTarget> targets_;
  Demand demand_;
  std::vector<Job> jobs_;
  std::vector<std::string> acknowledged_;
  size_t open_ = 0;
  Nanoseconds longest_{};
};

}  // namespace enginery
