#include "coordinator/server/timing_pages.h"

#include <algorithm>

namespace enginery {
namespace {

constexpr int64_t kPageRows = 1000;
constexpr size_t kPageBytes = 1 << 20;

uint64_t place_of(const Digest& problem) {
  uint64_t place = 0;
  for (size_t i = 0; i < sizeof place; ++i) place = place << 8 | problem.bytes[i];
  return place;
}

// The least digest of a place.
Digest first_of(uint64_t place) {
  Digest first;
  for (size_t i = 0; i < sizeof place; ++i)
    first.bytes[i] = static_cast<uint8_t>(place >> (8 * (sizeof place - 1 - i)));
  return first;
}

// A page that is being filled; rows come in the order of their problems.
struct Page {
  TimingList list;
  size_t bytes = 0;

  bool full() const {
    return static_cast<int64_t>(list.entries.size()) >= kPageRows || bytes >= kPageBytes;
  }
  // Whether the row belongs to the page; the first that does not says where the next page begins.
  bool take(TimingRow row) {
    const uint64_t place = place_of(row.problem);
    if (full() && place != place_of(list.entries.back().problem)) {
      list.complete = false;
      list.next_row = place;
      return false;
    }
    bytes += row.tactic.size() + row.entry.size() + 100;
    list.entries.push_back(
        {row.device, row.problem, std::move(row.tactic), std::move(row.entry), row.measured_ns});
    return true;
  }
};

Status fill(Page& page, Timings& timings, const GetTimings& request) {
  const auto take = [&](TimingRow row) { return page.take(std::move(row)); };
  if (request.problems.empty())
    return timings.from_problem(request.device, first_of(request.from_row), take);
  std::vector<Digest> problems = request.problems;
  std::sort(problems.begin(), problems.end());
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  for (const Digest& problem : problems) {
    if (place_of(problem) < request.from_row) continue;
    TRY(std::vector<TimingRow> rows, timings.of_problem(request.device, problem));
    for (TimingRow& row : rows)
      if (!page.take(std::move(row))) return {};
  }
  return {};
}

}  // namespace

Result<TimingList> timing_page(Timings& timings, const GetTimings& request) {
  Page page;
  CHECK_OK(fill(page, timings, request));
  return std::move(page.list);
}

}  // namespace enginery
