// A ReloadObserver is told how each reload ended, on the main thread: for the log, the metrics, and whoever follows the
// settings that are served.
#pragma once

#include <string_view>

#include "proxy/control/generation.h"
#include "proxy/control/revisions.h"

namespace sluice::control {

class ReloadObserver {
 public:
  virtual ~ReloadObserver() = default;
  /// The configuration that was read is the one that is served.
  virtual void onUnchanged(const Revisions& revisions) = 0;
  /// The old configuration serves on.
  virtual void onRefused(const Revisions& revisions, std::string_view reason) = 0;
  /// `now` is served, and `before` was the revision until then.
  virtual void onServed(const Revisions& revisions, const Generation& now, std::string_view before) = 0;
};

}  // namespace sluice::control
