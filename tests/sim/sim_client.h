// A client: submits jobs, repeats until it hears, waits for their ends, cancels some.
#pragma once

#include "tests/sim/world.h"

namespace enginery {

class SimClient {
 public:
  SimClient(World& world, std::string name, int jobs, int skus);
  void start();
  void hear(RequestId request, const Body& body);
  const std::string& name() const { return name_; }
  bool quiet() const { return open_ == 0; }
  // Ids of the jobs that the coordinator acknowledged.
  const std::vector<std::string>& acknowledged() const { return acknowledged_; }

 private:
  struct Job {
    SubmitRequest request;
    RequestId submit_id, wait_id;
    std::string id;
    bool ended = false;
  };
  SubmitRequest make_request();
  void submit(size_t index);
  void wait(size_t index);
  void ask(size_t index);
  void heard_job(Job& job, size_t index, const JobView& view);

  World& world_;
  std::string name_;
  int skus_;
  std::vector<Job> jobs_;
  std::vector<std::string> acknowledged_;
  size_t open_ = 0;
};

}  // namespace enginery
