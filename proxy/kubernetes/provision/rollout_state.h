// The state of a Gateway's Pods, as their Deployment and the Pods themselves have it: how many of them serve, and why
// others cannot be made or do not start.
//
// It repeats no message about an image or a container, because those may contain credentials of a registry or of a
// program, and the status of a Gateway has more readers than a Pod.
//
// Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/content/value.h"

namespace sluice::kubernetes {

struct RolloutState {
  std::int64_t wanted = 0;     // the number of Pods that there should be
  std::int64_t available = 0;  // the number of Pods that serve, at most those that are wanted
  bool complete = false;       // as many Pods as wanted are of the newest template and serve, and there are no others
  /// Why it does not get on, as people read it ("FailedCreate: pods is forbidden: exceeded quota"); empty if nothing is
  /// known to fail.
  std::string fault = {};

  bool operator==(const RolloutState&) const = default;
};

/// Reads a Deployment.
RolloutState rolloutState(const content::Value& deployment);

/// Returns why a Pod does not start or does not stay ("ImagePullBackOff: image example.com/sluice:2"); empty if it is
/// not known to fail, or is being deleted.
std::string whyNotStarted(const content::Value& pod);

}  // namespace sluice::kubernetes
