#include "tuner/gate/probe.h"

#include <algorithm>
#include <cstring>

#include "engine/device/format_convert.h"

namespace enginery {
namespace {

// What fills an output before a launch: NaN, unless a right result is NaN, too; then a byte of
// which no type makes a likely number (half: 61,280, float: 1.3e36).
constexpr uint8_t kNan = 0xff, kUnlikely = 0x7b;

constexpr int kPlacement = 0;

CheckedResult wrong(const std::string& reason) {
  return {0, reason, FailureKind::wrong_result};
}

std::vector<uint8_t> poison_of(const std::vector<ExpectedOutput>& expected) {
  std::vector<uint8_t> out;
  for (const ExpectedOutput& e : expected)
    out.push_back(is_floating(e.values.type()) && e.nans == 0 && !e.rounds ? kNan : kUnlikely);
  return out;
}

// The compared elements of one output, in the type in which the tactic stores them.
Tensor pick_elements(const std::vector<uint8_t>& storage, const Dims& dims, const Format& format,
                     const ExpectedOutput& expected) {
  const Placement at(dims, format.layout);
  const auto size = static_cast<size_t>(element_bytes(format.type));
  Tensor stored(format.type, {static_cast<int64_t>(expected.elements.size())});
  auto* to = static_cast<uint8_t*>(stored.mutable_bytes());
  for (const int64_t e : expected.elements) {
    std::memcpy(to, storage.data() + static_cast<size_t>(at.offset(e)) * size, size);
    to += size;
  }
  return stored;
}

// Whether what lies between the pixels of an output with a pitch is as it was.
bool is_poison_between(const std::vector<uint8_t>& storage, const Dims& dims, const Format& format,
                       uint8_t poison) {
  if (!has_pitch(format)) return true;
  const auto pitch = static_cast<size_t>(format.layout.pitch * element_bytes(format.type)),
             width = static_cast<size_t>(dims[1] * element_bytes(format.type));
  for (size_t i = 0; i < storage.size(); ++i) {
    if (i % pitch >= width && storage[i] != poison) return false;
  }
  return true;
}

}  // namespace

Probe::Probe(const Problem& problem, ProbeSpec spec, Coverage coverage)
    : problem_(problem),
      data_(problem_, spec),
      coverage_(coverage),
      arithmetic_(arithmetic_of(problem)) {}

Result<std::unique_ptr<Probe>> Probe::make(const Problem& problem, Device& device, ProbeSpec spec,
                                           Coverage coverage, int placements) {
  auto out = std::make_unique<Probe>(problem, usable_draw(problem, spec, coverage), coverage);
  TRY(out->buffers_, ProblemBuffers::make(out->problem_, out->data_, device, placements));
  return out;
}

Result<std::shared_ptr<const PreparedTactic>> Probe::prepare(const TacticSource& source,
                                                             const Tactic& tactic) const {
  const std::vector<const Tensor*> weights = data_.weights(resolution_of(problem_, tactic));
  return source.prepare(problem_, tactic, weights);
}

Result<const std::vector<ExpectedOutput>*> Probe::expected(Resolution resolution) {
  auto found = expected_.find(resolution);
  if (found == expected_.end()) {
    TRY(auto outputs, expected_outputs(problem_, data_, resolution, coverage_));
    found = expected_.emplace(resolution, std::move(outputs)).first;
  }
  return &found->second;
}

std::string Probe::where(const std::string& what) const {
  return what + " (" + std::string(to_string(data_.spec().kind)) + " inputs, seed " +
         std::to_string(data_.spec().seed) + ")";
}

Result<CheckedResult> Probe::damage(const Tactic& tactic, const PreparedTactic& prepared) {
  TRY(const std::string around, buffers_->written_around(tactic, prepared, kPlacement));
  if (!around.empty())
    return CheckedResult{0, where(around + ": wrote outside its buffer (red zone)"),
                         FailureKind::red_zone};
  TRY(const int changed, buffers_->changed_input(tactic, kPlacement));
  if (changed >= 0) return wrong(where("it changed its input " + std::to_string(changed)));
  return CheckedResult();
}

CheckedResult Probe::compare_all(const Tactic& tactic, const std::vector<ExpectedOutput>& expected,
                                 const std::vector<Storage>& outputs) const {
  CheckedResult out;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (is_mostly_nan(expected[i]) && tactic.trust != Trust::reference)
      return wrong(where("it cannot be checked: most results are NaN"));
    const Tensor stored =
        pick_elements(outputs[i], problem_.outputs[i].type.dims, tactic.outputs[i], expected[i]);
    const ComparedOutput compared = compare(stored, expected[i], arithmetic_, tactic);
    if (!compared.wrong.empty())
      return wrong(where("output " + std::to_string(i) + ": " + compared.wrong));
    out.relative_error = std::max(out.relative_error, compared.relative_error);
  }
  return out;
}

Result<CheckedResult> Probe::check(const Tactic& tactic, const PreparedTactic& prepared,
                                   int launches) {
  TRY(const auto* wanted, expected(resolution_of(problem_, tactic)));
  std::vector<Storage> first;
  CheckedResult out;
  for (int launch = 0; launch < launches; ++launch) {
    CHECK_OK(buffers_->launch(tactic, prepared, kPlacement, poison_of(*wanted)));
    TRY(const CheckedResult damaged, damage(tactic, prepared));
    if (!damaged.rejected.empty()) return damaged;
    std::vector<Storage> outputs;
    for (size_t i = 0; i < wanted->size(); ++i) {
      TRY(outputs.emplace_back(), buffers_->output(tactic, i, kPlacement));
    }
    if (outputs == first) continue;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Dims& dims = problem_.outputs[i].type.dims;
      if (!is_poison_between(outputs[i], dims, tactic.outputs[i], poison_of(*wanted)[i]))
        return CheckedResult{0, where("output " + std::to_string(i) + ": wrote between its pixels"),
                             FailureKind::red_zone};
    }
    const CheckedResult compared = compare_all(tactic, *wanted, outputs);
    if (!compared.rejected.empty()) return compared;
    if (launch > 0 && tactic.deterministic)
      return wrong(where("two launches differ, though it is said to be deterministic"));
    out.relative_error = std::max(out.relative_error, compared.relative_error);
    first = std::move(outputs);
  }
  return out;
}

}  // namespace enginery
