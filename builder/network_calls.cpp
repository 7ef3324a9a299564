// Networks of the build library: create, add, mark, describe, save.
#include <algorithm>

#include "builder/layer.h"
#include "builder/network_object.h"
#include "engine/c_api/growing_struct.h"
#include "engine/import/saved/network_file.h"

namespace enginery {
namespace {

constexpr int32_t kMaxRank = 16;
constexpr int32_t kMaxListed = 1 << 20;  // inputs, attributes, names of one layer

Error wrong(const std::string& what, const std::string& reason) {
  return {ErrorCode::invalid_argument, what + ": " + reason};
}

// What every call on a live network shares; `body` gets its NetworkUse.
template <typename Body>
enginery_status with_network(const enginery_network* network, Body&& body) {
  return outcome_of([&]() -> Failure {
    const NetworkUse use(network);
    if (!use) return use.failure();
    return body(use);
  });
}

// A type whose sizes are known or, where `may_be_open`, -1.
Result<TensorType> type_of(enginery_type type, const int64_t* dims, int32_t rank,
                           bool may_be_open) {
  const auto refused = [](const std::string& reason) {
    return Error{ErrorCode::invalid_argument, reason};
  };
  if (type < 0 || type >= kDataTypeCount)
    return refused("there is no type " + std::to_string(type));
  if (rank < 0 || rank > kMaxRank || (rank > 0 && !dims))
    return refused("expected from 0 to " + std::to_string(kMaxRank) + " dimensions, got " +
                   (rank > 0 && !dims ? "null" : std::to_string(rank)));
  TensorType out{static_cast<DataType>(type), Dims(dims, dims + rank)};
  Dims known;
  for (const int64_t size : out.dims) {
    const bool is_open = size == kDynamic && may_be_open;
    if (!is_open) known.push_back(size);
  }
  TRY([[maybe_unused]] const int64_t fits, checked_volume(known, element_bytes(out.type)));
  return out;
}

// Whether an input or an output has the name.
bool is_taken(const Graph& graph, const std::string& name) {
  const auto has_it = [&](ValueId v) { return graph.value(v).name == name; };
  return std::ranges::any_of(graph.inputs(), has_it) ||
         std::ranges::any_of(graph.outputs(), has_it);
}

Result<ValueId> add_input(const NetworkUse& use, const char* name, const Result<TensorType>& type) {
  if (!name || !*name) return wrong("add an input", "it has no name");
  const std::string what = std::string("input '") + name + "'";
  if (!type) return type.error().within(what);
  if (is_taken(use.graph(), name)) return wrong(what, "the name is taken");
  return use.change([&](Graph& graph) { return graph.add_input(name, *type); });
}

Result<ValueId> add_constant(const NetworkUse& use, const std::string& name,
                             const Result<TensorType>& type, std::span<const char> data) {
  const std::string what = "constant '" + name + "'";
  if (!type) return type.error().within(what);
  const auto expected = static_cast<size_t>(bytes_of(*type));
  if (data.size() != expected)
    return wrong(what, "expected " + std::to_string(expected) + " bytes for " + to_string(*type) +
                           ", got " + std::to_string(data.size()));
  if (!data.data() && expected > 0) return wrong(what, "its data is null");
  const auto is_boolean = [](char c) { return c == 0 || c == 1; };
  if (type->type == DataType::boolean && !std::ranges::all_of(data, is_boolean))
    return wrong(what, "a boolean is neither 0 nor 1");
  Tensor tensor(type->type, type->dims);
  if (expected > 0) std::memcpy(tensor.mutable_bytes(), data.data(), expected);
  return use.change([&](Graph& graph) { return graph.add_constant(name, std::move(tensor)); });
}

// Where a list of a layer is null, or its length no length.
Status check_list(const char* name, const void* list, int32_t count) {
  if (count < 0 || count > kMaxListed || (count > 0 && !list))
    return Error{ErrorCode::invalid_argument,
                 std::string("its list of ") + name + " is null or of a wrong length"};
  return {};
}

Status read_attributes(const enginery_layer& from, std::map<std::string, std::string>& out) {
  CHECK_OK(check_list("attributes", from.attributes, from.attribute_count));
  for (int32_t i = 0; i < from.attribute_count; ++i) {
    const auto& [name, value] = from.attributes[i];
    if (!name || !value)
      return Error{ErrorCode::invalid_argument, "an attribute's name or value is null"};
    if (!out.emplace(name, value).second)
      return wrong("attribute '" + std::string(name) + "'", "it is given twice");
  }
  return {};
}

Status read_type(const char* word, std::optional<DataType>& out) {
  if (!word) return {};
  TRY(out, parse_data_type(word));
  return {};
}

Result<LayerRequest> read_layer(const NetworkUse& use, const enginery_layer& from,
                                int32_t capacity) {
  std::map<std::string, std::string> attributes;
  CHECK_OK(read_attributes(from, attributes));
  LayerRequest out;
  TRY(out.op, parse_op(from.op, attributes));
  if (from.name) out.name = from.name;
  CHECK_OK(read_type(from.precision, out.precision));
  CHECK_OK(read_type(from.output_type, out.output_type));
  CHECK_OK(check_list("inputs", from.inputs, from.input_count));
  for (int32_t i = 0; i < from.input_count; ++i) {
    auto value = Result<ValueId>(kNoValue);
    if (from.inputs[i] != ENGINERY_NO_TENSOR) value = use.value_of(from.inputs[i]);
    if (!value) return value.error().within("input " + std::to_string(i));
    out.inputs.push_back(*value);
  }
  CHECK_OK(check_list("names", from.output_names, from.output_name_count));
  for (int32_t i = 0; i < from.output_name_count; ++i) {
    const char* const name = from.output_names[i];
    if (!name) return Error{ErrorCode::invalid_argument, "the name of a result is null"};
    out.output_names.emplace_back(name);
  }
  out.max_outputs = static_cast<size_t>(std::max(capacity, 0));
  return out;
}

Failure add_layer_to(const NetworkUse& use, const enginery_layer& layer,
                     std::span<enginery_tensor> outputs, int32_t* count) {
  const std::string given = layer.name ? layer.name : layer.op;
  const std::string what = "layer '" + given + "' (" + layer.op + ")";
  const auto request = read_layer(use, layer, static_cast<int32_t>(outputs.size()));
  if (!request) return request.error().within(what);
  const auto added = use.change([&](Graph& graph) { return add_layer(graph, *request); });
  if (!added) return added.error().within(what);
  for (size_t i = 0; i < added->size(); ++i) outputs[i] = use.tensor_of((*added)[i]);
  if (count) *count = static_cast<int32_t>(added->size());
  return {};
}

Status mark_output(const NetworkUse& use, enginery_tensor tensor, const char* name,
                   const CountedAxes& axes) {
  const auto value = use.value_of(tensor);
  if (!value) return value.error().within("mark an output");
  const Graph& graph = use.graph();
  const std::string own = graph.value(*value).name, wanted = name ? name : own;
  const std::string what = "mark '" + own + "' as output '" + wanted + "'";
  if (graph.is_output(*value)) return wrong(what, "it is one already");
  if (graph.value(*value).producer == kNoNode)
    return wrong(what, "it is no layer's result; a layer 'identity' makes it one");
  if (is_taken(graph, wanted)) return wrong(what, "the name is taken");
  const Status marked = use.change([&](Graph& changed) -> Status {
    TRY(const ValueId output, compacted(changed, *value, axes, wanted));
    CHECK_OK(changed.mark_output(output, wanted));
    use.count_last_output(axes);
    return {};
  });
  return marked.ok() ? marked : marked.error().within(what);
}

// The axes of an output with what counts them.
Result<CountedAxes> read_counted(const NetworkUse& use, const enginery_counted_axis* axes,
                                 int32_t count) {
  if (count < 1 || count > kMaxRank || !axes)
    return wrong("mark an output", "its list of counted axes is null or of a wrong length");
  CountedAxes out;
  for (int32_t i = 0; i < count; ++i) {
    const auto value = use.value_of(axes[i].count);
    if (!value) return value.error().within("mark an output: count " + std::to_string(i));
    out.push_back({axes[i].axis, *value});
  }
  return out;
}

enginery_tensor_info describe(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  enginery_tensor_info out{};
  out.name = value.name.c_str();
  out.dims = value.type.dims.data();
  out.rank = static_cast<int32_t>(value.type.dims.size());
  out.type = static_cast<enginery_type>(value.type.type);
  out.is_input = std::ranges::find(graph.inputs(), id) != graph.inputs().end() ? 1 : 0;
  out.bytes = is_static(value.type.dims) ? static_cast<size_t>(bytes_of(value.type)) : 0;
  return out;
}

Failure null_place(const char* what) {
  return {ENGINERY_ERROR_INVALID_ARGUMENT, std::string("the place for the ") + what + " is null"};
}

// Gives the tensor of a value that was added.
Failure give_tensor(const NetworkUse& use, const Result<ValueId>& value, enginery_tensor* tensor) {
  if (!value) return value.error();
  *tensor = use.tensor_of(*value);
  return {};
}

}  // namespace
}  // namespace enginery

using namespace enginery;

enginery_status enginery_network_create(const char* name, enginery_network** network) {
  return outcome_of([&]() -> Failure {
    if (!network) return null_place("network");
    *network = nullptr;
    auto object = std::make_shared<NetworkObject>();
    object->graph.name = name && *name ? name : "network";
    *network = NetworkHandles::table().add(std::move(object));
    return {};
  });
}

enginery_status enginery_network_destroy(enginery_network* network) {
  return outcome_of([&]() -> Failure {
    if (!network || NetworkHandles::table().remove(network)) return {};
    return NetworkUse(network).failure();
  });
}

enginery_status enginery_network_add_input(enginery_network* network, const char* name,
                                           enginery_type type, const int64_t* dims, int32_t rank,
                                           enginery_tensor* tensor) {
  return with_network(network, [&](const NetworkUse& use) -> Failure {
    if (!tensor) return null_place("tensor");
    return give_tensor(use, add_input(use, name, type_of(type, dims, rank, true)), tensor);
  });
}

enginery_status enginery_network_add_constant(enginery_network* network, const char* name,
                                              enginery_type type, const int64_t* dims, int32_t rank,
                                              const void* data, size_t bytes,
                                              enginery_tensor* tensor) {
  return with_network(network, [&](const NetworkUse& use) -> Failure {
    if (!tensor) return null_place("tensor");
    const auto value =
        add_constant(use, name && *name ? name : "constant", type_of(type, dims, rank, false),
                     {static_cast<const char*>(data), bytes});
    return give_tensor(use, value, tensor);
  });
}

enginery_status enginery_network_add_layer(enginery_network* network, const enginery_layer* layer,
                                           enginery_tensor* outputs, int32_t capacity,
                                           int32_t* count) {
  return with_network(network, [&](const NetworkUse& use) -> Failure {
    if (!layer) return null_place("layer");
    enginery_layer all{};
    const Failure unread = read_struct("enginery_layer", layer, all);
    if (unread.status() != ENGINERY_OK) return unread;
    if (!all.op) return Failure(wrong("add a layer", "its operator is null"));
    if (!outputs || capacity < 0) return null_place("results");
    return add_layer_to(use, all, {outputs, static_cast<size_t>(capacity)}, count);
  });
}

enginery_status enginery_network_mark_output(enginery_network* network, enginery_tensor tensor,
                                             const char* name) {
  return with_network(network, [&](const NetworkUse& use) -> Failure {
    return mark_output(use, tensor, name, {});
  });
}

enginery_status enginery_network_mark_counted_output(enginery_network* network,
                                                     enginery_tensor tensor, const char* name,
                                                     const enginery_counted_axis* axes,
                                                     int32_t axis_count) {
  return with_network(network, [&](const NetworkUse& use) -> Failure {
    const auto counted = read_counted(use, axes, axis_count);
    if (!counted) return counted.error();
    return mark_output(use, tensor, name, *counted);
  });
}

enginery_status enginery_network_get_tensor(const enginery_network* network, enginery_tensor tensor,
                                            enginery_tensor_info* info) {
  return with_network(network, [&](const NetworkUse& use) -> Failure {
    const auto value = use.value_of(tensor);
    if (!value) return value.error();
    return fill_struct("enginery_tensor_info", describe(use.graph(), *value), info);
  });
}

enginery_status enginery_network_save(const enginery_network* network, enginery_bytes_fn take,
                                      void* user) {
  return with_network(network, [&](const NetworkUse& use) -> Failure {
    if (!take) return {ENGINERY_ERROR_INVALID_ARGUMENT, "the function that takes it is null"};
    const auto whole = use.whole();
    if (!whole) return whole.error().within("save network '" + use.graph().name + "'");
    const auto bytes = save_network(*whole);
    if (!bytes) return bytes.error();
    if (take(user, bytes->data(), bytes->size()) != 0)
      return {ENGINERY_ERROR_STORAGE, "the function that takes the network has failed"};
    return {};
  });
}
