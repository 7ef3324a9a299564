// The pages that `inspect --html` and `bench --html` write: an engine's layers, its time by layer
// and stream, its memory; and what was measured of it. The table of layers that `inspect` prints.
//
// Where: between what an engine file holds and cli/output/html_page.h. Threads: free functions
// without state.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/local/bench_measure.h"
#include "cli/output/html_page.h"
#include "engine/format/engine_file.h"

namespace enginery {

// `info` and `file` are of one engine. The times are those of the build, where it has any. `more`
// adds sections between its layers and where it comes from.
std::string inspection_page(const EngineInfo& info, const EngineFile& file,
                            const std::function<void(HtmlPage&)>& more);

// What bench measured. `layer_us` runs parallel to EngineInfo::layers; empty without a profile.
struct BenchFindings {
  BenchSamples samples;
  std::vector<double> layer_us;
  double throughput_per_s = 0;
  std::vector<std::pair<std::string, std::string>>
      setting;  // threads, transfers, the device's state
};
std::string bench_page(const EngineInfo& info, const BenchFindings& findings);

// When each layer would run: after the layers that it reads from and those before it on its stream.
// `us` runs parallel to the layers; so do the starts.
std::vector<double> layer_starts_us(const std::vector<LayerInfo>& layers,
                                    const std::vector<double>& us);

// Whether a layer takes scratch memory; without one, tables have no column for it.
bool takes_workspace(const EngineInfo& info);
std::string workspace_text(const LayerInfo& layer);  // "2.0 MB"; "" for none

// A row for each, `columns` wide at most (0: as wide as they are).
std::string layers_text(const EngineInfo& info, int columns);

}  // namespace enginery
