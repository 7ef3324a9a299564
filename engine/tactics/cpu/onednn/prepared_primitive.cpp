#include "engine/tactics/cpu/onednn/prepared_primitive.h"

#include <array>
#include <atomic>
#include <cstring>

#include "engine/device/cpu/cpu_stream.h"
#include "engine/tactics/cpu/onednn/winograd_packing.h"

namespace enginery {
namespace {

// The memory objects of one launch: their addresses change with each, so two launches at once need
// two sets.
struct LaunchSet {
  dnnl::stream stream;
  std::vector<dnnl::memory>
      memories;  // runtime arguments in the recipe's order, then the workspace
  std::vector<dnnl_exec_arg_t> arguments;
};

// Sets that wait for their next launch. Lock-free; sets beyond the slots are dropped.
class LaunchSets {
 public:
  ~LaunchSets() {
    for (auto& slot : slots_) const std::unique_ptr<LaunchSet> last(slot.load());
  }
  std::unique_ptr<LaunchSet> take() {
    for (auto& slot : slots_) {
      if (!slot.load(std::memory_order_relaxed)) continue;
      if (LaunchSet* set = slot.exchange(nullptr, std::memory_order_acquire))
        return std::unique_ptr<LaunchSet>(set);
    }
    return nullptr;
  }
  void give_back(std::unique_ptr<LaunchSet> set) {
    for (auto& slot : slots_) {
      LaunchSet* empty = nullptr;
      if (slot.compare_exchange_strong(empty, set.get(), std::memory_order_release)) {
        (void)set.release();
        return;
      }
    }
  }

 private:
  std::array<std::atomic<LaunchSet*>, 4> slots_{};
};

class PreparedPrimitive final : public PreparedTactic {
 public:
  PreparedPrimitive(std::shared_ptr<const OnednnLibrary> library, const OnednnRecipe& recipe,
                    const OnednnImplementation& implementation, Weights weights)
      : library_(std::move(library)),
        arguments_(recipe.arguments),
        in_place_operand_(recipe.in_place_operand),
        primitive_(implementation.descriptor.get()),
        scratchpad_(implementation.descriptor.scratchpad_desc()) {
    for (const RuntimeArgument& a : arguments_) {
      if (a.output && a.index == 0) output_bytes_ = a.descriptor.get_size();
    }
    dnnl::stream stream(library_->engine);
    for (const ConstantArgument& constant : recipe.constants)
      pack(constant, implementation, weights, stream);
  }

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    ComputeScope scope(stream);
    CHECK_OK(place_operand(arguments));
    std::unique_ptr<LaunchSet> set = sets_.take();
    if (!set) {
      auto made = dnnl_guarded("prepare a launch",
                               [&]() -> Result<std::unique_ptr<LaunchSet>> { return make_set(); });
      if (!made.ok()) return made.error();
      set = std::move(*made);
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const RuntimeArgument& a = arguments_[i];
      void* address =
          a.output ? arguments.outputs[a.index] : const_cast<void*>(arguments.inputs[a.index]);
      dnnl_memory_set_data_handle(set->arguments[i].memory, address);
    }
    if (uses_workspace())
      dnnl_memory_set_data_handle(set->arguments[arguments_.size()].memory, arguments.workspace);
    dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), set->stream.get(),
                               static_cast<int>(set->arguments.size()), set->arguments.data());
    sets_.give_back(std::move(set));
    if (status != dnnl_success) {
      return Error{ErrorCode::internal,
                   "oneDNN: execution failed with status " + std::to_string(status)};
    }
    return {};
  }

  int64_t weight_bytes() const override { return weight_bytes_; }
  int64_t workspace_bytes() const override { return static_cast<int64_t>(scratchpad_.get_size()); }

 private:
  bool uses_workspace() const { return scratchpad_.get_size() > 0; }

  // A sum reads the destination: where the planner could not let the output take over the operand's
  // storage, the operand is copied there first.
  Status place_operand(const Arguments& arguments) const {
    if (in_place_operand_ < 0) return {};
    void* output = arguments.outputs[0];
    const void* operand = arguments.inputs[static_cast<size_t>(in_place_operand_)];
    if (output == operand) {
      for (const RuntimeArgument& a : arguments_) {
        if (!a.output && arguments.inputs[a.index] == output) {
          return Error{
              ErrorCode::internal,
              "oneDNN: the output of a sum took over the storage of an input still in use"};
        }
      }
      return {};
    }
    constexpr int64_t kPiece = 16384;
    int64_t bytes = static_cast<int64_t>(output_bytes_);
    auto* to = static_cast<char*>(output);
    auto* from = static_cast<const char*>(operand);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < bytes; i += kPiece) {
      std::memcpy(to + i, from + i, static_cast<size_t>(std::min(kPiece, bytes - i)));
    }
    return {};
  }

  void pack(const ConstantArgument& constant, const OnednnImplementation& implementation,
            Weights weights, dnnl::stream& stream) {
    Tensor value = constant.value(weights);
    MemoryDesc wanted = constant.source;
    if (constant.wanted != dnnl::query::undef) {
      wanted = implementation.descriptor.query_md(constant.wanted, constant.wanted_index);
    }
    // Packed even where the layouts agree: the model's own tensor need not outlive this.
    Tensor storage(DataType::uint8, {static_cast<int64_t>(wanted.get_size())});
    void* const to = storage.mutable_bytes();
    dnnl::memory packed(wanted, library_->engine, to);
    if (wanted == constant.source) {
      std::memcpy(to, value.raw(), wanted.get_size());
    } else if (packs_winograd(constant.source, wanted)) {
      pack_winograd(constant.source, wanted, static_cast<const float*>(value.raw()),
                    static_cast<float*>(to));
    } else {
      dnnl::memory stored(constant.source, library_->engine, const_cast<void*>(value.raw()));
      dnnl::reorder(stored, packed).execute(stream, stored, packed);
      stream.wait();
    }
    weight_bytes_ += static_cast<int64_t>(wanted.get_size());
    packed_.push_back({constant.argument, std::move(storage), packed});
  }

  std::unique_ptr<LaunchSet> make_set() const {
    auto set = std::make_unique<LaunchSet>();
    set->stream = dnnl::stream(library_->engine);
    auto append = [&](int argument, const MemoryDesc& descriptor) {
      set->memories.push_back(dnnl::memory(descriptor, library_->engine, DNNL_MEMORY_NONE));
      set->arguments.push_back({argument, set->memories.back().get()});
    };
    for (const RuntimeArgument& a : arguments_) append(a.argument, a.descriptor);
    if (uses_workspace()) append(DNNL_ARG_SCRATCHPAD, scratchpad_);
    for (const Packed& p : packed_) set->arguments.push_back({p.argument, p.memory.get()});
    return set;
  }

  struct Packed {
    int argument;
    Tensor storage;  // what `memory` describes
    dnnl::memory memory;
  };

  const std::shared_ptr<const OnednnLibrary> library_;
  const std::vector<RuntimeArgument> arguments_;
  const int in_place_operand_;
  const dnnl::primitive primitive_;
  const MemoryDesc scratchpad_;
  size_t output_bytes_ = 0;
  std::vector<Packed> packed_;
  int64_t weight_bytes_ = 0;
  mutable LaunchSets sets_;
};

}  // namespace

std::shared_ptr<const PreparedTactic> prepare_primitive(
    std::shared_ptr<const OnednnLibrary> library, const OnednnRecipe& recipe,
    const OnednnImplementation& implementation, Weights weights) {
  return std::make_shared<PreparedPrimitive>(std::move(library), recipe, implementation, weights);
}

}  // namespace enginery
