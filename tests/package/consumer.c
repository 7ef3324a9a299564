/* A C program that uses the installed library as any other would: consumer ENGINE OUTPUT. Runs the engine on ones (float32
   inputs and outputs) and writes its first output. Every call's failure is printed and ends it with exit status 1. */
#include <enginery/enginery.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char* call, enginery_status status) {
  if (status == ENGINERY_OK) return;
  fprintf(stderr, "%s: %s: %s\n", call, enginery_status_name(status), enginery_last_error());
  exit(1);
}

static float* filled(size_t bytes, float value) {
  float* const data = malloc(bytes);
  if (!data) exit(3);
  for (size_t i = 0; i < bytes / sizeof *data; ++i) data[i] = value;
  return data;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  enginery_engine* engine = NULL;
  enginery_context* context = NULL;
  check("load", enginery_engine_load_file(argv[1], NULL, &engine));
  check("create context", enginery_context_create(engine, &context));
  enginery_engine_info info = {.struct_size = sizeof info};
  check("info", enginery_engine_get_info(engine, &info));
  float* first_output = NULL;
  size_t first_output_bytes = 0;
  for (int32_t i = 0; i < info.inputs + info.outputs; ++i) {
    enginery_tensor_info tensor = {.struct_size = sizeof tensor};
    check("tensor", enginery_engine_get_tensor(engine, i, &tensor));
    float* const data = filled(tensor.bytes, tensor.is_input ? 1.0f : -1.0f);
    check("set", tensor.is_input ? enginery_context_set_input(context, tensor.name, data, tensor.bytes)
                                 : enginery_context_set_output(context, tensor.name, data, tensor.bytes));
    if (!tensor.is_input && !first_output) {
      first_output = data;
      first_output_bytes = tensor.bytes;
    }
  }
  check("run", enginery_context_run(context));
  FILE* const out = fopen(argv[2], "wb");
  if (!out || fwrite(first_output, 1, first_output_bytes, out) != first_output_bytes || fclose(out)) return 3;
  printf("enginery %s ran %s for %s\n", enginery_version(), info.name, info.sku);
  check("destroy engine", enginery_engine_destroy(engine));
  check("destroy context", enginery_context_destroy(context));
  return 0;
}
