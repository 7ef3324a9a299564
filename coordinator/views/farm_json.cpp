#include "coordinator/views/farm_json.h"

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

// Null where the device says nothing at all.
Json reading_row(const DeviceReading& reading) {
  if (reading == DeviceReading()) return nullptr;
  return {{"clock_mhz", json_known(reading.clock_mhz)},
          {"memory_clock_mhz", json_known(reading.memory_clock_mhz)},
          {"temperature_c", json_known(reading.temperature_c)},
          {"power_w", json_known(reading.power_w)},
          {"throttle_bits", reading.throttle_bits}};
}

Json worker_row(const WorkerView& worker) {
  return {{"id", worker.id},
          {"sku", worker.sku},
          {"state", to_string(worker.state)},
          {"pid", worker.pid},
          {"job", json_text_or_null(worker.job)},
          {"step", json_text_or_null(worker.step)},
          {"last_seen_s", worker.last_seen_seconds},
          {"host", worker.host},
          {"device", worker.device},
          {"device_state", reading_row(worker.reading)},
          {"health", valid_utf8(worker.health)},
          {"reason", json_text_or_null(worker.reason)}};
}

Json toolchain_rows(const SkuLine& sku) {
  Json rows = Json::array();
  for (const ToolchainView& one : sku.toolchains) {
    rows.push_back({{"toolchain", one.toolchain},
                    {"workers", one.workers},
                    {"idle", one.idle},
                    {"queued", one.queued}});
  }
  return rows;
}

Json engine_row(const EngineView& engine) {
  return {{"name", valid_utf8(engine.name)},
          {"sku", engine.sku},
          {"engine", engine.engine.text()},
          {"content_digest", engine.content_digest.text()},
          {"model", engine.model.text()},
          {"key", engine.key.text()},
          {"precision", engine.precision},
          {"size_bytes", engine.size_bytes},
          {"latency_ms", json_known(engine.latency_ms)},
          {"provisional", engine.provisional},
          {"created", json_time(engine.created_ns)},
          {"job", json_text_or_null(engine.job)}};
}

}  // namespace

Json workers_json(const std::vector<WorkerView>& workers) {
  Json rows = Json::array();
  for (const WorkerView& worker : workers) rows.push_back(worker_row(worker));
  return {{"schema", "enginery.workers/1"}, {"workers", rows}};
}

Json skus_json(const std::vector<SkuLine>& skus) {
  Json rows = Json::array();
  for (const SkuLine& sku : skus) {
    rows.push_back({{"sku", sku.sku},
                    {"kind", sku.kind},
                    {"this", sku.here ? Json(*sku.here) : Json(nullptr)},
                    {"workers", sku.workers},
                    {"idle", sku.idle},
                    {"toolchains", toolchain_rows(sku)}});
  }
  return {{"schema", "enginery.skus/1"}, {"skus", rows}};
}

Json engines_json(const std::vector<EngineView>& engines) {
  Json rows = Json::array();
  for (const EngineView& engine : engines) rows.push_back(engine_row(engine));
  return {{"schema", "enginery.engines/1"}, {"engines", rows}};
}

Json event_json(const EventView& event) {
  Json fields = Json::object();
  for (const NamedText& field : event.fields)
    fields[valid_utf8(field.name)] = valid_utf8(field.value);
  return {{"sequence", event.sequence},
          {"time", json_time(event.time_ns)},
          {"job", json_text_or_null(event.job)},
          {"kind", event.kind},
          {"fields", fields}};
}

Json events_json(const std::vector<EventView>& events, int64_t next) {
  Json rows = Json::array();
  for (const EventView& event : events) rows.push_back(event_json(event));
  return {{"schema", "enginery.events/1"}, {"events", rows}, {"next", next}};
}

}  // namespace enginery
