// The importer of network files (network_file.h). Stateless: any number of threads may import at
// once.
#pragma once

#include <memory>

#include "engine/import/importer.h"

namespace enginery {

// For make_importers; knows the files by their first bytes, whatever they are called.
std::unique_ptr<Importer> make_network_importer();

}  // namespace enginery
