// A ReloadObserver gets the outcome of each reload on the main thread. The log, the metrics and users of the served
// settings depend on it.
#pragma once

#include <string_view>

#include "proxy/control/generation.h"
#include "proxy/control/revisions.h"

namespace sluice::control {

class ReloadObserver {
 public:
  virtual ~ReloadObserver() = default;
  /// Called when the configuration that was read is the one that is served.
  virtual void onUnchanged(const Revisions& revisions) = 0;
  /// Called when a configuration was refused. The old one stays in service, if there is one.
  virtual void onRefused(const Revisions& revisions) = 0;
  /// Called when `now` is served; `before` was the revision until then.
  virtual void onServed(const Revisions& revisions, const Generation& now, std::string_view before) = 0;
};

}  // namespace sluice::control
