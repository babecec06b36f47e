// A ReloadObserver gets the outcome of each reload on the main thread. The log, the metrics, users of the served
// settings and the reports to a cluster depend on it.
#pragma once

#include <string_view>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/state/generation.h"
#include "proxy/control/state/revisions.h"

namespace sluice::control {

class ReloadObserver {
 public:
  virtual ~ReloadObserver() = default;
  /// Called before one of the functions below, and when the first configuration is served, with the statuses of the
  /// newest objects of the source, even if nothing else of it is served. Not called for a configuration that was
  /// restored or could not be read.
  virtual void onCompiled(const CompiledConfiguration& /*compiled*/) {}
  /// Called when the Secrets, endpoints or states of servers of `served` have changed, which is served while the newest
  /// objects of the source are refused or must not be served yet.
  virtual void onServing(const CompiledConfiguration& /*served*/) {}
  /// Called when the configuration that was read is served already.
  virtual void onUnchanged(const Revisions& /*revisions*/) {}
  /// Called when a configuration was refused. The old one stays in service, if there is one.
  virtual void onRefused(const Revisions& /*revisions*/) {}
  /// Called when a configuration is good but must not be served yet. The old one stays in service.
  virtual void onHeld(const Revisions& /*revisions*/) {}
  /// Called when `now` is served; `before` was the revision until then.
  virtual void onServed(const Revisions& /*revisions*/, const Generation& /*now*/, std::string_view /*before*/) {}
  /// Called when `now` is served, which has the same objects of users as before, with current Secrets and endpoints.
  virtual void onRefreshed(const Generation& /*now*/) {}
};

}  // namespace sluice::control
