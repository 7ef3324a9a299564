#include "worker/steps/build_eta.h"

#include <algorithm>

namespace enginery {
namespace {

// Where a phase begins and ends in the whole build, 0..1: a rough division, which differs from
// model to model. What it is for is that the phases to come count.
struct Span {
  const char* phase;
  double begin, end;
};
constexpr Span kSpans[] = {
    {"code", 0, 0.30}, {"tune", 0.30, 0.75}, {"layouts", 0.75, 0.82}, {"network", 0.82, 0.92}};

}  // namespace

double BuildEta::seconds_left(const std::string& phase, int done, int total, double elapsed_s) {
  for (const Span& span : kSpans) {
    if (phase != span.phase || total <= 0) continue;
    const double part = std::clamp(static_cast<double>(done) / total, 0.0, 1.0);
    if (first_ < 0) first_ = span.begin;
    done_ = std::max(done_, span.begin + part * (span.end - span.begin));
  }
  const double since = done_ - first_;
  return first_ < 0 || since <= 0 ? 0 : elapsed_s * (1 - done_) / since;
}

}  // namespace enginery
