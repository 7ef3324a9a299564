// A model file on its way to the farm: read, packed into one piece of bytes, and checked here
// before anything travels.
//
// Where: `submit` packs a file, `retry` takes the bytes from the farm's catalog; submission.h turns
// either into a request. Threads: free functions without state.
#pragma once

#include <memory>
#include <string>

#include "cli/output/console.h"
#include "engine/compile/compile.h"

namespace enginery {

struct PackedModel {
  std::string file;                                    // the file's name without folders
  std::string name;                                    // engine_name()
  Bytes bytes;                                         // the whole model: external data included
  Digest digest;                                       // of the bytes
  std::shared_ptr<const Bytes> calibration = nullptr;  // what its options name; null: nothing
  std::shared_ptr<const Bytes> calib_data = nullptr;   // likewise, all three
  std::shared_ptr<const Bytes> held_out = nullptr;
};

// Reads and packs the model. `file`: "-" is stdin. `name`: what --name says, "" where it was not
// given. Errors: not_found, storage, invalid_argument (not a model).
Result<PackedModel> pack_model_file(const std::string& file, const std::string& name);

// Imports, specialises, quantises and optimises the model, and prints the notes. Without the scales
// that a farm makes of calib_data the model is read in float. Errors:
// invalid_argument and unsupported, naming the node.
Result<LoadedModel> load_packed(const PackedModel& model, const BuildOptions& options,
                                Console& console);

}  // namespace enginery
