// Writes the statuses of policies whose kinds are known and not served: what each of them closes, or why it closes
// nothing.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// A policy's ancestors are the objects that it names. Nothing is written for those that belong to other controllers,
/// or that no Gateway of ours leads to.
void unsupportedPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
