// The rows of an InputSet through an engine, and rows for one that is given none.
//
// Where: `run` and `compare`. Threads: free functions without state; an engine may be shared.
#pragma once

#include "cli/local/engine_session.h"
#include "engine/data/input_set.h"
#include "engine/format/engine_file.h"

namespace enginery {

// The engine's inputs as InputSet wants them.
std::vector<InputDescription> input_descriptions(const EngineInfo& info);

// Every output over all rows, by name; shows progress on a terminal. Errors: those of the rows, of
// a run and of RowJoin.
Result<std::map<std::string, Tensor>> run_rows(const Engine& engine, InputSet& inputs,
                                               Console& console);

// All that an engine file holds, after its signature was checked. Errors: not_found, untrusted.
Result<EngineFile> read_trusted_engine(const std::string& file);

// A run's worth of inputs that fit the engine's operators, by name: the same for the same seed.
std::map<std::string, Tensor> made_up_rows(const EngineFile& engine, uint64_t seed);

}  // namespace enginery
