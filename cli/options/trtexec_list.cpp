// The list of trtexec's options, in the order of its help.
#include "cli/options/trtexec.h"

namespace enginery {
namespace {

using enum TrtexecStanding;

constexpr bool kFlag = false, kValue = true;

constexpr std::string_view kTimed =
    "build does not time the engine: enginery bench ENGINE does, with this option";
constexpr std::string_view kNoFileOfBuild =
    "build times nothing, so it has nothing to write: give it to enginery bench ENGINE";
constexpr std::string_view kOneDevice =
    "the first device of the SKU is used; CUDA_VISIBLE_DEVICES names another card";
constexpr std::string_view kNoDla = "there is no support for DLA cores; leave it out for the GPU";
constexpr std::string_view kNoPlugins =
    "there are no plugins; enginery doctor and build name every operator that is not supported";
constexpr std::string_view kNoRefit =
    "weights are not replaced in an engine; build the retrained model again, which measures "
    "nothing";
constexpr std::string_view kOneSku =
    "an engine is for one SKU; enginery submit --target a,b,c builds one for each device";
constexpr std::string_view kInterface =
    "inputs and outputs keep the model's types, densely packed in the model's order";
constexpr std::string_view kOnnxOnly = "models are read as ONNX; export to that";
constexpr std::string_view kRunWrites =
    "bench runs on random data: enginery run ENGINE --input NAME=FILE --output DIR";
constexpr std::string_view kInspect = "enginery inspect ENGINE shows the layers";
constexpr std::string_view kAllPercentiles =
    "median, mean, p90, p95 and p99 are over all runs and always printed";

constexpr TrtexecOption kOptions[] = {
    {"build", "--onnx", kValue, works, "MODEL"},
    {"build", "--model", kValue, refused, kOnnxOnly},
    {"build", "--deploy", kValue, refused, kOnnxOnly},
    {"build", "--uff", kValue, refused, kOnnxOnly},
    {"build", "--saveEngine", kValue, works, "--output"},
    {"build", "--loadEngine", kValue, refused,
     "build makes an engine of a model; enginery bench FILE times an engine"},
    {"build", "--shapes", kValue, works, "--shapes"},
    {"build", "--minShapes", kValue, works, "--min-shapes"},
    {"build", "--optShapes", kValue, works, "--opt-shapes"},
    {"build", "--maxShapes", kValue, works, "--max-shapes"},
    {"build", "--inputIOFormats", kValue, refused, kInterface},
    {"build", "--outputIOFormats", kValue, refused, kInterface},
    {"build", "--directIO", kFlag, refused, kInterface},
    {"build", "--workspace", kValue, works, "--mem-pool-size"},
    {"build", "--memPoolSize", kValue, works, "--mem-pool-size"},
    {"build", "--maxAuxStreams", kValue, works, "--max-aux-streams"},
    {"build", "--profilingVerbosity", kValue, works, "--profiling-verbosity"},
    {"build", "--avgTiming", kValue, accepted,
     "each tactic is timed as often as its spread asks for"},
    {"build", "--refit", kFlag, refused, kNoRefit},
    {"build", "--stripWeights", kFlag, refused, kNoRefit},
    {"build", "--weightless", kFlag, refused, kNoRefit},
    {"build", "--versionCompatible", kFlag, refused,
     "an engine is read by the release that built it and by later ones; others build it again"},
    {"build", "--hardwareCompatibilityLevel", kValue, refused, kOneSku},
    {"build", "--sparsity", kValue, refused, "there are no kernels for sparse weights"},
    {"build", "--noTF32", kFlag, accepted, "tf32 is used only where --precision allows it"},
    {"build", "--fp16", kFlag, works, "--precision=fp16"},
    {"build", "--bf16", kFlag, works, "--precision=bf16"},
    {"build", "--int8", kFlag, works, "--precision=int8"},
    {"build", "--fp8", kFlag, refused,
     "there is no fp8 arithmetic; --precision lists what there is"},
    {"build", "--int4", kFlag, refused,
     "there is no int4 arithmetic; --precision lists what there is"},
    {"build", "--best", kFlag, works, "--precision=best"},
    {"build", "--stronglyTyped", kFlag, accepted,
     "the model's own types are kept; --precision allows more beside them"},
    {"build", "--calib", kValue, works, "--calib"},
    {"build", "--precisionConstraints", kValue, accepted,
     "what --layer-precisions asks for always holds"},
    {"build", "--layerPrecisions", kValue, works, "--layer-precisions"},
    {"build", "--layerOutputTypes", kValue, refused,
     "results lie in the type that the layer's tactic gives; --layer-precisions says what a layer "
     "computes in"},
    {"build", "--layerDeviceTypes", kValue, refused, kNoDla},
    {"build", "--safe", kFlag, refused, "there is no runtime for safety certification"},
    {"build", "--consistency", kFlag, refused, "there is no runtime for safety certification"},
    {"build", "--restricted", kFlag, refused, "there is no runtime for safety certification"},
    {"build", "--buildOnly", kFlag, accepted, "build never times the engine"},
    {"build", "--skipInference", kFlag, accepted, "build never times the engine"},
    {"build", "--timingCacheFile", kValue, works, "--timing-cache"},
    {"build", "--errorOnTimingCacheMiss", kFlag, works, "--error-on-timing-cache-miss"},
    {"build", "--builderOptimizationLevel", kValue, works, "--level"},
    {"build", "--maxTactics", kValue, accepted, "--level says how many tactics are tried"},
    {"build", "--tacticSources", kValue, works, "--tactic-sources"},
    {"build", "--tempdir", kValue, accepted, "temporary files go where TMPDIR says"},
    {"build", "--profile", kValue, refused,
     "an engine has one shape for each input; build one engine for each shape"},
    {"build", "--markDebug", kValue, refused,
     "no tensor is kept for looking at; enginery inspect MODEL --optimized shows the graph"},
    {"build", "--useDLACore", kValue, refused, kNoDla},
    {"build", "--allowGPUFallback", kFlag, refused, kNoDla},
    {"build", "--plugins", kValue, refused, kNoPlugins},
    {"build", "--staticPlugins", kValue, refused, kNoPlugins},
    {"build", "--dynamicPlugins", kValue, refused, kNoPlugins},
    {"build", "--setPluginsToSerialize", kValue, refused, kNoPlugins},
    {"build", "--device", kValue, accepted, kOneDevice},
    {"build", "--verbose", kFlag, works, "--verbose"},
    {"build", "--iterations", kValue, accepted, kTimed},
    {"build", "--warmUp", kValue, accepted, kTimed},
    {"build", "--duration", kValue, accepted, kTimed},
    {"build", "--avgRuns", kValue, accepted, kTimed},
    {"build", "--percentile", kValue, accepted, kTimed},
    {"build", "--streams", kValue, accepted, kTimed},
    {"build", "--infStreams", kValue, accepted, kTimed},
    {"build", "--useCudaGraph", kFlag, accepted, kTimed},
    {"build", "--useSpinWait", kFlag, accepted, kTimed},
    {"build", "--noDataTransfers", kFlag, accepted, kTimed},
    {"build", "--separateProfileRun", kFlag, accepted, kTimed},
    {"build", "--dumpProfile", kFlag, accepted, kTimed},
    {"build", "--dumpLayerInfo", kFlag, accepted, kInspect},
    {"build", "--loadInputs", kValue, refused,
     "--input NAME=FILE gives the data on which the engine is verified"},
    {"build", "--dumpOutput", kFlag, refused, kRunWrites},
    {"build", "--exportOutput", kValue, refused, kRunWrites},
    {"build", "--exportTimes", kValue, refused, kNoFileOfBuild},
    {"build", "--exportProfile", kValue, refused, kNoFileOfBuild},
    {"build", "--exportLayerInfo", kValue, refused,
     "enginery inspect ENGINE --json prints the layers"},

    {"bench", "--loadEngine", kValue, works, "ENGINE"},
    {"bench", "--onnx", kValue, refused,
     "bench times an engine; enginery build MODEL makes one of a model"},
    {"bench", "--shapes", kValue, works, "--shapes"},
    {"bench", "--loadInputs", kValue, refused, kRunWrites},
    {"bench", "--iterations", kValue, works, "--iterations"},
    {"bench", "--warmUp", kValue, works, "--warm-up"},
    {"bench", "--duration", kValue, works, "--duration"},
    {"bench", "--sleepTime", kValue, refused, "bench makes no pauses between runs"},
    {"bench", "--idleTime", kValue, refused, "bench makes no pauses between runs"},
    {"bench", "--streams", kValue, works, "--streams"},
    {"bench", "--infStreams", kValue, works, "--streams"},
    {"bench", "--noDataTransfers", kFlag, works, "--no-data-transfers"},
    {"bench", "--useManagedMemory", kFlag, refused,
     "inputs and outputs are in memory of their own"},
    {"bench", "--useSpinWait", kFlag, accepted, "how the host waits is the device's choice"},
    {"bench", "--useCudaGraph", kFlag, works, "--use-cuda-graph"},
    {"bench", "--timeDeserialize", kFlag, refused, "loading an engine is not timed"},
    {"bench", "--timeRefit", kFlag, refused, kNoRefit},
    {"bench", "--separateProfileRun", kFlag, accepted, "the profile always is a run of its own"},
    {"bench", "--avgRuns", kValue, accepted, kAllPercentiles},
    {"bench", "--percentile", kValue, accepted, kAllPercentiles},
    {"bench", "--dumpProfile", kFlag, works, "--dump-profile"},
    {"bench", "--dumpOutput", kFlag, refused, kRunWrites},
    {"bench", "--dumpRawBindingsToFile", kFlag, refused, kRunWrites},
    {"bench", "--dumpLayerInfo", kFlag, accepted, kInspect},
    {"bench", "--exportTimes", kValue, works, "--export-times"},
    {"bench", "--exportOutput", kValue, refused, kRunWrites},
    {"bench", "--exportProfile", kValue, refused,
     "--dump-profile --json prints the profile; redirect it into the file"},
    {"bench", "--exportLayerInfo", kValue, refused,
     "enginery inspect ENGINE --json prints the layers"},
    {"bench", "--device", kValue, accepted, kOneDevice},
    {"bench", "--useDLACore", kValue, refused, kNoDla},
    {"bench", "--plugins", kValue, refused, kNoPlugins},
    {"bench", "--verbose", kFlag, works, "--verbose"},
};

}  // namespace

std::span<const TrtexecOption> trtexec_options() {
  return kOptions;
}

}  // namespace enginery
