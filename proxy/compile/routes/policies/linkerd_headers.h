// Compiles the header field by which Linkerd learns the Service that a request is for.
#pragma once

#include "proxy/compile/policies/traffic_policies.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Gives each weighted backend of the rule that leads to a Service the field l5d-dst-override, if the settings for it
/// ask for that. It replaces what the client and the filters of the rule have put into that field.
void addLinkerdHeaders(const RuleTraffic& traffic, routing::Rule& compiled);

}  // namespace sluice::compile
