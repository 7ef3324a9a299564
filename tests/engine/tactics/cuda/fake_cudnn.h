// A cuDNN of the tests: it keeps what descriptors are told and answers from a list, so that graphs,
// proposals and plans can be looked at without the library and without a GPU.
//
// One at a time: the library's functions have no context.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "engine/device/cuda/cudnn_library.h"

namespace enginery::test {

// An engine configuration that a heuristic proposes.
struct FakeConfig {
  int64_t engine = 0;
  std::vector<std::pair<int64_t, int64_t>> knobs;
  std::vector<cudnnBackendNumericalNote_t> notes;
  int64_t workspace_bytes = 0;
};

// A descriptor with the bytes of every attribute that was set.
struct FakeDescriptor {
  cudnnBackendDescriptorType_t type;
  bool finalized = false, destroyed = false;
  std::map<cudnnBackendAttributeName_t, std::vector<char>> attributes;
  const FakeConfig* config = nullptr;  // what a read one stands for
  size_t knob = 0;

  template <typename T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> out(found->second.size() / sizeof(T));
    std::memcpy(out.data(), found->second.data(), out.size() * sizeof(T));
    return out;
  }
  // The only value of the attribute; T{} where there is none or more.
  template <typename T>
  T one(cudnnBackendAttributeName_t name) const {
    T out{};
    const auto found = attributes.find(name);
    if (found != attributes.end() && found->second.size() == sizeof out)
      std::memcpy(&out, found->second.data(), sizeof out);
    return out;
  }
  const FakeDescriptor* to(cudnnBackendAttributeName_t name) const {
    return one<FakeDescriptor*>(name);
  }
};

class FakeCudnn {
 public:
  FakeCudnn() {
    current_ = this;
    table.cudnnBackendCreateDescriptor = create;
    table.cudnnBackendDestroyDescriptor = destroy;
    table.cudnnBackendFinalize = finalize;
    table.cudnnBackendSetAttribute = set;
    table.cudnnBackendGetAttribute = get;
    table.cudnnGetErrorString = [](cudnnStatus_t) { return "SOME_STATUS"; };
    table.cudnnGetLastErrorString = [](char* text, size_t size) {
      std::strncpy(text, current_->last_error, size);
    };
  }
  ~FakeCudnn() { current_ = nullptr; }
  FakeCudnn(const FakeCudnn&) = delete;
  FakeCudnn& operator=(const FakeCudnn&) = delete;

  std::vector<const FakeDescriptor*> of_type(cudnnBackendDescriptorType_t type) const {
    std::vector<const FakeDescriptor*> out;
    for (const auto& d : descriptors) {
      if (d->type == type) out.push_back(d.get());
    }
    return out;
  }
  // The graph's tensor of that unique id; null where there is none.
  const FakeDescriptor* tensor(int64_t id) const {
    for (const FakeDescriptor* d : of_type(CUDNN_BACKEND_TENSOR_DESCRIPTOR)) {
      if (d->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID) == id) return d;
    }
    return nullptr;
  }

  Cudnn table;
  std::vector<std::unique_ptr<FakeDescriptor>> descriptors;  // in the order of their making
  std::map<cudnnBackendHeurMode_t, std::vector<FakeConfig>> proposals;
  std::map<cudnnBackendAttributeName_t, cudnnStatus_t> refuses;  // to set or to read
  const char* last_error = "";
  bool sets_finalized = false;  // whether anybody set an attribute of a finalised descriptor
  bool uses_unfinished = false;

 private:
  static FakeDescriptor& at(cudnnBackendDescriptor_t d) { return *static_cast<FakeDescriptor*>(d); }

  static cudnnStatus_t create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* out) {
    current_->descriptors.push_back(std::make_unique<FakeDescriptor>());
    current_->descriptors.back()->type = type;
    *out = current_->descriptors.back().get();
    return CUDNN_STATUS_SUCCESS;
  }
  static cudnnStatus_t destroy(cudnnBackendDescriptor_t d) {
    at(d).destroyed = true;
    return CUDNN_STATUS_SUCCESS;
  }
  static cudnnStatus_t finalize(cudnnBackendDescriptor_t d) {
    at(d).finalized = true;
    return CUDNN_STATUS_SUCCESS;
  }

  static size_t bytes_of(cudnnBackendAttributeType_t type) {
    switch (type) {
      case CUDNN_TYPE_INT64:
      case CUDNN_TYPE_DOUBLE:
      case CUDNN_TYPE_HANDLE:
      case CUDNN_TYPE_VOID_PTR:
      case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return 8;
      case CUDNN_TYPE_BOOLEAN:
        return 1;
      default:
        return 4;  // enumerations and floats
    }
  }

  static cudnnStatus_t set(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    if (auto refused = current_->refuses.find(name); refused != current_->refuses.end())
      return refused->second;
    current_->sets_finalized |= at(d).finalized;
    const auto* bytes = static_cast<const char*>(values);
    at(d).attributes[name].assign(bytes, bytes + static_cast<size_t>(count) * bytes_of(type));
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      for (FakeDescriptor* other : at(d).all<FakeDescriptor*>(name))
        current_->uses_unfinished |= !other->finalized && !other->config;
    }
    return CUDNN_STATUS_SUCCESS;
  }

  template <typename T>
  static cudnnStatus_t answer(const std::vector<T>& values, int64_t room, int64_t* count,
                              void* out) {
    *count = static_cast<int64_t>(values.size());
    std::memcpy(out, values.data(), std::min(values.size(), static_cast<size_t>(room)) * sizeof(T));
    return CUDNN_STATUS_SUCCESS;
  }

  // Fills descriptors that the caller made; each stands for a configuration from then on.
  static cudnnStatus_t fill(const std::vector<FakeConfig>& configs, int64_t room, int64_t* count,
                            void* out) {
    for (size_t i = 0; i < std::min(configs.size(), static_cast<size_t>(room)); ++i)
      static_cast<FakeDescriptor**>(out)[i]->config = &configs[i];
    *count = static_cast<int64_t>(configs.size());
    return CUDNN_STATUS_SUCCESS;
  }

  static cudnnStatus_t get(const cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t, int64_t room, int64_t* count, void* out) {
    if (auto refused = current_->refuses.find(name); refused != current_->refuses.end())
      return refused->second;
    const FakeDescriptor& asked = at(d);
    const auto knob = [&] { return asked.config->knobs[asked.knob]; };
    switch (name) {
      case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
        const auto mode = asked.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
        return fill(current_->proposals[mode], room, count, out);
      }
      case CUDNN_ATTR_ENGINECFG_ENGINE:
        static_cast<FakeDescriptor**>(out)[0]->config = asked.config;
        *count = 1;
        return CUDNN_STATUS_SUCCESS;
      case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: {
        for (size_t i = 0; i < asked.config->knobs.size(); ++i) {
          static_cast<FakeDescriptor**>(out)[i]->config = asked.config;
          static_cast<FakeDescriptor**>(out)[i]->knob = i;
        }
        *count = static_cast<int64_t>(asked.config->knobs.size());
        return CUDNN_STATUS_SUCCESS;
      }
      case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
        return answer(std::vector{asked.config->engine}, room, count, out);
      case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
        return answer(asked.config->notes, room, count, out);
      case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        return answer(std::vector{asked.config->workspace_bytes}, room, count, out);
      case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
        return answer(std::vector{static_cast<cudnnBackendKnobType_t>(knob().first)}, room, count,
                      out);
      case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
        return answer(std::vector{knob().second}, room, count, out);
      case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        return answer(std::vector<int64_t>{4096}, room, count, out);
      default:
        return CUDNN_STATUS_NOT_SUPPORTED;
    }
  }

  static inline FakeCudnn* current_ = nullptr;
};

}  // namespace enginery::test
