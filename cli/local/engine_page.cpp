#include "cli/local/engine_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "cli/local/engine_session.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace enginery {
namespace {

constexpr size_t kMaxBars = 40;
constexpr ptrdiff_t kBeforeStream = 7;  // of the table of layers: where the workspace stands

std::string share_text(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string microseconds(double us) {
  return us > 0 ? fmt::format("{:.2f}", us) : "";
}

// One colour for each kind of operator, in the order in which they first run.
std::map<std::string, size_t> colors_of(const std::vector<LayerInfo>& layers) {
  std::map<std::string, size_t> out;
  for (const LayerInfo& layer : layers) out.try_emplace(layer.op, out.size());
  return out;
}

std::vector<double> built_us(const EngineInfo& info) {
  std::vector<double> out;
  for (const LayerInfo& layer : info.layers) out.push_back(layer.median_us);
  return out;
}

std::vector<std::pair<std::string, std::string>> engine_facts(const EngineInfo& info) {
  std::vector<std::pair<std::string, std::string>> out = {
      {"SKU", info.sku + (info.provisional ? " (untuned)" : "")},
      {"precision", precision_text(info.precisions)},
      {"content", info.content_digest},
      {"file", human_bytes(static_cast<uint64_t>(info.file_bytes))},
      {"weights", human_bytes(static_cast<uint64_t>(info.weights_bytes))},
      {"arena", human_bytes(static_cast<uint64_t>(info.arena_bytes)) + " for each context"},
      {"latency when built",
       info.median_us > 0 ? human_milliseconds(info.median_us / 1000) + " ms" : ""}};
  for (const TensorInfo& input : info.inputs)
    out.emplace_back("input", input.name + " " + to_string(input.type));
  for (const TensorInfo& output : info.outputs)
    out.emplace_back("output", output.name + " " + to_string(output.type));
  return out;
}

std::string layer_detail(const LayerInfo& layer) {
  std::string out = layer.op + "\n" + layer.tactic;
  for (const std::string& output : layer.outputs) out += "\n-> " + output;
  if (layer.workspace_bytes > 0) out += "\nworkspace " + workspace_text(layer);
  return out;
}

// The slowest first.
void add_bars(HtmlPage& page, const EngineInfo& info, const std::vector<double>& us) {
  const double sum = std::max(std::accumulate(us.begin(), us.end(), 0.0), 1e-9);
  std::vector<size_t> order(us.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return us[a] > us[b]; });
  if (order.size() > kMaxBars) order.resize(kMaxBars);
  std::vector<HtmlBar> bars;
  for (const size_t i : order) {
    if (us[i] <= 0) continue;
    bars.push_back({info.layers[i].name, layer_detail(info.layers[i]), us[i],
                    fmt::format("{:.1f} us, {}", us[i], share_text(us[i] / sum))});
  }
  page.section("Time by layer", fmt::format("The slowest {}; all together {:.1f} us.",
                                            counted(bars.size(), "layer"), sum));
  page.bars(bars);
}

void add_timeline(HtmlPage& page, const EngineInfo& info, const std::vector<double>& us) {
  const std::vector<double> starts = layer_starts_us(info.layers, us);
  auto colors = colors_of(info.layers);
  HtmlDrawing drawing{"", "", 0, 1, {}};
  for (size_t i = 0; i < us.size(); ++i) {
    const LayerInfo& layer = info.layers[i];
    drawing.width = std::max(drawing.width, starts[i] + us[i]);
    drawing.height = std::max(drawing.height, layer.stream + 1.0);
    if (us[i] <= 0) continue;
    drawing.boxes.push_back(
        {starts[i], static_cast<double>(layer.stream), us[i], 1,
         fmt::format("{}: {:.2f} us from {:.2f} us\n", layer.name, us[i], starts[i]) +
             layer_detail(layer),
         colors[layer.op]});
  }
  drawing.x_title = fmt::format("{:.1f} us", drawing.width);
  drawing.y_title = "a row is a stream, a colour an operator";
  page.section("Timeline",
               "Each layer's own time, placed behind what it reads and what its stream runs before "
               "it; launches cost more or overlap more in truth.");
  page.drawing(drawing);
}

void add_arena(HtmlPage& page, const Plan& plan) {
  HtmlDrawing drawing{
      fmt::format("{} steps", plan.steps.size()),
      "addresses from 0 (top) to " + human_bytes(static_cast<uint64_t>(plan.arena_bytes)),
      std::max(1.0, static_cast<double>(plan.steps.size())),
      std::max(1.0, static_cast<double>(plan.arena_bytes)),
      {}};
  std::vector<std::string> names(plan.storages.size());
  for (const PlanTensor& tensor : plan.tensors) {
    std::string& name = names[static_cast<size_t>(tensor.storage)];
    name += (name.empty() ? "" : ", ") + tensor.name;
  }
  for (size_t s = 0; s < plan.storages.size(); ++s) {
    const Storage& storage = plan.storages[s];
    if (storage.kind != StorageKind::arena || storage.bytes == 0) continue;
    drawing.boxes.push_back(
        {static_cast<double>(storage.first_step), static_cast<double>(storage.offset),
         static_cast<double>(storage.last_step - storage.first_step + 1),
         static_cast<double>(storage.bytes),
         fmt::format("{}\n{} at {}, steps {} to {}", names[s].empty() ? "workspace" : names[s],
                     human_bytes(static_cast<uint64_t>(storage.bytes)), storage.offset,
                     storage.first_step, storage.last_step),
         s});
  }
  page.section("Memory", "What lies where in the arena, step by step from left to right.");
  page.drawing(drawing);
}

// Where the device's peaks are known (a loaded engine), the share of them that a layer reaches.
void add_layers(HtmlPage& page, const EngineInfo& info, const std::vector<double>& us,
                std::string_view remark) {
  const double sum = std::max(std::accumulate(us.begin(), us.end(), 0.0), 1e-9);
  const bool has_workspace = takes_workspace(info);
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < info.layers.size(); ++i) {
    const LayerInfo& layer = info.layers[i];
    const bool has_peak = us[i] > 0 && layer.roofline_us > 0;
    rows.push_back(
        {layer.name, layer.op, microseconds(us[i]), us[i] > 0 ? share_text(us[i] / sum) : "",
         has_peak ? share_text(layer.roofline_us / us[i]) : "",
         fmt::format("{:.2f}", layer.flops / 1e6), fmt::format("{:.2f}", layer.bytes / 1e6),
         std::to_string(layer.stream), layer.tactic, layer.problem});
    if (has_workspace)
      rows.back().insert(rows.back().begin() + kBeforeStream, workspace_text(layer));
  }
  page.section("Layers", remark);
  std::vector<Column> heads = {{"layer"},
                               {"operator"},
                               {"us", Align::right},
                               {"share", Align::right},
                               {"roofline", Align::right},
                               {"MFLOP", Align::right},
                               {"MB", Align::right},
                               {"stream", Align::right},
                               {"tactic"},
                               {"problem"}};
  if (has_workspace) heads.insert(heads.begin() + kBeforeStream, {"workspace", Align::right});
  page.table(heads, rows);
}

bool has_times(const std::vector<double>& us) {
  return std::any_of(us.begin(), us.end(), [](double one) { return one > 0; });
}

}  // namespace

std::vector<double> layer_starts_us(const std::vector<LayerInfo>& layers,
                                    const std::vector<double>& us) {
  std::vector<double> starts(layers.size(), 0);
  std::map<std::string, double> made_at;  // by tensor
  std::map<int, double> stream_free_at;
  for (size_t i = 0; i < layers.size(); ++i) {
    double start = stream_free_at[layers[i].stream];
    for (const std::string& input : layers[i].inputs) {
      const auto found = made_at.find(input);
      if (found != made_at.end()) start = std::max(start, found->second);
    }
    starts[i] = start;
    const double end = start + us[i];
    stream_free_at[layers[i].stream] = end;
    for (const std::string& output : layers[i].outputs) made_at[output] = end;
  }
  return starts;
}

std::string inspection_page(const EngineInfo& info, const EngineFile& file,
                            const std::function<void(HtmlPage&)>& more) {
  HtmlPage page(info.name + " for " + info.sku, "enginery inspect, " + info.builder);
  page.facts(engine_facts(info));
  const std::vector<double> us = built_us(info);
  if (has_times(us)) {
    add_bars(page, info, us);
    add_timeline(page, info, us);
  }
  add_arena(page, file.plan);
  add_layers(page, info, us,
             has_times(us) ? "Times are those of the build. enginery bench --dump-profile --html "
                             "measures them here, with shares of the roofline."
                           : "The engine has no times: enginery bench --dump-profile --html "
                             "measures them.");
  more(page);
  std::vector<std::pair<std::string, std::string>> provenance = info.provenance;
  provenance.insert(provenance.end(), info.hardware.begin(), info.hardware.end());
  provenance.insert(provenance.end(), info.software.begin(), info.software.end());
  page.section("Provenance");
  page.facts(provenance);
  return page.text();
}

std::string bench_page(const EngineInfo& info, const BenchFindings& findings) {
  HtmlPage page(info.name + " for " + info.sku, "enginery bench, " + info.builder);
  const LatencySummary l = summarize_latency(findings.samples.milliseconds);
  page.facts(engine_facts(info));
  page.section("Latency", fmt::format("{} in {:.2f} s; {:.1f} rows a second.",
                                      counted(findings.samples.milliseconds.size(), "run"),
                                      findings.samples.elapsed_seconds, findings.throughput_per_s));
  page.histogram(findings.samples.milliseconds, "ms");
  std::vector<Column> columns;
  std::vector<std::string> row;
  for (const auto& [name, ms] : std::vector<std::pair<std::string, double>>{{"min", l.min_ms},
                                                                            {"mean", l.mean_ms},
                                                                            {"p25", l.p25_ms},
                                                                            {"median", l.median_ms},
                                                                            {"p75", l.p75_ms},
                                                                            {"p90", l.p90_ms},
                                                                            {"p95", l.p95_ms},
                                                                            {"p99", l.p99_ms},
                                                                            {"max", l.max_ms}}) {
    columns.push_back({name + " ms"});
    row.push_back(fmt::format("{:.4f}", ms));
  }
  page.table(columns, {row});
  if (!findings.layer_us.empty()) {
    add_bars(page, info, findings.layer_us);
    add_timeline(page, info, findings.layer_us);
    add_layers(page, info, findings.layer_us, "Measured here, each layer alone.");
  }
  page.section("How it was measured");
  page.facts(findings.setting);
  return page.text();
}

bool takes_workspace(const EngineInfo& info) {
  return std::ranges::any_of(info.layers,
                             [](const LayerInfo& layer) { return layer.workspace_bytes > 0; });
}

std::string workspace_text(const LayerInfo& layer) {
  return layer.workspace_bytes > 0 ? human_bytes(static_cast<uint64_t>(layer.workspace_bytes)) : "";
}

std::string layers_text(const EngineInfo& info, int columns) {
  const bool has_workspace = takes_workspace(info);
  std::vector<Column> heads = {{"LAYER"},  {"OP"},    {"US", Align::right}, {"MFLOP", Align::right},
                               {"OUTPUT"}, {"TACTIC"}};
  if (has_workspace) heads.insert(heads.begin() + 4, {"WORKSPACE", Align::right});
  Table table(heads);
  for (const LayerInfo& layer : info.layers) {
    std::vector<std::string> row = {
        layer.name,
        layer.op,
        layer.median_us > 0 ? fmt::format("{:.2f}", layer.median_us) : "",
        fmt::format("{:.2f}", layer.flops / 1e6),
        layer.outputs.empty() ? "" : layer.outputs.front(),
        layer.tactic};
    if (has_workspace) row.insert(row.begin() + 4, workspace_text(layer));
    table.add(row);
  }
  return table.text(columns);
}

}  // namespace enginery
