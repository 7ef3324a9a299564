#include "cli/local/engine_rows.h"

#include "cli/local/user_keys.h"
#include "cli/output/progress.h"
#include "engine/base/file.h"
#include "engine/runtime/sample_inputs.h"

namespace enginery {

std::vector<InputDescription> input_descriptions(const EngineInfo& info) {
  std::vector<InputDescription> out;
  for (const TensorInfo& input : info.inputs) out.push_back({input.name, input.type});
  return out;
}

Result<std::map<std::string, Tensor>> run_rows(const Engine& engine, InputSet& inputs,
                                               Console& console) {
  const EngineInfo& info = engine.info();
  TRY(ExecutionContext context, engine.create_context());
  const SystemClock clock;
  ProgressDisplay display(console, clock);
  Buffers buffers(info);
  RowJoin join;
  for (const TensorInfo& output : info.outputs) {
    if (!output.run_time_axes.empty()) join.keep_whole(output.name);
  }
  if (inputs.batches() == 0) {
    std::map<std::string, TensorType> types;
    for (const TensorInfo& output : info.outputs) types[output.name] = output.type;
    CHECK_OK(join.add_none(types, batch_of(info)));
  }
  for (int64_t i = 0; i < inputs.batches(); ++i) {
    if (console.err_is_terminal()) {
      display.show({{"", "running", static_cast<uint64_t>(i),
                     static_cast<uint64_t>(inputs.batches()), 0, ""}});
    }
    TRY(InputBatch batch, inputs.batch(i));
    for (size_t k = 0; k < info.inputs.size(); ++k)
      buffers.set_input(k, batch.tensors.at(info.inputs[k].name));
    CHECK_OK(context.run(buffers.inputs(), buffers.fresh_outputs()));
    std::vector<Dims> dims(info.outputs.size());
    for (size_t k = 0; k < dims.size(); ++k) {
      TRY(dims[k], context.output_dims(k));
    }
    CHECK_OK(join.add(buffers.outputs(dims), batch_of(info), batch.valid_rows));
  }
  return join.finish();
}

Result<EngineFile> read_trusted_engine(const std::string& file) {
  TRY(const TrustStore trust, load_trust());
  TRY(Bytes bytes, read_file(file));
  auto read = read_engine(std::make_shared<const Bytes>(std::move(bytes)), trust);
  if (!read.ok()) return read.error().within(file);
  return read;
}

std::map<std::string, Tensor> made_up_rows(const EngineFile& engine, uint64_t seed) {
  std::vector<Tensor> made = sample_inputs(engine.plan, seed);
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < made.size(); ++i)
    out.emplace(engine.manifest.inputs[i].name, std::move(made[i]));
  return out;
}

}  // namespace enginery
