#include "pipeline/result.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace enginery {
namespace {

using nlohmann::json;

constexpr double kMaxCount = 1e18;

const std::string kWorkerOf = "worker.";  // and the step's name: who ran it

// A worker's text may be any bytes; JSON's must be UTF-8.
std::string dump_utf8(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <typename Named>
void merge_named(std::vector<Named>& into, const std::vector<Named>& from) {
  for (const Named& item : from) {
    const auto same = std::find_if(into.begin(), into.end(),
                                   [&](const Named& have) { return have.name == item.name; });
    if (same != into.end())
      *same = item;
    else
      into.push_back(item);
  }
  std::sort(into.begin(), into.end(),
            [](const Named& a, const Named& b) { return a.name < b.name; });
}

template <typename Named>
const Named* find_named(const std::vector<Named>& list, std::string_view name) {
  for (const Named& item : list)
    if (item.name == name) return &item;
  return nullptr;
}

ErrorCode code_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(kLastErrorCode); ++i)
    if (name == to_string(static_cast<ErrorCode>(i))) return static_cast<ErrorCode>(i);
  return ErrorCode::internal;
}

}  // namespace

bool is_output_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
                  c == '-';
         });
}

void absorb(Gathered& gathered, const StepResult& result) {
  merge_named(gathered.outputs, result.outputs);
  merge_named(gathered.metrics, result.metrics);
  merge_named(gathered.facts, result.facts);
}

const NamedBlob* blob_named(const std::vector<NamedBlob>& blobs, std::string_view name) {
  return find_named(blobs, name);
}

double number_named(const std::vector<NamedNumber>& numbers, std::string_view name) {
  const NamedNumber* found = find_named(numbers, name);
  return found ? found->value : 0;
}

uint64_t count_named(const std::vector<NamedNumber>& numbers, std::string_view name) {
  const double value = number_named(numbers, name);
  return value > 0 && value < kMaxCount ? static_cast<uint64_t>(value) : 0;
}

std::optional<HeldOutFigures> held_out_figures(const std::vector<NamedNumber>& metrics) {
  if (find_named(metrics, "accuracy_rows") == nullptr) return std::nullopt;
  const auto known = [&](std::string_view name) {
    return find_named(metrics, name) == nullptr ? -1 : number_named(metrics, name);
  };
  return HeldOutFigures{count_named(metrics, "accuracy_rows"), number_named(metrics, "sqnr_db"),
                        known("agreement"), known("top1"), known("float_top1")};
}

std::string text_named(const std::vector<NamedText>& texts, std::string_view name) {
  const NamedText* found = find_named(texts, name);
  return found ? found->value : "";
}

void state_worker(std::vector<NamedText>& facts, std::string_view step, const std::string& worker) {
  std::erase_if(facts, [](const NamedText& fact) { return fact.name.starts_with(kWorkerOf); });
  facts.push_back({kWorkerOf + std::string(step), worker});
}

std::string worker_of_step(const Gathered& gathered, std::string_view step) {
  return text_named(gathered.facts, kWorkerOf + std::string(step));
}

OutcomeKind outcome_kind(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::usage:
      return OutcomeKind::failed;
    case ErrorCode::out_of_memory:
      return OutcomeKind::out_of_memory;
    case ErrorCode::cancelled:
      return OutcomeKind::cancelled;
    case ErrorCode::timed_out:
      return OutcomeKind::back_pressure;
    case ErrorCode::storage:
      return OutcomeKind::storage;
    default:
      return OutcomeKind::internal;
  }
}

Outcome failed_outcome(const Error& error) {
  return failed_outcome(outcome_kind(error.code), error);
}

Outcome failed_outcome(OutcomeKind kind, const Error& error) {
  Outcome out;
  out.kind = kind;
  out.fault = {error.code, error.message};
  return out;
}

std::string outcome_json(const StepResult& result) {
  json out;
  out["metrics"] = json::object();
  out["facts"] = json::object();
  for (const NamedNumber& metric : result.metrics) out["metrics"][metric.name] = metric.value;
  for (const NamedText& fact : result.facts) out["facts"][fact.name] = fact.value;
  if (!result.success)
    out["fault"] = {{"code", to_string(result.fault.code)}, {"message", result.fault.message}};
  return dump_utf8(out);
}

void read_outcome_json(const std::string& text, StepResult& result) {
  const json in = json::parse(text, nullptr, false);
  if (!in.is_object()) return;
  if (const auto metrics = in.find("metrics"); metrics != in.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items())
      if (value.is_number()) result.metrics.push_back({name, value.get<double>()});
  if (const auto facts = in.find("facts"); facts != in.end() && facts->is_object())
    for (const auto& [name, value] : facts->items())
      if (value.is_string()) result.facts.push_back({name, value.get<std::string>()});
  const auto fault = in.find("fault");
  if (fault == in.end() || !fault->is_object()) return;
  if (const auto code = fault->find("code"); code != fault->end() && code->is_string())
    result.fault.code = code_named(code->get<std::string>());
  if (const auto message = fault->find("message"); message != fault->end() && message->is_string())
    result.fault.message = message->get<std::string>();
}

std::string fields_json(const std::vector<NamedText>& fields) {
  json out = json::object();
  for (const NamedText& field : fields) out[field.name] = field.value;
  return dump_utf8(out);
}

std::vector<NamedText> read_fields_json(const std::string& text) {
  const json in = json::parse(text, nullptr, false);
  std::vector<NamedText> fields;
  if (!in.is_object()) return fields;
  for (const auto& [name, value] : in.items())
    if (value.is_string()) fields.push_back({name, value.get<std::string>()});
  return fields;
}

ActionResult to_action_result(const Digest& key, const StepResult& result) {
  ActionResult row;
  row.key = key;
  row.generation = result.generation;
  row.success = result.success;
  row.outcome = outcome_json(result);
  for (const NamedBlob& blob : result.outputs)
    row.outputs.push_back({blob.name, blob.digest, blob.size_bytes});
  return row;
}

StepResult to_step_result(const ActionResult& row) {
  StepResult result;
  result.success = row.success;
  result.generation = row.generation;
  for (const ResultOutput& output : row.outputs)
    result.outputs.push_back({output.name, output.digest, output.size_bytes});
  read_outcome_json(row.outcome, result);
  return result;
}

}  // namespace enginery
