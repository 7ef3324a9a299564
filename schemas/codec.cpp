#include "schemas/codec.h"

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstring>

#include "schemas/codec_messages.h"

namespace enginery {
namespace {

struct BodyWriter {
  v::Envelope::Body::Builder to;
  void operator()(const std::monostate&) { to.setNone(); }
#define ENGINERY_MESSAGE(Struct, Arm) \
  void operator()(const Struct& message) { to_wire(message, to.init##Arm()); }
#include "schemas/messages.inc"
};

// An arm of a newer version reads as no body; whoever asked gets `unsupported` for an answer.
void read_body(v::Envelope::Body::Reader from, Body& to) {
#define ENGINERY_MESSAGE(Struct, Arm) \
  if (from.is##Arm()) return from_wire(from.get##Arm(), to.emplace<Struct>());
#include "schemas/messages.inc"
  to = std::monostate{};
}

void write_envelope(const Envelope& from, v::Envelope::Builder to) {
  to.setVersion(from.version);
  to.setRequestHigh(from.request.high);
  to.setRequestLow(from.request.low);
  to.setSession(wire_text(from.session));
  to.setIncarnation(from.incarnation);
  to.setSequence(from.sequence);
  to.setTrace(wire_text(from.trace));
  std::visit(BodyWriter{to.getBody()}, from.body);
}

void read_envelope(v::Envelope::Reader from, Envelope& to) {
  to.version = from.getVersion();
  to.request = {from.getRequestHigh(), from.getRequestLow()};
  read_text(from.getSession(), to.session);
  to.incarnation = from.getIncarnation();
  to.sequence = from.getSequence();
  read_text(from.getTrace(), to.trace);
  read_body(from.getBody(), to.body);
}

// One segment: a second try has room for all of what the first one needed.
Bytes build(const Envelope& envelope, unsigned first_words) {
  capnp::MallocMessageBuilder message(first_words);
  write_envelope(envelope, message.initRoot<v::Envelope>());
  const auto segments = message.getSegmentsForOutput();
  if (segments.size() > 1)
    return build(envelope, static_cast<unsigned>(message.sizeInWords() + 16));
  const auto bytes = segments[0].asBytes();
  return Bytes(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

}  // namespace

Result<Bytes> encode(const Envelope& envelope, size_t max_bytes) {
  constexpr unsigned kFirstWords = 1024;
  Bytes bytes = build(envelope, kFirstWords);
  if (bytes.size() > max_bytes)
    return Error{ErrorCode::invalid_argument, "message of " + std::to_string(bytes.size()) +
                                                  " bytes: the limit is " +
                                                  std::to_string(max_bytes) + " bytes"};
  return bytes;
}

Result<Envelope> decode(ByteSpan frame, size_t max_bytes) {
  if (frame.empty() || frame.size() > max_bytes || frame.size() % sizeof(capnp::word) != 0)
    return Error{ErrorCode::corrupt_data,
                 "message: a frame of " + std::to_string(frame.size()) + " bytes"};
  // ZeroMQ's frames start at any address.
  auto words = kj::heapArray<capnp::word>(frame.size() / sizeof(capnp::word));
  std::memcpy(static_cast<void*>(words.begin()), frame.data(), frame.size());
  const kj::ArrayPtr<const capnp::word> segments[] = {words.asPtr()};
  capnp::ReaderOptions limits;
  limits.traversalLimitInWords = words.size() * 4 + 1024;
  limits.nestingLimit = 16;
  try {
    capnp::SegmentArrayMessageReader reader(segments, limits);
    Envelope envelope;
    read_envelope(reader.getRoot<v::Envelope>(), envelope);
    return envelope;
  } catch (const kj::Exception& e) {
    return Error{ErrorCode::corrupt_data, std::string("message: ") + e.getDescription().cStr()};
  }
}

}  // namespace enginery
