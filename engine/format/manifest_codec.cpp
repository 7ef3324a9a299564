#include "engine/format/codec.h"
#include "engine/format/message.h"

namespace enginery {
namespace {

template <typename List>
void set_types(List list, const std::vector<NamedType>& types) {
  unsigned i = 0;
  for (const NamedType& t : types) {
    auto shape = list[i++];
    shape.setName(t.name);
    shape.setType(std::string(to_string(t.type.type)));
    set_list(shape.initDims(static_cast<unsigned>(t.type.dims.size())), t.type.dims);
  }
}

template <typename List>
Result<std::vector<NamedType>> get_types(List list) {
  std::vector<NamedType> out;
  for (auto shape : list) {
    NamedType t;
    t.name = shape.getName().cStr();
    TRY(t.type.type, parse_data_type(shape.getType().cStr()));
    t.type.dims = get_numbers<int64_t>(shape.getDims());
    TRY([[maybe_unused]] int64_t size, checked_volume(t.type.dims, element_bytes(t.type.type)));
    out.push_back(std::move(t));
  }
  return out;
}

template <typename List>
void set_sizes(List list, const RunTimeSizes& sizes) {
  unsigned i = 0;
  for (const RunTimeSize& size : sizes) {
    auto to = list[i++];
    to.setOutput(static_cast<uint32_t>(size.output));
    to.setAxis(static_cast<uint32_t>(size.axis));
    to.setCount(static_cast<uint32_t>(size.count));
  }
}

template <typename List>
RunTimeSizes get_sizes(List list) {
  RunTimeSizes out;
  for (auto size : list) out.push_back({size.getOutput(), size.getAxis(), size.getCount()});
  return out;
}

// Words and pointers of a manifest; runTimeSizes is the last pointer. Without it the message is as
// long as it was before there was that field, so engines keep their bytes and their digests.
constexpr uint16_t kManifestWords = 2, kManifestPointers = 13;

file::Manifest::Builder init_manifest(capnp::MessageBuilder& message, bool has_run_time_sizes) {
  auto root = message.getRoot<capnp::AnyPointer>();
  const uint16_t pointers = kManifestPointers - (has_run_time_sizes ? 0 : 1);
  return root.initAsAnyStruct(kManifestWords, pointers).as<file::Manifest>();
}

}  // namespace

Bytes encode_manifest(const Manifest& m) {
  capnp::MallocMessageBuilder builder;
  auto root = init_manifest(builder, !m.run_time_sizes.empty());
  root.setName(m.name);
  root.setSku(m.sku);
  root.setKind(std::string(to_string(m.kind)));
  set_list(root.initPrecisions(static_cast<unsigned>(m.precisions.size())), m.precisions);
  root.setThreads(m.threads);
  root.setLevel(m.level);
  root.setProvisional(m.provisional);
  root.setModelDigest(m.model_digest);
  root.setStructureDigest(m.structure_digest);
  root.setOptionsText(m.options);
  root.setBuilder(m.builder);
  root.setPortability(m.portability);
  set_facts(root.initSoftware(static_cast<unsigned>(m.software.size())), m.software);
  set_types(root.initInputs(static_cast<unsigned>(m.inputs.size())), m.inputs);
  set_types(root.initOutputs(static_cast<unsigned>(m.outputs.size())), m.outputs);
  if (!m.run_time_sizes.empty())
    set_sizes(root.initRunTimeSizes(static_cast<unsigned>(m.run_time_sizes.size())),
              m.run_time_sizes);
  return message_bytes(builder);
}

Result<Manifest> decode_manifest(ByteSpan bytes) {
  return read_message<file::Manifest>(
      bytes, "engine file: manifest", [](file::Manifest::Reader root) -> Result<Manifest> {
        Manifest m;
        m.name = root.getName().cStr();
        m.sku = root.getSku().cStr();
        m.kind =
            std::string_view(root.getKind().cStr()) == "cuda" ? DeviceKind::cuda : DeviceKind::cpu;
        for (auto p : root.getPrecisions()) m.precisions.emplace_back(p.cStr());
        m.threads = root.getThreads();
        m.level = root.getLevel();
        m.provisional = root.getProvisional();
        m.model_digest = root.getModelDigest().cStr();
        m.structure_digest = root.getStructureDigest().cStr();
        m.options = root.getOptionsText().cStr();
        m.builder = root.getBuilder().cStr();
        m.portability = root.getPortability().cStr();
        m.software = get_facts(root.getSoftware());
        TRY(m.inputs, get_types(root.getInputs()));
        TRY(m.outputs, get_types(root.getOutputs()));
        m.run_time_sizes = get_sizes(root.getRunTimeSizes());
        return m;
      });
}

Bytes encode_provenance(const Provenance& p) {
  capnp::MallocMessageBuilder builder;
  auto root = builder.initRoot<file::Provenance>();
  set_facts(root.initFacts(static_cast<unsigned>(p.facts.size())), p.facts);
  set_facts(root.initHardware(static_cast<unsigned>(p.hardware.size())), p.hardware);
  set_list(root.initStepMicroseconds(static_cast<unsigned>(p.step_us.size())), p.step_us);
  root.setMedianUs(p.median_us);
  return message_bytes(builder);
}

Result<Provenance> decode_provenance(ByteSpan bytes) {
  return read_message<file::Provenance>(
      bytes, "engine file: provenance", [](file::Provenance::Reader root) -> Result<Provenance> {
        Provenance p;
        p.facts = get_facts(root.getFacts());
        p.hardware = get_facts(root.getHardware());
        p.step_us = get_numbers<double>(root.getStepMicroseconds());
        p.median_us = root.getMedianUs();
        return p;
      });
}

}  // namespace enginery
