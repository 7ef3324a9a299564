// The target in a bounded loop that needs no libFuzzer: what every build runs as a test.
//
//   NAME_edits [--executions N] [--jobs N] [--seed N] [--kept FOLDER] [--found FOLDER]
//       Edits the seeds, the kept inputs and what was accepted of these edits, N times in all. The
//       seed is printed; the same seed, executions and jobs repeat the run. An input that breaks a
//       promise is left in FOLDER.
//   NAME_edits --replay FILE...       runs the files and says what becomes of each
//   NAME_edits --write-seeds FOLDER   what libFuzzer begins with
//
// ENGINERY_FUZZ_EXECUTIONS, ENGINERY_FUZZ_JOBS and ENGINERY_FUZZ_SEED stand for the options.
// Exit code 1: a finding; 2: wrong usage.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "engine/base/file.h"
#include "tests/fuzz/edits_job.h"

namespace enginery::test {
namespace {

constexpr const char* kDefaultExecutions = "20000";

struct Command {
  std::map<std::string, std::string> options;
  std::vector<std::string> files;

  bool has(const std::string& name) const { return options.contains(name); }
  // The option, the variable of that name, or `otherwise`.
  uint64_t number(const std::string& name, const char* variable,
                  const std::string& otherwise) const {
    const char* const set = std::getenv(variable);
    const auto given = options.find(name);
    const std::string& text = given != options.end() ? given->second : set ? set : otherwise;
    return std::strtoull(text.c_str(), nullptr, 10);
  }
};

// Options with their values, then files. False: not understood.
bool parse(int argc, char** argv, Command& command) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--replay") {
      command.options[word];
    } else if (word.starts_with("--")) {
      if (++i == argc) return false;
      command.options[word] = argv[i];
    } else {
      command.files.push_back(word);
    }
  }
  for (const auto& [name, value] : command.options) {
    const char* const known[] = {"--executions", "--jobs",   "--seed",       "--kept",
                                 "--found",      "--replay", "--write-seeds"};
    if (std::find(std::begin(known), std::end(known), name) == std::end(known)) return false;
  }
  return command.files.empty() != command.has("--replay");
}

Status replay(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    TRY(const Bytes bytes, read_file(file));
    const std::string_view fate = fuzz_target().fates[fuzz_target().run(bytes)];
    std::printf("%s: %.*s\n", file.c_str(), static_cast<int>(fate.size()), fate.data());
  }
  return {};
}

Status write_seeds(const std::string& folder) {
  CHECK_OK(make_folder(folder));
  TRY(const auto seeds, fuzz_target().seeds());
  for (const FuzzSeed& seed : seeds)
    CHECK_OK(write_file(std::filesystem::path(folder) / ("seed-" + seed.name), seed.bytes));
  std::printf("%zu seeds\n", seeds.size());
  return {};
}

Result<std::vector<FuzzSeed>> files_of(const std::string& folder) {
  std::vector<FuzzSeed> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    TRY(Bytes bytes, read_file(entry.path()));
    files.push_back({entry.path().filename().string(), std::move(bytes)});
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

// How many inputs met each fate: "812 refused, 44 ran".
std::string fates_text(const std::vector<std::unique_ptr<EditsJob>>& jobs) {
  std::string text;
  for (size_t f = 0; f < fuzz_target().fates.size(); ++f) {
    int64_t count = 0;
    for (const auto& job : jobs) count += job->fates()[f];
    text += (f ? ", " : "") + std::to_string(count) + " " + std::string(fuzz_target().fates[f]);
  }
  return text;
}

using Jobs = std::vector<std::unique_ptr<EditsJob>>;

// Each with a seed of its own and its share of the executions.
Result<Jobs> start_jobs(const Command& command, uint64_t seed) {
  const uint64_t executions =
      command.number("--executions", "ENGINERY_FUZZ_EXECUTIONS", kDefaultExecutions);
  const uint64_t count = std::max<uint64_t>(1, command.number("--jobs", "ENGINERY_FUZZ_JOBS", "1"));
  JobOptions options;
  if (command.has("--kept")) {
    TRY(options.kept, files_of(command.options.at("--kept")));
  }
  options.executions = static_cast<int64_t>(executions / count);
  Jobs jobs;
  for (uint64_t j = 0; j < count; ++j) {
    options.seed = seed + j;
    TRY(jobs.emplace_back(), EditsJob::start(options));
  }
  return jobs;
}

void wait_for(const Jobs& jobs) {
  for (bool running = true; running;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    running = false;
    for (const auto& job : jobs) running |= job->is_running();
  }
}

// Leaves the input in `folder` and says how it came about.
Status report_finding(const EditsJob& job, uint64_t seed, const std::filesystem::path& folder) {
  const Bytes input = job.last_input();
  const auto file =
      folder / (std::string(fuzz_target().name) + "-found-" + sha256(input).hex().substr(0, 16));
  CHECK_OK(make_folder(folder));
  CHECK_OK(write_file(file, input));
  std::printf("FOUND by the job of seed %llu after %lld inputs: %s; the input is in %s\n",
              static_cast<unsigned long long>(seed), static_cast<long long>(job.executions()),
              job.finding().c_str(), file.c_str());
  return {};
}

// The number of findings.
Result<int> run_jobs(const Command& command, uint64_t seed) {
  TRY(const Jobs jobs, start_jobs(command, seed));
  const auto began = std::chrono::steady_clock::now();
  wait_for(jobs);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  int findings = 0;
  int64_t inputs = 0;
  for (const auto& job : jobs) {
    const uint64_t own_seed = seed++;
    inputs += job->executions();
    if (job->finding().empty()) continue;
    ++findings;
    const auto folder = command.options.find("--found");
    CHECK_OK(
        report_finding(*job, own_seed, folder == command.options.end() ? "." : folder->second));
  }
  std::printf("%lld inputs in %.0f s: %s; %d findings\n", static_cast<long long>(inputs),
              took.count(), fates_text(jobs).c_str(), findings);
  return findings;
}

Result<int> fuzz(const Command& command) {
  const auto drawn =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const uint64_t seed =
      command.number("--seed", "ENGINERY_FUZZ_SEED", std::to_string(drawn % 1000000));
  std::printf("fuzzing %s with seed %llu (ENGINERY_FUZZ_SEED)\n", fuzz_target().name.data(),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return run_jobs(command, seed);
}

Result<int> obey(const Command& command) {
  if (command.has("--write-seeds")) {
    CHECK_OK(write_seeds(command.options.at("--write-seeds")));
    return 0;
  }
  if (command.has("--replay")) {
    CHECK_OK(replay(command.files));
    return 0;
  }
  return fuzz(command);
}

}  // namespace
}  // namespace enginery::test

int main(int argc, char** argv) {
  enginery::test::Command command;
  if (!enginery::test::parse(argc, argv, command)) {
    std::fprintf(stderr,
                 "usage: %s [--executions N] [--jobs N] [--seed N] [--kept FOLDER]"
                 " [--found FOLDER] | --replay FILE... | --write-seeds FOLDER\n",
                 argv[0]);
    return 2;
  }
  const auto findings = enginery::test::obey(command);
  if (!findings.ok()) return std::fprintf(stderr, "%s\n", findings.error().message.c_str()), 1;
  return *findings > 0;
}
