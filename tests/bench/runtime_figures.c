// What one engine costs in a C program: its load, its resident memory, and one run on the host's
// memory. Built and called by runtime_figures.py.
//
//   runtime_figures ENGINE KEYS RUNS [mapped]
//
// Prints one line: load_ms weights_bytes context_bytes loaded_bytes resident_bytes anonymous_bytes
// run_us quarter_us. loaded_bytes is what the process has resident more than before the load, once
// the engine is loaded; resident_bytes and the anonymous_bytes in it the same after a context, its
// inputs and outputs and a first run; run_us is the median of the runs, quarter_us the first
// quartile.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "enginery/enginery.h"

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// A line of /proc/self/status, in bytes.
static long long status_of(const char* name) {
  char line[256];
  long long kilobytes = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, name, strlen(name)) == 0) kilobytes = atoll(line + strlen(name) + 1);
  }
  if (file) fclose(file);
  return kilobytes * 1024;
}

static void must(enginery_status status) {
  if (status == ENGINERY_OK) return;
  fprintf(stderr, "%s\n", enginery_last_error());
  exit(1);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int runs = atoi(argv[3]);
  enginery_load_options options = {sizeof options};
  options.keys_folder = argv[2];
  options.map_file = argc > 4;
  enginery_engine* engine = NULL;
  enginery_context* context = NULL;
  const long long resident = status_of("VmRSS"), anonymous = status_of("RssAnon");
  double begin = now_us();
  must(enginery_engine_load_file(argv[1], &options, &engine));
  const double load_us = now_us() - begin;
  const long long loaded = status_of("VmRSS") - resident;
  must(enginery_context_create(engine, &context));
  enginery_engine_info info = {sizeof info};
  must(enginery_engine_get_info(engine, &info));
  for (int i = 0; i < info.inputs + info.outputs; ++i) {
    enginery_tensor_info tensor = {sizeof tensor};
    must(enginery_engine_get_tensor(engine, i, &tensor));
    void* memory = aligned_alloc(256, (tensor.bytes + 255) / 256 * 256);
    memset(memory, 0, tensor.bytes);
    must(tensor.is_input ? enginery_context_set_input(context, tensor.name, memory, tensor.bytes)
                         : enginery_context_set_output(context, tensor.name, memory, tensor.bytes));
  }
  must(enginery_context_run(context));
  const long long more = status_of("VmRSS") - resident;
  const long long more_anonymous = status_of("RssAnon") - anonymous;
  double* times = malloc((size_t)runs * sizeof *times);
  for (int i = 0; i < runs; ++i) {
    begin = now_us();
    must(enginery_context_run(context));
    times[i] = now_us() - begin;
  }
  qsort(times, (size_t)runs, sizeof *times, by_size);
  printf("%.3f %lld %lld %lld %lld %lld %.3f %.3f\n", load_us * 1e-3, (long long)info.weights_bytes,
         (long long)info.context_bytes, loaded, more, more_anonymous, times[runs / 2],
         times[runs / 4]);
  return 0;
}
