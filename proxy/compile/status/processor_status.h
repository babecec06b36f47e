// Writes the statuses of PayloadProcessors and PayloadProcessingPipelines. They report whether the objects are
// attached, and which of their uses cannot run.
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/ground/fault.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// Returns the conditions of an object with uses. Each use that cannot run has its own condition. A fault of the whole
/// object goes into the condition Accepted.
std::vector<config::Condition> processorConditions(const config::ObjectMeta& meta,
                                                   const std::optional<Fault>& unaccepted,
                                                   const StatusSources& sources);

/// The ancestors of a PayloadProcessor are its targets. A target that belongs to another controller gets no entry.
void payloadProcessorStatuses(const StatusSources& sources, Statuses& statuses);
void pipelineStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
