// Writes the statuses of PayloadProcessors and PayloadProcessingPipelines: whether they are attached, and which of
// their uses cannot run.
#pragma once

#include "proxy/control/compile/status/status_sources.h"

namespace sluice::control {

/// A PayloadProcessor's ancestor is its target. Nothing is written for a target that belongs to another controller.
void payloadProcessorStatuses(const StatusSources& sources, Statuses& statuses);
void pipelineStatuses(const StatusSources& sources, Statuses& statuses);

}  // namespace sluice::control
