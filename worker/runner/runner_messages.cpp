#include "worker/runner/runner_messages.h"

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

using nlohmann::json;

constexpr int kLastError = static_cast<int>(kLastErrorCode);
constexpr int kLastOutcome = static_cast<int>(OutcomeKind::input_gone);

std::string line_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

template <typename Enum>
Enum enum_named(const std::string& text, int last, Enum otherwise) {
  for (int i = 0; i <= last; ++i) {
    if (text == to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return otherwise;
}

json to_json_value(const Outcome& end) {
  json out = {{"kind", to_string(end.kind)},
              {"outputs", json::array()},
              {"metrics", json::array()},
              {"facts", json::array()}};
  if (end.kind != OutcomeKind::succeeded)
    out["fault"] = {{"code", to_string(end.fault.code)}, {"message", end.fault.message}};
  for (const NamedBlob& o : end.outputs)
    out["outputs"].push_back({o.name, o.digest.hex(), o.size_bytes});
  for (const NamedNumber& m : end.metrics) out["metrics"].push_back({m.name, m.value});
  for (const NamedText& f : end.facts) out["facts"].push_back({f.name, f.value});
  return out;
}

double number(const json& value) {
  return value.is_number() ? value.get<double>() : 0;
}  // NaN travels as null

Result<Digest> read_digest(const json& in) {
  auto digest = Digest::parse(in.get<std::string>());
  if (!digest.ok()) return Error{ErrorCode::corrupt_data, "runner: " + digest.error().message};
  return digest;
}

Result<Outcome> read_end(const json& in) {
  Outcome end;
  end.kind = enum_named(in.at("kind").get<std::string>(), kLastOutcome, OutcomeKind::internal);
  if (const auto fault = in.find("fault"); fault != in.end()) {
    end.fault.code =
        enum_named(fault->at("code").get<std::string>(), kLastError, ErrorCode::internal);
    end.fault.message = fault->at("message").get<std::string>();
  }
  for (const json& o : in.at("outputs")) {
    TRY(Digest digest, read_digest(o.at(1)));
    end.outputs.push_back({o.at(0).get<std::string>(), digest, o.at(2).get<uint64_t>()});
  }
  for (const json& m : in.at("metrics"))
    end.metrics.push_back({m.at(0).get<std::string>(), number(m.at(1))});
  for (const json& f : in.at("facts"))
    end.facts.push_back({f.at(0).get<std::string>(), f.at(1).get<std::string>()});
  return end;
}

Result<RunnerReport> read_report(const json& in) {
  if (const auto p = in.find("progress"); p != in.end()) {
    return RunnerReport(Progress{p->at(0).get<std::string>(), p->at(1).get<uint64_t>(),
                                 p->at(2).get<uint64_t>(), number(p->at(3))});
  }
  if (const auto text = in.find("log"); text != in.end())
    return RunnerReport(RunnerLog{text->get<std::string>()});
  if (const auto t = in.find("timing"); t != in.end()) {
    return RunnerReport(
        RunnerTiming{t->at("device").get<std::string>(), t->at("problem").get<std::string>(),
                     t->at("tactic").get<std::string>(), t->at("entry").get<std::string>(),
                     t->at("measured_ns").get<int64_t>()});
  }
  if (const auto t = in.find("trial"); t != in.end()) {
    return RunnerReport(RunnerTrial{t->at(0).get<std::string>(), t->at(1).get<std::string>(),
                                    t->at(2).get<std::string>(), t->at(3).get<bool>()});
  }
  if (const auto want = in.find("want_timings"); want != in.end()) {
    return RunnerReport(
        WantTimings{want->at(0).get<std::string>(), want->at(1).get<std::string>()});
  }
  if (const auto take = in.find("want_problem"); take != in.end()) {
    return RunnerReport(WantProblem{take->at(0).get<std::string>(), take->at(1).get<std::string>(),
                                    take->at(2).get<int>()});
  }
  if (const auto end = in.find("end"); end != in.end()) {
    TRY(Outcome outcome, read_end(*end));
    return RunnerReport(std::move(outcome));
  }
  const json& d = in.at("device");
  return RunnerReport(DeviceDescription{
      d.at("kind").get<std::string>(), d.at("name").get<std::string>(),
      d.at("physical_id").get<std::string>(), d.at("toolchain").get<std::string>(),
      d.at("compiles_for").get<std::vector<std::string>>()});
}

// Calls `read` with the line as JSON; what does not fit is corrupt_data.
template <typename F>
auto read_line(std::string_view line, const char* what, F&& read) -> decltype(read(json())) {
  const Error broken{ErrorCode::corrupt_data,
                     std::string("runner: not ") + what + ": " + std::string(line.substr(0, 200))};
  const json in = json::parse(line, nullptr, false);
  if (in.is_discarded()) return broken;
  try {
    return read(in);
  } catch (const json::exception&) {
    return broken;
  }
}

struct ReportWriter {
  json operator()(const Progress& p) const {
    return {{"progress", {p.phase, p.done, p.total, p.eta_seconds}}};
  }
  json operator()(const RunnerLog& log) const { return {{"log", log.text}}; }
  json operator()(const RunnerTiming& t) const {
    const json timing = {{"device", t.device},
                         {"problem", t.problem},
                         {"tactic", t.tactic},
                         {"entry", t.entry},
                         {"measured_ns", t.measured_ns}};
    return {{"timing", timing}};
  }
  json operator()(const RunnerTrial& t) const {
    return {{"trial", json::array({t.device, t.problem, t.tactic, t.over})}};
  }
  json operator()(const WantTimings& want) const {
    return {{"want_timings", json::array({want.device, want.problem})}};
  }
  json operator()(const WantProblem& take) const {
    return {{"want_problem", json::array({take.device, take.problem, take.left})}};
  }
  json operator()(const RunnerEnd& end) const { return {{"end", to_json_value(end)}}; }
  json operator()(const DeviceDescription& d) const {
    const json device = {{"kind", d.kind},
                         {"name", d.name},
                         {"physical_id", d.physical_id},
                         {"toolchain", d.toolchain},
                         {"compiles_for", d.compiles_for}};
    return {{"device", device}};
  }
};

}  // namespace

std::string to_line(const RunnerRequest& r) {
  json digests = json::object();
  for (const auto& [name, digest] : r.digests) digests[name] = digest.hex();
  return line_of({{"step", r.step},
                  {"name", r.name},
                  {"model_file", r.model_file},
                  {"sku", r.sku},
                  {"options", r.options},
                  {"worker", r.worker},
                  {"model", r.model.hex()},
                  {"inputs", r.inputs},
                  {"output_folder", r.output_folder},
                  {"memory_bytes", r.memory_bytes},
                  {"one_by_one", r.one_by_one},
                  {"assistant", r.assistant},
                  {"device_locked", r.device_locked},
                  {"stays", r.stays},
                  {"digests", std::move(digests)}});
}

std::string to_line(const RunnerReport& report) {
  return line_of(std::visit(ReportWriter{}, report));
}

std::string to_line(const KnownTimings& timings) {
  return line_of({{"timings", timings.entries}});
}

std::string to_line(const Taking& taking) {
  return line_of({{"taken", taking.taken}, {"sharers", taking.sharers}});
}

Result<RunnerRequest> parse_request(std::string_view line) {
  return read_line(line, "a request", [](const json& in) -> Result<RunnerRequest> {
    RunnerRequest r;
    r.step = in.at("step").get<std::string>();
    r.name = in.at("name").get<std::string>();
    r.model_file = in.at("model_file").get<std::string>();
    r.sku = in.at("sku").get<std::string>();
    r.options = in.at("options").get<std::string>();
    r.worker = in.at("worker").get<std::string>();
    TRY(r.model, read_digest(in.at("model")));
    r.inputs = in.at("inputs").get<std::map<std::string, std::string>>();
    r.output_folder = in.at("output_folder").get<std::string>();
    r.memory_bytes = in.at("memory_bytes").get<uint64_t>();
    r.one_by_one = in.at("one_by_one").get<bool>();
    r.assistant = in.at("assistant").get<int>();
    r.device_locked = in.at("device_locked").get<bool>();
    r.stays = in.at("stays").get<bool>();
    for (const auto& [name, hex] : in.at("digests").items()) {
      TRY(r.digests[name], read_digest(hex));
    }
    return r;
  });
}

Result<RunnerReport> parse_report(std::string_view line) {
  return read_line(line, "a report", read_report);
}

Result<KnownTimings> parse_known_timings(std::string_view line) {
  return read_line(line, "timings", [](const json& in) -> Result<KnownTimings> {
    return KnownTimings{in.at("timings").get<std::vector<std::string>>()};
  });
}

Result<Taking> parse_taking(std::string_view line) {
  return read_line(line, "a taking", [](const json& in) -> Result<Taking> {
    return Taking{in.at("taken").get<bool>(), in.at("sharers").get<int>()};
  });
}

}  // namespace enginery
