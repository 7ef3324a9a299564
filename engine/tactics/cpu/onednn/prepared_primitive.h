// PreparedPrimitive: a oneDNN primitive with its weights packed, as a prepared tactic.
#pragma once

#include "engine/tactics/cpu/onednn/recipe.h"

namespace enginery::onednn {

// Compiles the implementation and packs its weights. Throws dnnl::error.
std::shared_ptr<const PreparedTactic> prepare_primitive(std::shared_ptr<const Library> library,
                                                        const Recipe& recipe,
                                                        const Implementation& implementation,
                                                        Weights weights);

}  // namespace enginery::onednn
