// The keys of a build's steps: every fact that can change a step's result, as named fields.
//
// Where: `submit` sends them (without kind and trust domain, which the coordinator adds), a local
// build makes the same ones, so both find each other's results. The tuning's key has the network's
// structure instead of the model: no weights in it. Threads: free functions without state.
#pragma once

#include <string>
#include <vector>

#include "cache/action_key.h"
#include "engine/device/device.h"
#include "engine/options/options.h"
#include "schemas/values.h"

namespace enginery {

inline constexpr const char* kTrustDomain = "local";

// What the keys of one target are made of.
struct KeySubject {
  Digest model;      // of the packed bytes
  Digest structure;  // LoadedModel::structure_digest; only for the tuning's key
  std::string name;  // the engine's, which stands in its manifest
  std::string sku;
  std::string toolchain;  // toolchain_text of who builds; SkuView::toolchain of the farm
  BuildOptions options;   // with options_for; `provisional` by target
};

// `threads` 0 becomes the number of cores that this process may use, so that keys and engines name
// a number.
BuildOptions resolve_threads(BuildOptions options);
// The options as they hold for one target: a GPU has no use for `threads`, so there it is 0.
BuildOptions options_for(const std::string& sku, BuildOptions options);

// The toolchain as one line: "enginery=0.1.0;kernels=...;onednn=2.6.3". `info` is null where no
// such device is at hand (a provisional build): then this program's own facts alone.
std::string toolchain_text(DeviceKind kind, const DeviceInfo* info);

std::vector<NamedText> validate_key(const Digest& model, const BuildOptions& options);
std::vector<NamedText> tune_key(const KeySubject& subject);
std::vector<NamedText> engine_key(const KeySubject& subject);

// The whole key, as the coordinator makes it of the fields.
ActionKey action_key(std::string_view kind, const std::vector<NamedText>& fields);
// The key of assemble, verify and profile: the engine's key and the earlier steps' blobs in the
// order of their names.
ActionKey chained_key(std::string_view kind, const Digest& engine_key,
                      const std::vector<NamedBlob>& inputs);

}  // namespace enginery
