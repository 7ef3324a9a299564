// How the fields of one struct become Cap'n Proto and come back: one list for both directions.
//
//   CODEC(NamedNumber, NamedNumber) {   the plain struct, its struct in the .capnp file
//     FIELD(name, Name);                the member, its field in the .capnp file with a capital
//     FIELD(value, Value);
//   }
//
// defines to_wire(const NamedNumber&, builder) and from_wire(reader, NamedNumber&). The order of
// the lines is the order in which the fields are written, which decides where Cap'n Proto puts
// lists and texts: append, do not sort. Inside schemas only. Readers throw kj::Exception on what
// does not fit (as Cap'n Proto itself does); codec.cpp catches it in one place.
#pragma once

#include <kj/debug.h>

#include <type_traits>

#include "schemas/messages.capnp.h"
#include "schemas/messages.h"
#include "schemas/values.capnp.h"

namespace enginery {

namespace v = schemas;  // the generated structs

// The last enumerator that this version knows, and what a larger number of a newer sender reads as.
template <typename E>
struct KnownNumbers {
  E last, otherwise;
};
constexpr KnownNumbers<ErrorCode> known_numbers(ErrorCode) {
  return {kLastErrorCode, ErrorCode::internal};
}
constexpr KnownNumbers<JobState> known_numbers(JobState) {
  return {JobState::cancelled, JobState::submitted};
}
constexpr KnownNumbers<TargetState> known_numbers(TargetState) {
  return {TargetState::cancelled, TargetState::queued};
}
constexpr KnownNumbers<Source> known_numbers(Source) {
  return {Source::joined, Source::none};
}
constexpr KnownNumbers<StepState> known_numbers(StepState) {
  return {StepState::quarantined, StepState::waiting};
}
constexpr KnownNumbers<WorkerCondition> known_numbers(WorkerCondition) {
  return {WorkerCondition::quarantined, WorkerCondition::busy};
}
constexpr KnownNumbers<OutcomeKind> known_numbers(OutcomeKind) {
  return {OutcomeKind::input_gone, OutcomeKind::internal};
}

// ---- single values

inline capnp::Text::Reader wire_text(const std::string& s) {
  return {s.c_str(), s.size()};
}
inline capnp::Data::Reader wire_data(const Digest& d) {
  return {d.bytes.data(), d.bytes.size()};
}
inline capnp::Data::Reader wire_data(const Bytes& b) {
  return {reinterpret_cast<const kj::byte*>(b.data()), b.size()};
}
inline void read_text(capnp::Text::Reader from, std::string& to) {
  to.assign(from.begin(), from.size());
}
inline void read_data(capnp::Data::Reader from, Bytes& to) {
  to.assign(reinterpret_cast<const char*>(from.begin()), from.size());
}
void read_data(capnp::Data::Reader from, Digest& to);                 // throws unless 32 bytes
void read_data(capnp::Data::Reader from, std::optional<Digest>& to);  // empty: nothing

// ---- lists

template <typename List>
size_t checked_size(const List& list) {
  KJ_REQUIRE(list.size() <= kMaxListCount, "list too long", list.size());
  return list.size();
}

template <typename T, typename ListBuilder>
void write_list(const std::vector<T>& from, ListBuilder to) {
  for (unsigned i = 0; i < to.size(); ++i) {
    if constexpr (std::is_same_v<ListBuilder, capnp::List<capnp::Text>::Builder>)
      to.set(i, wire_text(from[i]));
    else if constexpr (std::is_same_v<ListBuilder, capnp::List<capnp::Data>::Builder>)
      to.set(i, wire_data(from[i]));
    else
      to_wire(from[i], to[i]);
  }
}

template <typename ListReader, typename T>
void read_list(ListReader from, std::vector<T>& to) {
  to.resize(checked_size(from));
  for (unsigned i = 0; i < to.size(); ++i) {
    if constexpr (std::is_same_v<ListReader, capnp::List<capnp::Text>::Reader>)
      read_text(from[i], to[i]);
    else if constexpr (std::is_same_v<ListReader, capnp::List<capnp::Data>::Reader>)
      read_data(from[i], to[i]);
    else
      from_wire(from[i], to[i]);
  }
}

// ---- one field by its type

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

// `set(builder, value)` and `init(builder, size...)` are the builder's functions for the field,
// `Wire` is what its reader gives.
template <typename Wire, typename Builder, typename T, typename Set, typename Init>
void write_field(Builder to, const T& value, Set set, Init init) {
  if constexpr (std::is_enum_v<T>) {
    set(to, static_cast<uint16_t>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    set(to, value);
  } else if constexpr (std::is_same_v<Wire, capnp::Text::Reader>) {
    set(to, wire_text(value));
  } else if constexpr (std::is_same_v<T, std::optional<Digest>>) {
    if (value) set(to, wire_data(*value));
  } else if constexpr (std::is_same_v<Wire, capnp::Data::Reader>) {
    set(to, wire_data(value));
  } else if constexpr (kIsList<T>) {
    write_list(value, init(to, static_cast<unsigned>(value.size())));
  } else {
    to_wire(value, init(to));
  }
}

template <typename Wire, typename T>
void read_field(Wire from, T& to) {
  if constexpr (std::is_enum_v<T>) {
    const KnownNumbers<T> known = known_numbers(T{});
    to = from <= static_cast<uint16_t>(known.last) ? static_cast<T>(from) : known.otherwise;
  } else if constexpr (std::is_arithmetic_v<T>) {
    to = from;
  } else if constexpr (std::is_same_v<Wire, capnp::Text::Reader>) {
    read_text(from, to);
  } else if constexpr (std::is_same_v<Wire, capnp::Data::Reader>) {
    read_data(from, to);
  } else if constexpr (kIsList<T>) {
    read_list(from, to);
  } else {
    from_wire(from, to);
  }
}

template <typename Side>
inline constexpr bool kIsBuilder = requires(Side side) { side.asReader(); };

}  // namespace enginery

#define CODEC(Struct, Wire)                                                         \
  static void wire_fields(auto&, auto, std::type_identity<Struct>);                 \
  void to_wire(const Struct& from, v::Wire::Builder to) {                           \
    wire_fields(from, to, std::type_identity<Struct>());                            \
  }                                                                                 \
  void from_wire(v::Wire::Reader from, Struct& to) {                                \
    wire_fields(to, from, std::type_identity<Struct>());                            \
  }                                                                                 \
  static void wire_fields([[maybe_unused]] auto& plain, [[maybe_unused]] auto wire, \
                          std::type_identity<Struct>)

#define FIELD(member, Name)                 \
  if constexpr (kIsBuilder<decltype(wire)>) \
    WRITE_FIELD(plain.member, Name);        \
  else                                      \
    read_field(wire.get##Name(), plain.member)

// A std::optional, with a flag of its own on the wire.
#define OPTIONAL_FIELD(member, HasName, Name)             \
  if constexpr (kIsBuilder<decltype(wire)>) {             \
    wire.set##HasName(plain.member.has_value());          \
    if (plain.member) WRITE_FIELD(*plain.member, Name);   \
  } else if (wire.get##HasName()) {                       \
    read_field(wire.get##Name(), plain.member.emplace()); \
  }                                                       \
  static_assert(true)

#define WRITE_FIELD(value, Name)                                                   \
  write_field<decltype(wire.asReader().get##Name())>(                              \
      wire, value, [](auto builder, auto content) { builder.set##Name(content); }, \
      [](auto builder, auto... size) { return builder.init##Name(size...); })
