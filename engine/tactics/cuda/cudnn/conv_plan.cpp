#include "engine/tactics/cuda/cudnn/conv_plan.h"

#include <algorithm>
#include <cstdio>

namespace enginery {
namespace {

constexpr int64_t kMaxResults = 10, kMaxKnobs = 32, kMaxNotes = 16;

Result<bool> has_note(const CudnnDescriptor& engine, cudnnBackendNumericalNote_t note) {
  std::vector<cudnnBackendNumericalNote_t> notes(kMaxNotes);
  TRY(int64_t count, engine.read(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                 kMaxNotes, notes.data()));
  return std::count(notes.begin(), notes.begin() + std::min(count, kMaxNotes), note) > 0;
}

Result<CudnnConfig> read_config(const CudnnDescriptor& descriptor) {
  CudnnConfig config;
  TRY(auto engines,
      descriptor.read_descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1));
  if (engines.empty())
    return Error{ErrorCode::internal, "cuDNN gave a configuration without an engine"};
  TRY(config.engine, engines[0].get_int64(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  TRY(bool varies, has_note(engines[0], CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
  TRY(config.tensor_cores, has_note(engines[0], CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
  TRY(config.down_converts, has_note(engines[0], CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
  config.deterministic = !varies;
  TRY(config.narrow_sums, has_note(engines[0], CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
  TRY(config.large_tiles, has_note(engines[0], CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13));
  TRY(const bool winograd, has_note(engines[0], CUDNN_NUMERICAL_NOTE_WINOGRAD));
  TRY(const bool fourier, has_note(engines[0], CUDNN_NUMERICAL_NOTE_FFT));
  if (winograd || config.large_tiles) config.algorithm = Algorithm::winograd;
  if (fourier) config.algorithm = Algorithm::fft;
  if (auto bytes = descriptor.get_int64(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE); bytes.ok())
    config.workspace_bytes = *bytes;
  TRY(auto choices, descriptor.read_descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, kMaxKnobs));
  for (const CudnnDescriptor& choice : choices) {
    cudnnBackendKnobType_t type{};
    TRY(int64_t count,
        choice.read(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type));
    TRY(int64_t value, choice.get_int64(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    if (count == 1) config.knobs.emplace_back(type, value);
  }
  std::sort(config.knobs.begin(), config.knobs.end());
  return config;
}

Result<std::vector<CudnnConfig>> ask(const Cudnn& cudnn, const ConvGraph& graph,
                                     cudnnBackendHeurMode_t mode) {
  TRY(CudnnDescriptor heuristic,
      CudnnDescriptor::create(cudnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
  CHECK_OK(heuristic.set_descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph));
  CHECK_OK(heuristic.set_one(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode));
  CHECK_OK(heuristic.finalize());
  TRY(auto results, heuristic.read_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                               CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, kMaxResults));
  std::vector<CudnnConfig> configs;
  for (const CudnnDescriptor& result : results) {
    TRY(CudnnConfig config, read_config(result));
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace

std::string CudnnConfig::name() const {
  std::string out = "eng" + std::to_string(engine);
  for (const auto& [type, value] : knobs)
    out += "_k" + std::to_string(type) + "=" + std::to_string(value);
  return out;
}

std::optional<CudnnConfig> CudnnConfig::parse(const std::string& name) {
  CudnnConfig config;
  long long engine = 0, type = 0, value = 0;
  int length = 0;
  if (std::sscanf(name.c_str(), "eng%lld%n", &engine, &length) != 1) return {};
  config.engine = engine;
  for (const char* rest = name.c_str() + length; *rest; rest += length) {
    if (std::sscanf(rest, "_k%lld=%lld%n", &type, &value, &length) != 2) return {};
    config.knobs.emplace_back(type, value);
  }
  return config;
}

bool keeps_promise(const CudnnConfig& config, Precision precision) {
  if (config.narrow_sums || config.large_tiles) return false;
  const bool transforms = config.algorithm != Algorithm::direct;
  if (precision == Precision::fp32) return !config.tensor_cores && !config.down_converts;
  if (precision == Precision::tf32) return config.tensor_cores && !transforms;
  return !transforms;
}

bool known_wrong(const CudnnConfig& config, const ConvShape& shape) {
  constexpr int64_t kTiledByHardware = 4, kLongestStride = 8;
  return config.engine == kTiledByHardware &&
         std::max(shape.stride_h, shape.stride_w) > kLongestStride;
}

Result<std::vector<CudnnConfig>> propose_configs(const Cudnn& cudnn, const ConvGraph& graph) {
  std::vector<CudnnConfig> out;
  std::string reason;
  for (auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    auto configs = ask(cudnn, graph, mode);
    if (!configs.ok()) {
      reason = configs.error().message;
      continue;
    }
    for (CudnnConfig& config : *configs) {
      bool known = std::any_of(out.begin(), out.end(),
                               [&](const CudnnConfig& c) { return c.name() == config.name(); });
      if (!known) out.push_back(std::move(config));
    }
  }
  if (out.empty()) return refusal("cuDNN proposes nothing" + (reason.empty() ? "" : ": " + reason));
  return out;
}

Result<CudnnPlan> make_plan(const Cudnn& cudnn, cudnnHandle_t handle, ConvGraph graph,
                            const CudnnConfig& config) {
  CudnnPlan out;
  out.graph = std::move(graph);
  TRY(CudnnDescriptor engine, CudnnDescriptor::create(cudnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
  CHECK_OK(engine.set_descriptor(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, out.graph.graph));
  CHECK_OK(engine.set_one(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, config.engine));
  CHECK_OK(engine.finalize());
  std::vector<cudnnBackendDescriptor_t> knobs;
  for (const auto& [type, value] : config.knobs) {
    TRY(CudnnDescriptor choice,
        CudnnDescriptor::create(cudnn, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
    CHECK_OK(choice.set_one(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                            static_cast<cudnnBackendKnobType_t>(type)));
    CHECK_OK(choice.set_one(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, value));
    CHECK_OK(choice.finalize());
    knobs.push_back(choice.get());
    out.parts.push_back(std::move(choice));
  }
  TRY(CudnnDescriptor chosen, CudnnDescriptor::create(cudnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  CHECK_OK(chosen.set_descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, engine));
  if (!knobs.empty()) {
    CHECK_OK(chosen.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                        static_cast<int64_t>(knobs.size()), knobs.data()));
  }
  CHECK_OK(chosen.finalize());
  TRY(out.plan, CudnnDescriptor::create(cudnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
  CHECK_OK(out.plan.set_one(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle));
  CHECK_OK(out.plan.set_descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, chosen));
  CHECK_OK(out.plan.finalize());
  TRY(out.workspace_bytes, out.plan.get_int64(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  out.parts.push_back(std::move(engine));
  out.parts.push_back(std::move(chosen));
  return out;
}

}  // namespace enginery
