// Cap'n Proto's reading and writing of one message, with its limits and exceptions turned into
// errors. Inside format only. Thread-safe, without state.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <cstring>
#include <functional>
#include <vector>

#include "engine/base/digest.h"
#include "engine/device/device.h"
#include "engine/format/engine.capnp.h"

namespace enginery {

// One unpacked message, in one segment where it fits.
inline Bytes message_bytes(capnp::MessageBuilder& builder) {
  kj::Array<capnp::word> words = capnp::messageToFlatArray(builder);
  auto bytes = words.asBytes();
  return Bytes(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

// Calls `read` with the root of the message in `bytes`; what Cap'n Proto refuses (limits, wild
// pointers) is `untrusted`.
template <typename Root, typename F>
auto read_message(ByteSpan bytes, const char* what, F&& read)
    -> decltype(read(std::declval<typename Root::Reader>())) {
  if (bytes.size() % sizeof(capnp::word) != 0)
    return Error{ErrorCode::untrusted, std::string(what) + ": odd size"};
  std::vector<capnp::word> words(bytes.size() /
                                 sizeof(capnp::word));  // sections are aligned, spans need not be
  std::memcpy(static_cast<void*>(words.data()), bytes.data(), bytes.size());
  try {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = 8 * words.size() + 1024;
    options.nestingLimit = 16;
    capnp::FlatArrayMessageReader reader(
        kj::ArrayPtr<const capnp::word>(words.data(), words.size()), options);
    auto out = read(reader.getRoot<Root>());
    // A word or number that a parser refuses is damage here, not somebody's argument.
    const bool damaged = !out.ok() && (out.error().code == ErrorCode::invalid_argument ||
                                       out.error().code == ErrorCode::unsupported ||
                                       out.error().code == ErrorCode::usage);
    if (damaged) return Error{ErrorCode::untrusted, std::string(what) + ": " + out.error().message};
    return out;
  } catch (const kj::Exception& e) {
    return Error{ErrorCode::untrusted, std::string(what) + ": " + e.getDescription().cStr()};
  }
}

// Copies the values into a list of their size.
template <typename List, typename Values>
void set_list(List list, const Values& values) {
  unsigned i = 0;
  for (const auto& v : values) list.set(i++, v);
}

// Properties as a list of Fact, in order, both ways.
template <typename List>
void set_facts(List list, const Properties& facts) {
  unsigned i = 0;
  for (const auto& [key, value] : facts) {
    list[i].setKey(key);
    list[i++].setValue(value);
  }
}

template <typename List>
Properties get_facts(List list) {
  Properties out;
  for (auto fact : list) out.emplace_back(fact.getKey().cStr(), fact.getValue().cStr());
  return out;
}

template <typename T, typename List>
std::vector<T> get_numbers(List list) {
  std::vector<T> out;
  for (auto v : list) out.push_back(v);
  return out;
}

}  // namespace enginery
