// Writes the statuses of PayloadProcessors and PayloadProcessingPipelines: whether they are attached, and which of
// their uses cannot run.
#pragma once

#include <optional>
#include <vector>

#include "proxy/compile/ground/fault.h"
#include "proxy/compile/status/status_sources.h"

namespace sluice::compile {

/// Returns the conditions of an object with uses. Those that cannot run have conditions of their own; a fault of the
/// whole object goes into its Accepted.
std::vector<config::Condition> processorConditions(const config::ObjectMeta& meta,
                                                   const std::optional<Fault>& unaccepted,
                                                   const StatusSources& sources);

/// A PayloadProcessor's ancestors are its targets. Nothing is written for a target that belongs to another controller.
void payloadProcessorStatuses(const StatusSources& sources, Statuses& statuses);
void pipelineStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::compile
