// `sluice check egress`: checks whether direct egress is closed, by connections from the place where the command runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/server/check/check_target.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

struct EgressCheckOptions {
  std::string nameSpace;             // empty: that of the Pod
  std::vector<CheckTarget> targets;  // none: defaultTargets()
  std::optional<CheckTarget> gateway = std::nullopt;
  base::Duration timeout = std::chrono::seconds(5);  // of one lookup, and of one connection
};

/// Prints the attempts, their outcomes, and the conclusion. Returns 0 if direct egress is closed and the gateway, if
/// there is one, is reachable; else 1.
int checkEgress(const EgressCheckOptions& options, OutputFormat format);

}  // namespace sluice::server
