// PreparedPrimitive: a oneDNN primitive with its weights packed, as a prepared tactic.
//
// Launches may run at the same time, each with a set of memory objects of its own.
#pragma once

#include "engine/tactics/cpu/onednn/recipe.h"

namespace enginery {

// Compiles the implementation and packs its weights. Throws dnnl::error.
std::shared_ptr<const PreparedTactic> prepare_primitive(
    std::shared_ptr<const OnednnLibrary> library, const OnednnRecipe& recipe,
    const OnednnImplementation& implementation, Weights weights);

}  // namespace enginery
