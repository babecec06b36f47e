// One case of conformance to HTTP/2: frames that a peer sends, and the reaction that they must have. The cases are
// those of h2spec, in its order, written by hand; a section is the number under which h2spec has the case (RFC 7540 and
// RFC 7541, or with a letter before it h2spec's own generic cases).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "test/support/h2_frames.h"

namespace sluice::test {

struct WireReaction {
  enum class Kind : std::uint8_t {
    kGoaway,    // the connection ends with this code
    kReset,     // a stream ends with this code, and the connection goes on
    kAnswer,    // the exchange of stream 1 succeeds
    kPong,      // the last PING is answered, and none that is an answer itself
    kSettings,  // our first frame is SETTINGS
    kAck,       // SETTINGS are acknowledged
    kBytes,     // so many bytes of the body of stream 1 are sent
    kCalm       // nothing is an error: the connection goes on, or ends without one
  };
  Kind kind;
  std::uint32_t number = 0;
};

inline WireReaction endsConnection(std::uint32_t code) { return {WireReaction::Kind::kGoaway, code}; }
inline WireReaction endsStream(std::uint32_t code) { return {WireReaction::Kind::kReset, code}; }
inline WireReaction succeeds() { return {WireReaction::Kind::kAnswer}; }
inline WireReaction pongs() { return {WireReaction::Kind::kPong}; }
inline WireReaction sends(std::uint32_t count) { return {WireReaction::Kind::kBytes, count}; }

struct ConformanceRow {
  std::string_view section;
  std::string_view name;
  std::vector<std::string> steps;  // the peer waits for our side's reaction between two of them
  WireReaction reaction;
  bool greeted = true;           // the prefaces were exchanged before the first step
  std::string_view excuse = {};  // the reason why our side deliberately does otherwise
};
using ConformanceRows = std::vector<ConformanceRow>;

/// The sizes of the pieces in which a step arrives. They are no smaller because nghttp2 counts a CONTINUATION once for
/// each piece of its header, and takes few of them.
inline constexpr std::size_t kPieces[] = {1'000'000, 5};

/// The cases, and frames that only they need.
namespace h2case {

using h2error::kCancel;
using h2error::kCompressionError;
using h2error::kFlowControlError;
using h2error::kFrameSizeError;
using h2error::kProtocolError;
using h2error::kStreamClosed;

/// Returns a frame with padding: its length is in the first byte of the payload and need not be true.
inline std::string padded(H2Type type, std::uint8_t flags, std::uint8_t length, std::string_view content,
                          std::size_t padding) {
  return h2::frame(type, flags | h2flag::kPadded, 1,
                   std::string(1, static_cast<char>(length)).append(content).append(std::string(padding, '\0')));
}
/// Returns HEADERS of a whole request on stream 1 that depends on a stream.
inline std::string dependent(std::uint8_t dependsOn, std::string_view block) {
  const std::string priority{0, 0, 0, static_cast<char>(dependsOn), '\xff'};
  return h2::frame(H2Type::kHeaders, h2flag::kEndHeaders | h2flag::kEndStream | h2flag::kPriority, 1,
                   priority + std::string(block));
}
/// Returns a frame of an unknown type.
inline std::string unknownFrame() { return h2::frame(static_cast<H2Type>(0x16), 0, 0, std::string(8, '\0')); }

}  // namespace h2case
}  // namespace sluice::test
