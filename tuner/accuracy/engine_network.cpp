#include "tuner/accuracy/engine_network.h"

#include "engine/runtime/execution.h"

namespace enginery {

Result<NetworkRun> engine_network(std::shared_ptr<const Bytes> content, const Target& target,
                                  const Graph& graph) {
  TRY(EngineFile engine, read_unsigned_engine(std::move(content)));
  TRY(const auto program, Program::make(std::move(engine.plan), *target.device, target.sources));
  TRY(auto made, Execution::make(program));
  const std::shared_ptr<Execution> execution = std::move(made);
  std::vector<std::string> names;
  for (const ValueId v : graph.inputs()) names.push_back(graph.value(v).name);
  return NetworkRun([execution, names](const auto& inputs) -> Result<std::vector<Tensor>> {
    std::vector<const void*> in;
    for (const std::string& name : names) in.push_back(inputs.at(name).raw());
    std::vector<Tensor> outputs;
    std::vector<void*> to;
    for (const int t : execution->plan().outputs) {
      const TensorType& type = execution->plan().tensors[static_cast<size_t>(t)].type;
      outputs.emplace_back(type.type, type.dims);
    }
    for (Tensor& tensor : outputs) to.push_back(tensor.mutable_bytes());
    CHECK_OK(execution->run(in, to));
    return outputs;
  });
}

}  // namespace enginery
