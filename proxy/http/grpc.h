// What gRPC adds to HTTP/2: messages in bodies, and how a call ended. For requests that the gateway makes itself and
// for its own answers; what passes through it is never looked into.
//
// Source: the protocol description "gRPC over HTTP2". Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// In front of each message: whether it is compressed, and its length.
inline constexpr std::size_t kGrpcPrefix = 5;

/// One message, uncompressed, as it goes over the wire ("Length-Prefixed-Message").
std::string frameGrpcMessage(std::string_view message);

enum class GrpcFrame : std::uint8_t {
  kIncomplete,  // more of the body is needed; at its end: it was cut
  kMessage,
  kTooLarge,   // said as soon as the length is there
  kCompressed  // which nobody has agreed to: whoever asks sends no grpc-accept-encoding
};
/// Reads the first message of `body`, which then goes on kGrpcPrefix + message.size() bytes later.
GrpcFrame readGrpcMessage(const base::ByteQueue& body, std::size_t most, std::string& message);

struct GrpcStatus {
  std::uint32_t code = 0;  // 0: OK
  std::string message;     // in the server's words, percent-decoded: not to be shown as it is
};
/// How a call ended, by its trailers, or by a head that is all of the answer ("Trailers-Only"). Where neither says it,
/// by the status of HTTP; a 200 is then UNKNOWN.
GrpcStatus grpcStatusOf(const ResponseHead& head, const Headers* trailers);
/// The official mapping ("HTTP to gRPC Status Code Mapping").
std::uint32_t grpcStatusFrom(std::uint16_t httpStatus);

}  // namespace sluice::http
