// Implements the part of gRPC above HTTP/2: messages in bodies, and the status of a call. The gateway uses it for its
// own requests and answers, and never looks into calls that pass through it.
//
// Source: the protocol description "gRPC over HTTP2". Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/message.h"

namespace sluice::http {

/// Returns true if the request is a gRPC call. gRPC is defined over HTTP/2 alone, so its Content-Type means nothing in
/// HTTP/1.x: such a request gets neither the timeouts of a streaming call nor a reply in the form of gRPC.
bool speaksGrpc(const RequestHead& request);
/// Returns true if the gateway's own answer with that status has the form of gRPC. A client that gets 415 does not use
/// gRPC, although it claims to, and must not take a 200 for success (gRPC over HTTP/2, "Content-Type").
bool isAnsweredAsGrpc(const RequestHead& request, std::uint16_t status);

/// The prefix of each message: a byte that is set if the message is compressed, and its length.
inline constexpr std::size_t kGrpcPrefix = 5;

/// Returns the message as it goes over the wire, uncompressed ("Length-Prefixed-Message").
std::string frameGrpcMessage(std::string_view message);

enum class GrpcFrame : std::uint8_t {
  kIncomplete,  // more of the body is needed; at the body's end: the message was cut
  kMessage,
  kTooLarge,   // reported as soon as the length is there
  kCompressed  // a violation: the gateway's requests have no grpc-accept-encoding
};
/// Reads the first message of `body`, which then goes on kGrpcPrefix + message.size() bytes later.
GrpcFrame readGrpcMessage(const base::ByteQueue& body, std::size_t most, std::string& message);

struct GrpcStatus {
  std::uint32_t code = 0;  // 0: OK
  std::string message;     // in the server's words, percent-decoded: not to be shown as it is
};
/// Returns how a call ended, from its trailers, or from a head that is the whole answer ("Trailers-Only"). If neither
/// has a status, it follows from the HTTP status; a 200 is then UNKNOWN.
GrpcStatus grpcStatusOf(const ResponseHead& head, const Headers* trailers);
/// Returns the code of grpc-status; nullopt if there is none. A value that is no code is UNKNOWN.
std::optional<std::uint32_t> grpcCodeOf(const Headers& fields);
/// Returns the HTTP status for a code, as Envoy and gRPC gateways map it; 500 for a code that gRPC does not define.
/// CANCELLED is 499.
std::uint16_t httpStatusFrom(std::uint32_t grpcCode);
/// Returns the gRPC status for an HTTP status, as gRPC defines it ("HTTP to gRPC Status Code Mapping").
std::uint32_t grpcStatusFrom(std::uint16_t httpStatus);

}  // namespace sluice::http
