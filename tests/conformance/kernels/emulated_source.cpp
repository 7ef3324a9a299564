#include "tests/conformance/kernels/emulated_source.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "engine/base/file.h"
#include "engine/device/cuda/fingerprint.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"

namespace enginery {
namespace {

class HostStream final : public Stream {
 public:
  Status synchronize() override { return {}; }
  Result<std::unique_ptr<Event>> mark() override { return std::make_unique<Event>(); }
  Status wait(const Event&) override { return {}; }
};

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(DeviceInfo info) : info_(std::move(info)) {}
  const DeviceInfo& info() const override { return info_; }
  Result<DeviceMemory> allocate(size_t bytes) override {
    return DeviceMemory(std::aligned_alloc(256, (bytes + 256) / 256 * 256), bytes,
                        [](void* p) { std::free(p); });
  }
  Result<std::unique_ptr<Stream>> create_stream() override {
    return std::unique_ptr<Stream>(std::make_unique<HostStream>());
  }
  Status copy(Stream&, void* to, const void* from, size_t bytes, CopyKind) override {
    return std::memcpy(to, from, bytes), Status();
  }
  Status fill(Stream&, void* to, uint8_t byte, size_t bytes) override {
    return std::memset(to, byte, bytes), Status();
  }
  Result<std::unique_ptr<CommandList>> record(Stream&, const Enqueue&) override {
    return Error{ErrorCode::unsupported, "the emulator records nothing"};
  }
  Measurer* measurer() override { return nullptr; }

 private:
  DeviceInfo info_;
};

// False where threads wait for a barrier that others never reach.
using EmulateFunction = bool (*)(const char* entry, const void* arguments, const unsigned* grid,
                                 unsigned threads, unsigned shared, unsigned cluster,
                                 bool backward);

// A kernel's text as a host function.
struct Emulate {
  EmulateFunction call = nullptr;
};

class PreparedEmulation final : public PreparedTactic {
 public:
  PreparedEmulation(KernelPlan plan, Emulate emulate, Weights weights, unsigned cluster,
                    const EmulationOrder& order)
      : plan_(std::move(plan)), emulate_(emulate), cluster_(cluster), order_(order) {
    for (const PackConstant& pack : plan_.constants) {
      Bytes bytes = pack(weights);
      constants_.emplace_back(bytes.size() / 16 + 1);
      std::memcpy(constants_.back().data(), bytes.data(), bytes.size());
    }
  }

  Status enqueue(Stream&, const Arguments& arguments) const override {
    for (const KernelLaunch& launch : plan_.launches) {
      Bytes filled = launch.arguments;
      for (const PointerSlot& slot : launch.slots) {
        auto index = static_cast<size_t>(slot.index);
        const void* pointer = slot.source == PointerSource::input    ? arguments.inputs[index]
                              : slot.source == PointerSource::output ? arguments.outputs[index]
                              : slot.source == PointerSource::constant
                                  ? static_cast<const void*>(constants_[index].data())
                                  : arguments.workspace;
        std::memcpy(filled.data() + slot.offset, &pointer, sizeof pointer);
      }
      const bool ended =
          emulate_.call(launch.entry.c_str(), filled.data(), launch.grid.data(), launch.threads,
                        launch.shared_bytes, launch.grid[2] % cluster_ == 0 ? cluster_ : 1,
                        order_ == EmulationOrder::backward);
      if (!ended) return Error{ErrorCode::internal, "a barrier that not every thread reaches"};
    }
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return plan_.workspace_bytes; }

 private:
  struct alignas(16) Sixteen {
    char bytes[16];
  };
  const KernelPlan plan_;
  const Emulate emulate_;
  const unsigned cluster_;
  const EmulationOrder& order_;
  std::vector<std::vector<Sixteen>> constants_;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class EmulatedSource final : public TacticSource {
 public:
  EmulatedSource(Device& device, std::string folder, const EmulationOrder& order)
      : device_(device), folder_(std::move(folder)), order_(order) {}
  SourceTraits traits() const override {
    return {.name = "kernel", .trust = Trust::may_fault, .serves_pitches = true};
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    return offer_kernels(problem, context(allowed), true);
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(KernelPlan plan, plan_kernel(problem, tactic, context({})));
    TRY(Emulate emulate, compiled(plan));
    unsigned cluster = 1;
    for (const auto& [name, value] : plan.program.macros) {
      if (name == "CLUSTER") cluster = static_cast<unsigned>(std::stoul(value));
    }
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedEmulation>(std::move(plan), emulate, weights, cluster, order_));
  }

 private:
  KernelContext context(std::set<Precision> allowed) const {
    return {device_.info(), sm_limits(device_.info().compute_capability), std::move(allowed)};
  }

  std::string text_of(const KernelPlan& plan) const {
    std::string text = "#define EMULATE_SM " + std::to_string(device_.info().compute_capability) +
                       "\n#include \"tests/conformance/kernels/emulator.h\"\n" +
                       program_text(plan.program);
    for (const std::string alignment : {"128", "1024"})
      replace_all(text, "extern __shared__ __align__(" + alignment + ") unsigned char shared[];",
                  "unsigned char* shared = emulator::current->block->shared();");
    text +=
        "\nextern \"C\" bool emulate(const char* entry, const void* arguments, const unsigned "
        "(&grid)[3], unsigned threads, "
        "unsigned shared, unsigned cluster, bool backward) {\n";
    std::set<std::string> entries;
    for (const KernelLaunch& launch : plan.launches) entries.insert(launch.entry);
    for (const std::string& e : entries) {
      text += "  if (!std::strcmp(entry, \"" + e + "\")) return emulator::launch(" + e +
              ", arguments, grid, threads, shared, cluster, backward);\n";
    }
    return text + "  std::abort();\n}\n";
  }

  // The standard headers of emulator.h, compiled once: a text takes half as long after them.
  std::string headers() const { return folder_ + "/headers.h"; }
  Status provide_headers() const {
    if (std::filesystem::exists(headers() + ".gch")) return {};
    CHECK_OK(write_file(
        headers(),
        "#include <ucontext.h>\n#include <algorithm>\n"
        "#include <cmath>\n#include <cstdint>\n#include <cstdlib>\n"
        "#include <cstring>\n#include <functional>\n#include <memory>\n#include <utility>\n"
        "#include <vector>\n"));
    return compile("-x c++-header -o " + headers() + ".gch " + headers(), headers() + ".log");
  }

  // Runs the C++ compiler; what it says goes to the file `log`.
  static Status compile(const std::string& arguments, const std::string& log) {
    const char* compiler = std::getenv("CXX");
    const std::string command = std::string(compiler ? compiler : "c++") +
                                " -std=c++17 -O1 -w -fPIC " + arguments + " > " + log + " 2>&1";
    if (std::system(command.c_str()) == 0) return {};
    const auto said = read_file(log);
    return Error{ErrorCode::internal, command + "\n" + (said.ok() ? *said : "")};
  }

  Result<Emulate> compiled(const KernelPlan& plan) const {
    std::string text = text_of(plan);
    TRY(const Bytes emulator,
        read_file(ENGINERY_SOURCE_DIR "/tests/conformance/kernels/emulator.h"));
    TRY(const Bytes matrices,
        read_file(ENGINERY_SOURCE_DIR "/tests/conformance/kernels/emulator_matrix.h"));
    std::string name = folder_ + "/" + sha256(emulator + matrices + text).hex().substr(0, 24);
    if (auto known = loaded_.find(name); known != loaded_.end()) return known->second;
    if (!read_file(name + ".so").ok()) {
      CHECK_OK(provide_headers());
      CHECK_OK(write_file(name + ".cpp", text));
      CHECK_OK(compile("-shared " ENGINERY_LINK_OPTION " -I" ENGINERY_SOURCE_DIR " -include " +
                           headers() + " -o " + name + ".so " + name + ".cpp",
                       name + ".log"));
    }
    void* library = dlopen((name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return Error{ErrorCode::internal, dlerror()};
    const auto call = reinterpret_cast<EmulateFunction>(dlsym(library, "emulate"));
    return loaded_[name] = Emulate{call};
  }

  Device& device_;
  const std::string folder_;
  const EmulationOrder& order_;
  mutable std::map<std::string, Emulate> loaded_;
};

}  // namespace

std::unique_ptr<Device> make_emulated_device(int compute_capability) {
  SkuRow row;
  row.kind = DeviceKind::cuda;
  row.compute_capability = compute_capability, row.sm_count = 8, row.memory_gib = 8;
  row.name = structural_sku_name(row.compute_capability, row.sm_count, row.memory_gib);
  return std::make_unique<EmulatedDevice>(device_info(row));
}

std::unique_ptr<TacticSource> make_emulated_source(Device& device, std::string folder,
                                                   const EmulationOrder& order) {
  return std::make_unique<EmulatedSource>(device, std::move(folder), order);
}

}  // namespace enginery
