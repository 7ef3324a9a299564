// The C interface of libenginery: load an engine file, bind its tensors by name, run it.
//
//   enginery_engine* engine = NULL;
//   enginery_context* context = NULL;
//   if (enginery_engine_load_file("resnet50.engine", NULL, &engine) != ENGINERY_OK)
//     puts(enginery_last_error());
//   enginery_context_create(engine, &context);
//   enginery_context_set_input(context, "input", pixels, sizeof pixels);
//   enginery_context_set_output(context, "output", scores, sizeof scores);
//   enginery_context_run(context);
//
// Errors: every function that can fail returns a status; no call throws or ends the process, and a
// failed one changes nothing. Handles are numbers that are never given twice: a destroyed, foreign
// or invented one is ENGINERY_ERROR_HANDLE, not a crash.
// Threads: any number of threads may use one engine and make contexts of it. A context belongs to
// one thread at a time, and may go from one to another; a call on a context that another thread is
// in is ENGINERY_ERROR_BUSY and does nothing: threads that run at once have a context each. Any
// thread may destroy an engine or a context that no call is in. OpenMP's settings, the
// threads' cores and the floating-point mode of the calling program are after each call as before.
// Stability: numbers, signatures and the fields that are there stay; structs grow at their end, and
// `struct_size`, which the caller sets to sizeof the struct, says how much of one the caller knows.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ENGINERY_API __attribute__((visibility("default")))
#else
#define ENGINERY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// How a call ended. Codes may be added.
typedef int32_t enginery_status;
enum {
  ENGINERY_OK = 0,
  ENGINERY_ERROR_INVALID_ARGUMENT = 1,  // null, a wrong name, size or alignment
  ENGINERY_ERROR_USAGE = 2,
  ENGINERY_ERROR_NOT_FOUND = 3,    // no such file
  ENGINERY_ERROR_UNSUPPORTED = 4,  // valid, but not on this engine's device
  ENGINERY_ERROR_OUT_OF_MEMORY = 5,
  ENGINERY_ERROR_CORRUPT_DATA = 6,
  ENGINERY_ERROR_UNTRUSTED = 7,     // tampered with, cut, or signed by a key that is not trusted
  ENGINERY_ERROR_INCOMPATIBLE = 8,  // an engine for another device or library version
  ENGINERY_ERROR_UNAVAILABLE = 9,   // no driver, no device
  ENGINERY_ERROR_TIMED_OUT = 10,
  ENGINERY_ERROR_CANCELLED = 11,
  ENGINERY_ERROR_STORAGE = 12,  // the disk: permission, full
  ENGINERY_ERROR_INTERNAL = 13,
  ENGINERY_ERROR_DEVICE_LOST = 14,  // the device faulted: this process must end
  ENGINERY_ERROR_HANDLE = 100,      // not a live handle of this kind
  ENGINERY_ERROR_BUSY = 101,        // another thread is in this context
  ENGINERY_ERROR_NOT_SET = 102      // run before every input and output was set
};

// What one element is. Booleans take one byte, 0 or 1; 4-bit integers one byte, whose low four bits
// count.
typedef int32_t enginery_type;
enum {
  ENGINERY_FLOAT32 = 0,
  ENGINERY_FLOAT16 = 1,
  ENGINERY_BFLOAT16 = 2,
  ENGINERY_FLOAT64 = 3,
  ENGINERY_INT8 = 4,
  ENGINERY_UINT8 = 5,
  ENGINERY_INT16 = 6,
  ENGINERY_UINT16 = 7,
  ENGINERY_INT32 = 8,
  ENGINERY_UINT32 = 9,
  ENGINERY_INT64 = 10,
  ENGINERY_UINT64 = 11,
  ENGINERY_BOOL = 12,
  ENGINERY_FLOAT8E4M3FN = 13,
  ENGINERY_FLOAT8E4M3FNUZ = 14,
  ENGINERY_FLOAT8E5M2 = 15,
  ENGINERY_FLOAT8E5M2FNUZ = 16,
  ENGINERY_INT4 = 17,
  ENGINERY_UINT4 = 18
};

typedef struct enginery_engine enginery_engine;    // a loaded engine: weights on its device
typedef struct enginery_context enginery_context;  // one thread's use of it: memory and streams

// Levels of messages: debug 0, info 1, warning 2, error 3, none 4.
typedef void (*enginery_log_fn)(void* user, int32_t level, const char* message);

// What the library is. "0.1.0"; static text.
ENGINERY_API const char* enginery_version(void);
// Why the last call of this thread failed: one sentence, "" after one that succeeded. Good until
// this thread's next call.
ENGINERY_API const char* enginery_last_error(void);
// "ok", "invalid argument", ...; "unknown status" for another number. Static text.
ENGINERY_API const char* enginery_status_name(enginery_status status);
// "float32", ...; "unknown type" for another number. Static text.
ENGINERY_API const char* enginery_type_name(enginery_type type);
// Bytes of one element; 0 for another number.
ENGINERY_API size_t enginery_type_bytes(enginery_type type);
// Where the library's messages of at least `level` go, for the whole process: to `log`, from
// whichever thread has one, one at a time; it must not call the library. Null: to stderr, as at the
// beginning. Errors: INVALID_ARGUMENT (no such level).
ENGINERY_API enginery_status enginery_set_log(enginery_log_fn log, void* user, int32_t level);

// --- engines -------------------------------------------------------------------------------------

// How to load; zeros are the defaults.
typedef struct enginery_load_options {
  size_t struct_size;
  const char* keys_folder;  // whose keys are trusted; NULL: the user's (enginery keys show)
  int32_t threads;          // CPU: how many run one inference; 0: as many as it was built with
  int32_t device_index;     // GPU: which of the visible ones
  // enginery_engine_load_memory: 1 reads the weights where they are and copies nothing. The bytes
  // then begin at a multiple of 64 (a mapped file does), do not change, and stay until the engine
  // and all of its contexts are destroyed.
  int32_t borrow_memory;
  // enginery_engine_load_file: 1 maps the file and copies no weights out of it, for engines that
  // are large beside the memory that is free. The file must not be changed until the engine and all
  // of its contexts are destroyed: one that is cut ends the process. Replacing it by rename is no
  // change.
  int32_t map_file;
} enginery_load_options;

// Verifies the file's signature and hashes, then parses it, opens the device that it was built for
// and packs its weights there. `options` may be NULL. Errors: NOT_FOUND, UNTRUSTED, INCOMPATIBLE,
// UNAVAILABLE, OUT_OF_MEMORY, INVALID_ARGUMENT.
ENGINERY_API enginery_status enginery_engine_load_file(const char* path,
                                                       const enginery_load_options* options,
                                                       enginery_engine** engine);
// The same from a file's bytes.
ENGINERY_API enginery_status enginery_engine_load_memory(const void* data, size_t bytes,
                                                         const enginery_load_options* options,
                                                         enginery_engine** engine);
// Contexts keep what they need: they may outlive their engine. NULL is nothing to do. Errors:
// HANDLE (destroyed before).
ENGINERY_API enginery_status enginery_engine_destroy(enginery_engine* engine);

// What an engine is. Texts live as long as the engine.
typedef struct enginery_engine_info {
  size_t struct_size;
  const char* name;
  const char* sku;     // the device type that it was built for: "cpu-avx512-vnni", "h200"
  const char* digest;  // "sha256:...": of the whole file
  const char* signer;  // the key's id
  int32_t inputs;
  int32_t outputs;
  int32_t layers;
  int32_t threads;        // CPU: that run one inference
  int64_t weights_bytes;  // on the device, shared by all contexts
  int64_t context_bytes;  // what each context takes on the device
  double median_us;       // of one inference when the engine was built; 0 where not measured
  const char* device;     // what it runs on: "cpu", "cuda". Static text
  int32_t device_index;   // GPU: which of the visible ones
} enginery_engine_info;

// Sets `info->struct_size` bytes of `info`. Errors: HANDLE, INVALID_ARGUMENT.
ENGINERY_API enginery_status enginery_engine_get_info(const enginery_engine* engine,
                                                      enginery_engine_info* info);

// One input or output: dense, row-major. `name` and `dims` live as long as the engine.
typedef struct enginery_tensor_info {
  size_t struct_size;
  const char* name;
  const int64_t* dims;  // `rank` sizes, outermost first
  int32_t rank;         // 0 for a scalar
  enginery_type type;
  int32_t is_input;  // 1 for an input, 0 for an output
  size_t bytes;      // what set_input and set_output expect
  // How many of the sizes of an output each run tells (enginery_context_get_output_dims), as those
  // of a list of what was found; `dims` and `bytes` are then the largest. 0 for all others.
  int32_t run_time_sizes;
} enginery_tensor_info;

// The tensors in the model's order: inputs from 0, outputs after them. Errors: HANDLE,
// INVALID_ARGUMENT (no such index).
ENGINERY_API enginery_status enginery_engine_get_tensor(const enginery_engine* engine,
                                                        int32_t index, enginery_tensor_info* info);

// --- contexts ------------------------------------------------------------------------------------

// Memory and streams of its own; the weights stay shared. Errors: HANDLE, OUT_OF_MEMORY,
// UNAVAILABLE.
ENGINERY_API enginery_status enginery_context_create(const enginery_engine* engine,
                                                     enginery_context** context);
// The same in memory of the caller's: `bytes` of at least enginery_engine_info's context_bytes, at
// a multiple of 256, on the device that the engine runs on. It must stay until the context is
// destroyed and is this context's alone: contexts that never run at once may not share it either.
// Errors: also INVALID_ARGUMENT (null, too small, misaligned).
ENGINERY_API enginery_status enginery_context_create_in(const enginery_engine* engine, void* memory,
                                                        size_t bytes, enginery_context** context);
// NULL is nothing to do. Errors: HANDLE (destroyed before), BUSY.
ENGINERY_API enginery_status enginery_context_destroy(enginery_context* context);

// Says where an input is read from and an output is written to, in host memory, for every run until
// it is set again. `bytes` is the tensor's size and `data` aligned to its element type; the memory
// must stay until then, and an output may overlap no other tensor. `data` may be NULL for a tensor
// without elements. Errors: HANDLE, BUSY, INVALID_ARGUMENT (null, another name or size).
ENGINERY_API enginery_status enginery_context_set_input(enginery_context* context, const char* name,
                                                        const void* data, size_t bytes);
ENGINERY_API enginery_status enginery_context_set_output(enginery_context* context,
                                                         const char* name, void* data,
                                                         size_t bytes);
// Where memory of the caller's is.
typedef int32_t enginery_memory;
enum {
  ENGINERY_MEMORY_HOST = 0,
  ENGINERY_MEMORY_DEVICE = 1  // on the engine's own GPU; for an engine of a CPU the same as HOST
};
// The same with memory of either kind. A GPU's begins at a multiple of 256 bytes and is read and
// written in place. Errors: also INVALID_ARGUMENT (no such kind; not on that GPU; misaligned).
ENGINERY_API enginery_status enginery_context_set_input_in(enginery_context* context,
                                                           const char* name, const void* data,
                                                           size_t bytes, enginery_memory memory);
ENGINERY_API enginery_status enginery_context_set_output_in(enginery_context* context,
                                                            const char* name, void* data,
                                                            size_t bytes, enginery_memory memory);
// Runs once and waits. Memory of the device is read and written after what was given before to its
// default stream. Errors: HANDLE, BUSY, NOT_SET (with the tensor's name), INVALID_ARGUMENT (tensors
// that overlap), OUT_OF_MEMORY, DEVICE_LOST.
ENGINERY_API enginery_status enginery_context_run(enginery_context* context);
// Gives one run to `stream` and returns: a CUstream or cudaStream_t of the GPU's primary context,
// NULL for its default stream; for an engine of a CPU, NULL, and the run is over at the return. On
// a GPU every tensor must be in ENGINERY_MEMORY_DEVICE. Until the stream has done the work, the
// tensors' memory and the context must stay, and the context may be given further work on that
// stream alone.
// A stream that is being captured into a CUDA graph gets the run's kernels: nothing waits, and no
// memory of the device is allocated here. Enqueue once without a capture before, as libraries set
// themselves up then. What was bound stays in the graph: its memory, the context and the engine
// must stay as long as the graph is launched. Otherwise the second run in the same memory is
// recorded, which takes longer once, and later ones are launched from that.
// Errors: as of enginery_context_run; also INVALID_ARGUMENT (host memory for a GPU, a stream for a
// CPU).
ENGINERY_API enginery_status enginery_context_enqueue(enginery_context* context, void* stream);

// The sizes of an output as the last run made it: `rank` of them, as many as the output has. Of one
// with run_time_sizes the elements stand dense and row-major under these at the beginning of its
// memory, with zeros behind them; all others have the engine's. After enginery_context_enqueue,
// call it when the stream has done the work. Errors: HANDLE, BUSY, NOT_SET (before the first run),
// INVALID_ARGUMENT (null, another name or rank), DEVICE_LOST.
ENGINERY_API enginery_status enginery_context_get_output_dims(enginery_context* context,
                                                              const char* name, int64_t* dims,
                                                              int32_t rank);

// One layer as it ran. Good during the call that gives it.
typedef struct enginery_layer_info {
  size_t struct_size;
  const char* name;
  const char* op;
  const char* tactic;
  double flops;      // arithmetic
  double bytes;      // that must move at least
  double median_us;  // on the device; 0 for layers that do nothing
} enginery_layer_info;
typedef void (*enginery_profile_fn)(void* user, int32_t index, const enginery_layer_info* layer);

// Times each layer alone, `rounds` times, on the inputs of the last run, then calls `report` for
// each in order. Errors: HANDLE, BUSY, NOT_SET (before the first run), INVALID_ARGUMENT (rounds
// below 1, no function), UNSUPPORTED (the device cannot measure).
ENGINERY_API enginery_status enginery_context_profile(enginery_context* context, int32_t rounds,
                                                      enginery_profile_fn report, void* user);

#ifdef __cplusplus
}
#endif
