// Codecs enforce these bounds. They have the names and defaults of settings.yaml `limits`.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::http {

/// Bounds of messages and their bodies, which each version of HTTP has.
struct MessageBounds {
  std::uint32_t requestLineBytes = 16 * 1024;
  /// The decoded size of one header or trailer section: names, values and 32 bytes a line (RFC 9113 section 10.5.1).
  std::uint32_t headerBytes = 64 * 1024;
  std::uint32_t headerFields = 100;           // in a section of a request
  std::uint32_t responseFields = 200;         // in a section of a response
  std::uint32_t informationalResponses = 10;  // 1xx heads before a final one
  std::uint32_t chunkExtensionBytes = 1024;   // per message body
  std::uint32_t streamWindow = 256 * 1024;
  /// The part of streamWindow that a body has before widen() is called. It follows from limits.connectionMemory.
  std::uint32_t firstWindow = 256 * 1024;
  /// For how many seconds HTTP/1.x tells clients that ask that their connection is kept (timeouts.clientIdle); 0: it
  /// tells them nothing.
  std::uint32_t keepAliveSeconds = 0;
};

/// The bounds of messages and of HTTP/2's connections.
struct Limits : MessageBounds {
  std::uint32_t concurrentStreams = 100;
  std::uint32_t connectionWindow = 1024 * 1024;
  std::uint32_t drainBytes = 1024 * 1024;  // of a body behind its response (h2_drain.h); 0: a reset instead
  std::uint32_t resetsPerMinute = 200;     // streams that ended early, by either side
  std::uint32_t emptyFrames = 100;         // DATA or HEADERS without content in a row
  std::uint32_t queuedControlFrames = 1000;
  /// PING, SETTINGS, PRIORITY, WINDOW_UPDATE, and RST_STREAM that resetsPerMinute does not count; the peer may send ten
  /// more for each HEADERS or DATA of either side.
  std::uint32_t controlFramesPerMinute = 10000;
};

/// The bound that was hit, as the label of sluice_limit_hits_total.
enum class Limit : std::uint8_t {
  kRequestLineBytes,
  kHeaderBytes,
  kHeaderFields,
  kResponseFields,
  kHeaderMemory,       // of head_account.h
  kHeaderMemoryTotal,  // of head_account.h
  kInformationalResponses,
  kChunkExtensionBytes,
  kConcurrentStreams,
  kDrainBytes,
  kResetsPerMinute,
  kEmptyFrames,
  kQueuedControlFrames,
  kControlFramesPerMinute,
};

/// Returns the key of the bound in settings.yaml `limits`.
constexpr std::string_view limitName(Limit limit) {
  switch (limit) {
    case Limit::kRequestLineBytes:
      return "requestLineBytes";
    case Limit::kHeaderBytes:
      return "headerBytes";
    case Limit::kHeaderFields:
      return "headerFields";
    case Limit::kResponseFields:
      return "responseFields";
    case Limit::kHeaderMemory:
      return "headerMemory";
    case Limit::kHeaderMemoryTotal:
      return "headerMemoryTotal";
    case Limit::kInformationalResponses:
      return "informationalResponses";
    case Limit::kChunkExtensionBytes:
      return "chunkExtensionBytes";
    case Limit::kConcurrentStreams:
      return "concurrentStreams";
    case Limit::kDrainBytes:
      return "drainBytes";
    case Limit::kResetsPerMinute:
      return "resetsPerMinute";
    case Limit::kEmptyFrames:
      return "emptyFrames";
    case Limit::kQueuedControlFrames:
      return "queuedControlFrames";
    case Limit::kControlFramesPerMinute:
      return "controlFramesPerMinute";
  }
  return {};
}

}  // namespace sluice::http
