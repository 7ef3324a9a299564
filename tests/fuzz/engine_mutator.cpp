#include "tests/fuzz/engine_mutator.h"

#include <capnp/dynamic.h>

#include <cstring>
#include <optional>

#include "engine/format/message.h"
#include "engine/format/sections.h"

namespace enginery::test {
namespace {

// Words of plans and manifests; any other text of the file may be put in place of a text, too.
constexpr const char* kWords[] = {"",
                                  "float32",
                                  "float16",
                                  "float64",
                                  "int8",
                                  "uint8",
                                  "int32",
                                  "int64",
                                  "boolean",
                                  "bfloat16",
                                  "float32:nhwc",
                                  "float32:linear",
                                  "int64:linear",
                                  "float32:nChw8c",
                                  "float32:nChw16c",
                                  "float32:nhwc8",
                                  "float32:nhwc/24",
                                  "float32:nChw1024c",
                                  "conv",
                                  "deconv",
                                  "matmul",
                                  "gemm",
                                  "pool",
                                  "act",
                                  "binary",
                                  "identity",
                                  "reshape",
                                  "transpose",
                                  "concat",
                                  "split",
                                  "slice",
                                  "gather",
                                  "pad",
                                  "reduce",
                                  "resize",
                                  "softmax",
                                  "layer_norm",
                                  "batch_norm",
                                  "lrn",
                                  "expand",
                                  "where",
                                  "cast",
                                  "top_k",
                                  "einsum",
                                  "bias",
                                  "add",
                                  "multiply",
                                  "activation",
                                  "kernel",
                                  "onednn",
                                  "reference",
                                  "host",
                                  "fp32",
                                  "fp16",
                                  "kind=relu alpha=0 beta=0",
                                  "kind=clip alpha=6 beta=0",
                                  "[]",
                                  "[0]",
                                  "[1,1]",
                                  "[0,0]",
                                  "[-1]",
                                  "[1,0]",
                                  "[3,1,1]",
                                  "-1",
                                  "[1099511627776,1]",
                                  "1099511627776",
                                  "true",
                                  "nan",
                                  "inf",
                                  "cpu-sse41",
                                  "view",
                                  "copy",
                                  "pointwise",
                                  "cuda"};

// A field of a struct or an element of a list, somewhere in a message.
struct Place {
  std::optional<capnp::DynamicStruct::Builder> parent;
  capnp::StructSchema::Field field;
  std::optional<capnp::DynamicList::Builder> list;
  unsigned index = 0;

  capnp::DynamicValue::Builder get() { return list ? (*list)[index] : parent->get(field); }
  // The schema's other integers have 32 bits.
  bool has_64_bits() const {
    return (list ? list->getSchema().getElementType() : field.getType()).isInt64();
  }
  void set(const capnp::DynamicValue::Reader& value) {
    if (list)
      list->set(index, value);
    else
      parent->set(field, value);
  }
};

// So many places are enough to choose from: edits make lists of millions of empty elements.
constexpr size_t kMaxPlaces = 100'000;

// The places of a message, and every text that stands in them.
class Places {
 public:
  explicit Places(capnp::DynamicStruct::Builder root) { walk(root); }
  Places(capnp::DynamicStruct::Builder root, capnp::StructSchema::Field only) { add(root, only); }
  std::vector<Place> all;
  std::vector<std::string> texts;

 private:
  void walk(capnp::DynamicStruct::Builder parent) {
    for (auto field : parent.getSchema().getFields()) {
      if (all.size() >= kMaxPlaces) return;
      add(parent, field);
    }
  }
  void add(capnp::DynamicStruct::Builder parent, capnp::StructSchema::Field field) {
    Place place;
    place.parent = parent;
    place.field = field;
    all.push_back(place);
    descend(parent.get(field));
  }
  void descend(capnp::DynamicValue::Builder value) {
    if (value.getType() == capnp::DynamicValue::STRUCT) walk(value.as<capnp::DynamicStruct>());
    if (value.getType() == capnp::DynamicValue::TEXT)
      texts.emplace_back(value.as<capnp::Text>().cStr());
    if (value.getType() != capnp::DynamicValue::LIST) return;
    auto list = value.as<capnp::DynamicList>();
    for (unsigned i = 0; i < list.size() && all.size() < kMaxPlaces; ++i) {
      Place place;
      place.list = list;
      place.index = i;
      all.push_back(place);
      descend(list[i]);
    }
  }
};

// The list with an element left out, repeated or in another's place.
void edit_list(Place& place, Random& random) {
  if (place.list) return;
  auto before = place.parent->disown(place.field);
  const auto old = before.getReader().as<capnp::DynamicList>();
  const unsigned size = old.size();
  if (size == 0) {
    place.parent->init(place.field, 1);
    return;
  }
  const auto at = static_cast<unsigned>(random() % size);
  const auto other = static_cast<unsigned>(random() % size);
  const int change = static_cast<int>(random() % 3) - 1;  // elements more
  const unsigned count = change < 0 ? size - 1 : change > 0 ? size + 1 : size;
  auto list = place.parent->init(place.field, count).as<capnp::DynamicList>();
  for (unsigned i = 0; i < count; ++i) {
    const unsigned from = change < 0   ? i + (i >= at)
                          : change > 0 ? i - (i > at)
                          : i == at    ? other
                          : i == other ? at
                                       : i;
    list.set(i, old[from]);
  }
}

void edit(Place& place, const Places& places, Random& random) {
  capnp::DynamicValue::Builder value = place.get();
  switch (value.getType()) {
    case capnp::DynamicValue::BOOL:
      return place.set(!value.as<bool>());
    case capnp::DynamicValue::INT: {
      const int64_t number = edited_number(value.as<int64_t>(), random);
      return place.set(place.has_64_bits() ? number : static_cast<int32_t>(number));
    }
    case capnp::DynamicValue::UINT:
      return place.set(static_cast<uint64_t>(random() % 2 ? random() % 9 : random() % 256));
    case capnp::DynamicValue::FLOAT:
      return place.set(random() % 2 ? 1e308 : -1.0);
    case capnp::DynamicValue::TEXT:
      return place.set(capnp::Text::Reader(
          edited_text(value.as<capnp::Text>().cStr(), kWords, places.texts, random).c_str()));
    case capnp::DynamicValue::LIST:
      return edit_list(place, random);
    default:
      return;
  }
}

// The places of a message, or of its list of run-time sizes alone, which is one of many fields.
Places places_of(capnp::DynamicStruct::Builder root, bool of_sizes) {
  const auto field = root.getSchema().findFieldByName("runTimeSizes");
  KJ_IF_MAYBE (sizes, field) {
    if (of_sizes && root.get(*sizes).as<capnp::DynamicList>().size() > 0)
      return Places(root, *sizes);
  }
  return Places(root);
}

template <typename Root>
Bytes edited_message(ByteSpan payload, Random& random, bool of_sizes = false) {
  std::vector<capnp::word> words(payload.size() / sizeof(capnp::word));
  std::memcpy(static_cast<void*>(words.data()), payload.data(), words.size() * sizeof(words[0]));
  capnp::FlatArrayMessageReader reader(kj::ArrayPtr<const capnp::word>(words.data(), words.size()));
  capnp::MallocMessageBuilder builder;
  builder.setRoot(reader.getRoot<Root>());
  for (auto edits = random() % 4 + 1; edits > 0; --edits) {
    const capnp::DynamicStruct::Builder root = builder.getRoot<Root>();
    Places places = places_of(root, of_sizes);
    edit(places.all[random() % places.all.size()], places, random);
  }
  return message_bytes(builder);
}

Bytes edited_section(SectionKind kind, ByteSpan payload, Random& random) {
  try {
    if (kind == SectionKind::plan) return edited_message<file::Plan>(payload, random);
    if (kind == SectionKind::manifest)
      return edited_message<file::Manifest>(payload, random, random() % 2 == 0);
  } catch (const kj::Exception&) {
    // An earlier change of its bytes broke the message.
  }
  return with_other_bytes(Bytes(as_text(payload)), random);
}

}  // namespace

Bytes edited_engine(const Bytes& body, Random& random) {
  const auto sections = parse_sections(as_bytes(body), HashCheck::skip);
  if (!sections.ok() || sections->payloads.empty()) return body;
  // Of sixteen edits about twelve are of the plan, two of the manifest.
  auto chosen = sections->payloads.find(SectionKind::plan);
  const auto draw = random() % 16;
  if (draw == 0 || draw == 2) chosen = sections->payloads.find(SectionKind::manifest);
  const bool bytes = draw == 1 || chosen == sections->payloads.end();
  if (bytes) {
    chosen = sections->payloads.begin();
    std::advance(chosen, static_cast<long>(random() % sections->payloads.size()));
  }
  Bytes out = file_header(sections->target);
  for (const auto& [kind, payload] : sections->payloads) {
    const Bytes section = kind != chosen->first ? Bytes(as_text(payload))
                          : bytes               ? with_other_bytes(Bytes(as_text(payload)), random)
                                                : edited_section(kind, payload, random);
    append_section(out, kind, as_bytes(section));
  }
  return out;
}

}  // namespace enginery::test
