// The C interface of libenginery-build: put a network together layer by layer, and build a tuned,
// signed engine of it, or of a model file, in this process.
//
//   enginery_network* network = NULL;
//   enginery_tensor x, y;
//   const int64_t dims[] = {1, 1000};
//   enginery_network_create("net", &network);
//   enginery_network_add_input(network, "x", ENGINERY_FLOAT32, dims, 2, &x);
//   enginery_layer layer = {sizeof layer, "softmax"};
//   layer.inputs = &x;
//   layer.input_count = 1;
//   enginery_network_add_layer(network, &layer, &y, 1, NULL);
//   enginery_network_mark_output(network, y, "y");
//   if (enginery_build_network(network, NULL, take_bytes, file, NULL) != ENGINERY_OK)
//     puts(enginery_build_last_error());
//
// Errors, handles, stability: as in enginery.h. What is wrong with a layer is said when it is
// added, with the layer's name. A network in whose change memory ran out can only be destroyed: its
// other calls are OUT_OF_MEMORY. Operators, their attributes and their inputs are those of the
// folder engine/ops; enginery/network.hpp has a function for each of the usual ones. Threads: any
// number of threads may use a network, one after the other; a process builds one engine at a time.
#pragma once

#include "enginery/enginery.h"

#ifdef __cplusplus
extern "C" {
#endif

// "0.1.0"; static text.
ENGINERY_API const char* enginery_build_version(void);
// Why the last call of this library in this thread failed, as enginery_last_error.
ENGINERY_API const char* enginery_build_last_error(void);
// The words of the operators that a layer may have, from 0; NULL behind the last one. Static text.
ENGINERY_API const char* enginery_build_operator(int32_t index);

// --- networks ------------------------------------------------------------------------------------

typedef struct enginery_network enginery_network;

// A value of one network: an input, a constant, a layer's result. A number that no other network
// gives; ENGINERY_NO_TENSOR stands for an optional input that is absent.
typedef uint64_t enginery_tensor;
#define ENGINERY_NO_TENSOR ((enginery_tensor)0)

// Called with all of the bytes at once, which are gone afterwards. Not 0 ends the call with
// STORAGE.
typedef int32_t (*enginery_bytes_fn)(void* user, const void* data, size_t bytes);

// An empty network; `name` becomes its engine's. Errors: INVALID_ARGUMENT.
ENGINERY_API enginery_status enginery_network_create(const char* name, enginery_network** network);
// NULL is nothing to do. Errors: HANDLE (destroyed before).
ENGINERY_API enginery_status enginery_network_destroy(enginery_network* network);

// `dims`: `rank` sizes from 0 on, or -1 for one that enginery_build_options gives when it is built
// (shapes). Errors: HANDLE, INVALID_ARGUMENT (a name that is taken, no such type).
ENGINERY_API enginery_status enginery_network_add_input(enginery_network* network, const char* name,
                                                        enginery_type type, const int64_t* dims,
                                                        int32_t rank, enginery_tensor* tensor);
// Weights, or any other value that is known: `bytes` row-major elements, which are copied. `name`
// may be NULL. Errors: HANDLE, INVALID_ARGUMENT (`bytes` of another number than the type takes).
ENGINERY_API enginery_status enginery_network_add_constant(enginery_network* network,
                                                           const char* name, enginery_type type,
                                                           const int64_t* dims, int32_t rank,
                                                           const void* data, size_t bytes,
                                                           enginery_tensor* tensor);

// "kernel" "[3,3]": numbers, lists in brackets, true and false, and words, as text.
typedef struct enginery_attribute {
  const char* name;
  const char* value;
} enginery_attribute;

// One operator applied to tensors; zeros are the defaults.
typedef struct enginery_layer {
  size_t struct_size;
  const char* op;                        // "conv", "matmul", ...: enginery_build_operator
  const char* name;                      // NULL: the operator's word, made unique by a suffix
  const enginery_attribute* attributes;  // those that are absent have the operator's defaults
  const enginery_tensor* inputs;         // in the operator's order
  const char* const* output_names;       // one for each result; NULL: the layer's name
  // "float16", "bfloat16" or "float32": floating inputs are converted to it, the layer is one of
  // that type, which a device may compute in a wider one, and its results are converted back to the
  // type that they had without. NULL: as they come.
  const char* precision;
  const char* output_type;  // the results are converted to it; NULL: as they come
  int32_t attribute_count;
  int32_t input_count;
  int32_t output_name_count;
} enginery_layer;

// Adds a layer and gives its results, as many as its operator has, in `outputs`, which has room for
// `capacity`; their number in `count`, which may be NULL. Nothing is added where it fails. Errors:
// HANDLE; INVALID_ARGUMENT: a foreign tensor, an operator or attribute that there is not, inputs
// that the operator does not take, no room; UNSUPPORTED.
ENGINERY_API enginery_status enginery_network_add_layer(enginery_network* network,
                                                        const enginery_layer* layer,
                                                        enginery_tensor* outputs, int32_t capacity,
                                                        int32_t* count);

// A layer's result becomes an output; outputs have the order in which they are marked. `name` NULL
// keeps the tensor's own. Errors: HANDLE, INVALID_ARGUMENT (a foreign tensor, an input, a constant,
// one that is an output already, a name of another input or output).
ENGINERY_API enginery_status enginery_network_mark_output(enginery_network* network,
                                                          enginery_tensor tensor, const char* name);

// Of a tensor's elements along the axis those below `count`, an int64 scalar of the network, are
// there: what "find_non_zero" and "non_max_suppression" give beside their result.
typedef struct enginery_counted_axis {
  int64_t axis;  // from 0
  enginery_tensor count;
} enginery_counted_axis;

// The same for a tensor whose size along `axes` (rising) each run tells: the output begins with the
// elements that count, and enginery_context_get_output_dims says how many there are. Errors: the
// same, and INVALID_ARGUMENT for an axis that the tensor has not or a count that is no int64
// scalar.
ENGINERY_API enginery_status enginery_network_mark_counted_output(enginery_network* network,
                                                                  enginery_tensor tensor,
                                                                  const char* name,
                                                                  const enginery_counted_axis* axes,
                                                                  int32_t axis_count);

// What a tensor is; `name` and `dims` are good until the network changes, `bytes` is 0 where a size
// is not known yet. Errors: HANDLE, INVALID_ARGUMENT (a foreign tensor).
ENGINERY_API enginery_status enginery_network_get_tensor(const enginery_network* network,
                                                         enginery_tensor tensor,
                                                         enginery_tensor_info* info);

// The network as a file's bytes, which every verb of the command, a farm and
// enginery_build_file take like any other model. Errors: HANDLE, INVALID_ARGUMENT (no output, a
// name that is not UTF-8).
ENGINERY_API enginery_status enginery_network_save(const enginery_network* network,
                                                   enginery_bytes_fn take, void* user);

// --- builds --------------------------------------------------------------------------------------

// What is done, and how much of how much (0: not known). Called on the building thread.
typedef void (*enginery_progress_fn)(void* user, const char* phase, uint64_t done, uint64_t total);
// Asked often on the building thread; not 0 ends the build with CANCELLED.
typedef int32_t (*enginery_cancelled_fn)(void* user);

// Gives the next rows to calibrate on. `inputs` are the model's, with the dims and the bytes of a
// whole batch: the first dimension is the calibrator's batch_size, but of a scalar and of an input
// whose first dimension is no batch. For each the function sets data[i] and bytes[i]: row-major
// elements in host memory, which stay until it is called again; a last batch may have fewer rows,
// in all inputs the same. Returns 1 for rows, 0 where there are no more; anything else ends the
// build with STORAGE. Called on the building thread.
typedef int32_t (*enginery_batch_fn)(void* user, const enginery_tensor_info* inputs, int32_t count,
                                     const void** data, size_t* bytes);
// Sets the bytes that an earlier build gave to write_cache, or those of a TensorRT table; they stay
// until the build ends. None (0 bytes): the model is calibrated. Returns 0, or else as above.
typedef int32_t (*enginery_read_cache_fn)(void* user, const void** data, size_t* bytes);

// Where INT8's scales come from in a user's program, in the shape of TensorRT's IInt8Calibrator.
typedef struct enginery_calibrator {
  size_t struct_size;
  int32_t batch_size;  // rows that get_batch gives at once, above 0: the model takes its own number
  enginery_batch_fn get_batch;
  enginery_read_cache_fn read_cache;  // or NULL
  enginery_bytes_fn write_cache;      // or NULL; takes histograms: another calibrator_name needs no
                                      // data
  void* user;                         // given to all three
} enginery_calibrator;

// How to build. Set by enginery_build_options_init; NULL texts are the defaults. INT8 ("int8" among
// the precisions) needs scales: the model's own, or one of `calibration`, `calibration_data` and
// `calibrator`.
typedef struct enginery_build_options {
  size_t struct_size;
  const char* name;             // of the engine; NULL: the network's, the file's
  const char* sku;              // for which device of this machine; NULL or "this": its best
  const char* precisions;       // to allow in addition to fp32: "fp16,tf32"
  const char* shapes;           // of inputs, over what they have: "x:1x3x224x224,y:1x8"
  const char* without_sources;  // of tactics, that are left out: "cudnn,cublaslt"
  const char* limits;           // of memory and work: "value_mib=8192,arena_mib=65536"
  const char* timing_cache;     // a file, or "none"; NULL: the catalog has the timings
  const char* catalog;          // folder of what was built before; NULL: the user's
  const char* keys;             // folder of signing.key, made where there is none; NULL: the user's
  // The program `enginery`, in whose processes tactics are tried, so that one that faults does not
  // take this process down. NULL: they are tried in this process.
  const char* command;
  enginery_progress_fn progress;    // or NULL
  enginery_cancelled_fn cancelled;  // or NULL
  void* user;                       // given to both
  int32_t level;                    // 0: nothing is measured ... 5: exhaustive; 3 by default
  int32_t threads;                  // CPU: of one inference; 0: every core of the affinity mask
  int32_t aux_streams;              // at most, besides the main one; -1: as many as pay
  int32_t rebuild;                  // 1: also where the catalog has the engine
  int32_t provisional;              // 1: untuned, for a device that is not here
  // Layers that compute in fp32 or in that precision and in nothing else: "conv1:fp32,head/*:fp16".
  const char* layer_precisions;
  const char* calibration;  // a file: TensorRT's table, or histograms (enginery calibrate)
  // Folders of pictures, pictures, .npy and .npz files to calibrate on: "[NAME=]PATH".
  const char* const* calibration_data;
  const char* calibration_preprocess;  // a file that says how pictures become inputs
  const enginery_calibrator* calibrator;
  // What makes scales of histograms: "mse" (the default), "entropy", "entropy2", "minmax",
  // "percentile" or "legacy". A table has its scales and takes none.
  const char* calibrator_name;
  int64_t calibration_rows;  // of calibration_data, at most; 0: all
  int32_t calibration_data_count;
  // Most scratch memory that a layer's tactic may take: "workspace:64M"; units B, K, M and G.
  const char* memory_pools;
  // 1: with calibration_data or calibrator, the means of channels are kept with the histograms, and
  // biases are corrected by them for the rounding of weights. A calibrator's cache without means is
  // then passed over, and its means are passed over where this is 0.
  int32_t bias_correction;
} enginery_build_options;

// The defaults. `options->struct_size` is set before. Errors: INVALID_ARGUMENT.
ENGINERY_API enginery_status enginery_build_options_init(enginery_build_options* options);

// What became of a build.
typedef struct enginery_build_report {
  size_t struct_size;
  uint64_t engine_bytes;
  uint64_t timings_measured;
  uint64_t timings_reused;
  double latency_ms;     // of one inference; 0: not measured
  double error;          // relative, against the reference; 0 where it was not verified
  int32_t from_catalog;  // 1: it was built before
} enginery_build_report;

// Imports, tunes, assembles, verifies, times and signs, as the command's `build` does, and gives
// the engine file's bytes to `take`: enginery_engine_load_memory takes them. `options` and `report`
// may be NULL. A calibration runs in this process, as the CPU type that is built for, or the
// machine's best: a process runs one. Errors: HANDLE; BUSY (another build of this process lasts);
// INVALID_ARGUMENT and UNSUPPORTED (the model or network, naming the layer; an option); NOT_FOUND,
// INCOMPATIBLE, UNAVAILABLE (the device); STORAGE; CANCELLED; INTERNAL (the engine computes wrong
// results).
ENGINERY_API enginery_status enginery_build_network(const enginery_network* network,
                                                    const enginery_build_options* options,
                                                    enginery_bytes_fn take, void* user,
                                                    enginery_build_report* report);
// The same of a model file: ONNX, or a saved network.
ENGINERY_API enginery_status enginery_build_file(const char* path,
                                                 const enginery_build_options* options,
                                                 enginery_bytes_fn take, void* user,
                                                 enginery_build_report* report);

#ifdef __cplusplus
}
#endif
