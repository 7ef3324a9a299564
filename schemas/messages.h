// The messages between command line, workers and coordinator, as plain C++ structs; codec.h turns
// them into bytes.
//
// The structs are in control_messages.h and bulk_messages.h; messages.inc lists them, and from the
// list follow Body, the codec and what a request is answered with. Adding one touches four files:
// its row in messages.inc, its arm and struct in messages.capnp, its struct in control_messages.h
// (or bulk_messages.h) and its fields in codec_control.cpp (or codec_bulk.cpp). Then the compiler
// asks for its handler: coordinator/core/query.cpp or coordinator/server/bulk_server.cpp.
// Threads: as any value.
#pragma once

#include "schemas/bulk_messages.h"
#include "schemas/control_messages.h"
#include "schemas/roles.h"

namespace enginery {

inline constexpr size_t kMaxListCount = 10000;  // elements of any list in a message

// Made by the client, the same for every repetition of a request.
struct RequestId {
  uint64_t high = 0, low = 0;
  auto operator<=>(const RequestId&) const = default;
  std::string text() const;  // 32 hex digits
};
RequestId make_request_id();  // random

// clang-format off
using AnyMessage = std::variant<std::monostate
#define ENGINERY_MESSAGE(Struct, Arm) , Struct
#include "schemas/messages.inc"
>;
// clang-format on

// A variant of all messages (std::visit, std::get and the like take it as one). What copies, moves,
// compares and destroys it is compiled once, in messages.cpp, not in every file.
class Body : public AnyMessage {
 public:
  using AnyMessage::AnyMessage;
  using AnyMessage::operator=;
  Body();
  ~Body();
  Body(const Body&);
  Body(Body&&) noexcept;
  Body& operator=(const Body&);
  Body& operator=(Body&&) noexcept;
  bool operator==(const Body& other) const;
};

// The coordinator's two sockets: decisions and everything else.
enum class Socket : uint8_t { control, bulk };

// What the list says of a request: the socket that takes it, the roles that may send it, and the
// reply that it gets unless an error comes. Not defined for replies.
template <typename Request>
struct RequestTraits;
#define ENGINERY_REQUEST(Struct, Arm, where, Answer, who) \
  template <>                                             \
  struct RequestTraits<Struct> {                          \
    static constexpr Socket kSocket = Socket::where;      \
    static constexpr Roles kSenders = [] {                \
      using enum Role;                                    \
      return Roles(who);                                  \
    }();                                                  \
    using Reply = Answer;                                 \
  };
#define ENGINERY_REPLY(Struct, Arm)
#include "schemas/messages.inc"

// A handler has one overload for each of its requests, and one for all other bodies that asks for
// `!ControlRequest` (or `!BulkRequest`): then a request without an overload does not compile.
template <typename Message>
concept ControlRequest = RequestTraits<Message>::kSocket == Socket::control;
template <typename Message>
concept BulkRequest = RequestTraits<Message>::kSocket == Socket::bulk;
// Who may send the body: its row's roles; none for what is no request.
Roles senders_of(const Body& body);
// What people call the request: its arm, "Submit"; "?" for what is no request.
const char* request_name(const Body& body);
template <typename Request>
using ReplyOf = typename RequestTraits<Request>::Reply;

// What every frame holds. Client and servers fill in everything but the body.
struct Envelope {
  uint32_t version = kProtocolVersion;
  RequestId request;
  std::string session;       // of the client, made at its start
  uint64_t incarnation = 0;  // of the coordinator, in replies
  uint64_t sequence = 0;     // counts a client's requests
  std::string trace;         // W3C traceparent, or ""
  Body body;
  bool operator==(const Envelope&) const = default;
};

// What travels: the envelope, and on the bulk socket the raw bytes of a chunk.
struct Message {
  Envelope envelope;
  Bytes chunk;
};

}  // namespace enginery
