// A ReloadObserver gets the outcome of each reload on the main thread. The log, the metrics, users of the served
// settings and what is reported to a cluster depend on it.
#pragma once

#include <string_view>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/state/generation.h"
#include "proxy/control/state/revisions.h"

namespace sluice::control {

class ReloadObserver {
 public:
  virtual ~ReloadObserver() = default;
  /// Called before one of the functions below, and when the first one is served, with what came of the objects of the
  /// source: the statuses of their newest versions, even if nothing else of it is served. A configuration that was
  /// restored, or could not be read, is not shown.
  virtual void onCompiled(const CompiledConfiguration& /*compiled*/) {}
  /// Called when the configuration that was read is the one that is served.
  virtual void onUnchanged(const Revisions& /*revisions*/) {}
  /// Called when a configuration was refused. The old one stays in service, if there is one.
  virtual void onRefused(const Revisions& /*revisions*/) {}
  /// Called when a configuration is good and must not be served yet. The old one stays in service.
  virtual void onHeld(const Revisions& /*revisions*/) {}
  /// Called when `now` is served; `before` was the revision until then.
  virtual void onServed(const Revisions& /*revisions*/, const Generation& /*now*/, std::string_view /*before*/) {}
  /// Called when `now` is served, which has what users had written before, and what changes by itself of now.
  virtual void onRefreshed(const Generation& /*now*/) {}
};

}  // namespace sluice::control
