// The verbs' constructors, one for each file verb_*.cpp. The list that names them is verbs.cpp.
#pragma once

#include "cli/command.h"

namespace enginery {

std::unique_ptr<Command> make_build();
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_bench();
std::unique_ptr<Command> make_inspect();
std::unique_ptr<Command> make_verify();

std::unique_ptr<Command> make_up();
std::unique_ptr<Command> make_down();
std::unique_ptr<Command> make_coordinator();
std::unique_ptr<Command> make_worker();
std::unique_ptr<Command> make_runner();
std::unique_ptr<Command> make_skus();
std::unique_ptr<Command> make_workers();
std::unique_ptr<Command> make_drain();

std::unique_ptr<Command> make_submit();
std::unique_ptr<Command> make_jobs();
std::unique_ptr<Command> make_show();
std::unique_ptr<Command> make_logs();
std::unique_ptr<Command> make_wait();
std::unique_ptr<Command> make_explain();
std::unique_ptr<Command> make_cancel();
std::unique_ptr<Command> make_retry();
std::unique_ptr<Command> make_fetch();

std::unique_ptr<Command> make_catalog();
std::unique_ptr<Command> make_why_miss();

std::unique_ptr<Command> make_keys();
std::unique_ptr<Command> make_config();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_completion();
std::unique_ptr<Command> make_version();

}  // namespace enginery
