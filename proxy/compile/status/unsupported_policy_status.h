// Writes the statuses of policies whose kinds are known and not supported. They report what each policy closes, or why
// it closes nothing.
#pragma once

#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// A policy's ancestors are the objects that it targets. A target gets no entry if it belongs to another controller, or
/// if no Gateway of this controller leads to it.
void unsupportedPolicyStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
