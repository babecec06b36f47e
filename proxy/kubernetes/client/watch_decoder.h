// Takes the events of a Kubernetes watch, one JSON object per line, out of the bytes of its answer.
//
// Lives for one answer; one thread; sans-IO.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/value.h"

namespace sluice::kubernetes {

/// The `type` of metav1.WatchEvent.
enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchEventType type = WatchEventType::kError;
  content::Value object;  // of kError a Status
};

class WatchDecoder {
 public:
  /// The largest event.
  static constexpr std::size_t kMostBytes = 8 * 1024 * 1024;

  /// Takes the bytes of an answer, in order, off the front of `bytes` up to the end of an event, and returns that;
  /// nullopt once all of them are taken. Fails if an event cannot be read, or is too large; call nothing else then.
  base::Result<std::optional<WatchEvent>> next(std::string_view& bytes);

 private:
  std::string line_;  // the part of the line that has arrived
};

}  // namespace sluice::kubernetes
