// The one codec between messages and bytes: Cap'n Proto, one unpacked segment, with limits on what
// comes in.
//
// Where: between messages.h and the sockets (coordinator/client/zmq_link.cpp,
// coordinator/server/server_socket.cpp). Threads: free functions without state.
#pragma once

#include "schemas/messages.h"

namespace enginery {

// The envelope frame. invalid_argument when it would be larger than max_bytes: a frame above
// ZeroMQ's MAXMSGSIZE is accepted by send and silently lost, so the sender checks.
Result<Bytes> encode(const Envelope& envelope, size_t max_bytes = kMaxControlBytes);

// Reads a frame at any address. corrupt_data: not an envelope, or beyond the limits (size, nesting
// 16, list counts, digests of another length than 32). A body that this version does not know reads
// as std::monostate.
Result<Envelope> decode(ByteSpan frame, size_t max_bytes = kMaxControlBytes);

}  // namespace enginery
