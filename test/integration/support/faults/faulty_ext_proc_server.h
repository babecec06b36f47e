// An external processor (envoy.service.ext_proc.v3) in the process of the test, which lets everything go on, and on
// command fails in one exact way at one exact part. It writes its HTTP/2 frame by frame, so that it can break off
// wherever it likes. A thread for each connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "test/integration/support/raw_origin.h"

namespace sluice::test {

enum class ServerFault : std::uint8_t {
  kNone,
  kMute,             // sends nothing from here on
  kSlow,             // asks for a short time, and then sends nothing
  kStreamReset,      // RST_STREAM
  kStreamRefused,    // RST_STREAM with the code that nothing was begun
  kConnectionReset,  // RST of TCP
  kHangUp,           // the end of the connection's bytes, without GOAWAY
  kErrorStatus,      // the end of the stream with a status of gRPC that is none of success
  kCleanEnd,         // the end of the stream with status 0
  kGarbageMessage,   // a message that is none of the protocol
  kGarbageFrames,    // bytes that are no HTTP/2
  kWrongPart,        // an answer to another part
  kTooLong,          // an answer longer than maxMessageSize; it never ends
  kLastGoaway,       // GOAWAY that excludes this stream, and nothing else
  kErrorGoaway,      // GOAWAY with an error, and the end of the connection
  kGoodGoaway,       // GOAWAY that includes this stream, which goes on well
  kGoneBehind,       // the right answer, and RST_STREAM behind it
  kGoneChanged,      // an answer that changes the bytes, and RST_STREAM behind it
  kOwnEnd,           // in full duplex: kOwnBody as a whole body of its own, and the end of the stream with status 0
  kEndless,          // in full duplex: pieces of a body without an end
  kEndlessTiny,      // in full duplex: pieces of one byte without an end
  kEndlessEmpty,     // in full duplex: empty pieces without an end
  kEndlessPatience   // asks for more time again and again, without end
};

/// A body that no client and no origin sends.
inline constexpr const char* kOwnBody = "of the server";

/// Returns the name of a fault for messages of tests.
const char* nameOf(ServerFault fault);

enum class ServerPart : std::uint8_t { kRequestHeaders, kRequestBody, kResponseHeaders, kResponseBody, kOther };

/// The behaviour of a server on each stream that begins while it has the plan.
struct ServerPlan {
  ServerFault fault = ServerFault::kNone;
  ServerPart part = ServerPart::kRequestHeaders;  // at which it fails, in the place of an answer
  /// It fails only when it has been sent all of that request or response, and answers to nothing from `part` on.
  bool atEnd = false;
  /// It fails only when it has been sent this many bytes of the part, and answers to none of them.
  std::size_t behind = 0;
};

/// The state that the server shares with its connections, which it outlives.
struct ServerOrders {
  std::mutex mutex;
  ServerPlan plan;                     // guarded by mutex
  std::atomic<int> failed = 0;         // how often it has failed as planned
  std::atomic<int> streams = 0;        // that have begun
  std::atomic<int> broken = 0;         // streams that the gateway has broken off
  std::atomic<std::size_t> given = 0;  // bytes of answers without an end
};

class FaultyExtProcServer {
 public:
  std::uint16_t port() const { return origin_.port(); }
  /// Has it fail like that on each stream that begins from now on.
  void plan(const ServerPlan& plan);
  int failed() const { return orders_.failed; }
  int streams() const { return orders_.streams; }
  int broken() const { return orders_.broken; }
  std::size_t given() const { return orders_.given; }

 private:
  ServerOrders orders_;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin&) { serve(socket); }};

  void serve(BlockingSocket& socket);
};

}  // namespace sluice::test
