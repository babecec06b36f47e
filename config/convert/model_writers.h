// Declares one writer for each kind of sluice.dev that other spellings are converted to. It writes the fields of `spec`
// from the model, and adds the parts of the model that the kind has no fields for to `left`.
//
// A new field of the kind needs one row in its writer.
#pragma once

#include <vector>

#include "config/convert/field_writer.h"
#include "config/convert/leftovers.h"
#include "config/model/model.h"

namespace sluice::config {

void writeTrafficPolicy(const TrafficPolicy& policy, FieldWriter& spec, Leftovers& left);
void writeBackend(const Backend& backend, FieldWriter& spec, Leftovers& left);
void writePayloadProcessor(const PayloadProcessor& processor, FieldWriter& spec, Leftovers& left);
void writePipeline(const PayloadProcessingPipeline& pipeline, FieldWriter& spec, Leftovers& left);
/// Writes the external processors of Envoy Gateway as a PayloadProcessor.
void writeExtensionPolicy(const ExtensionPolicy& policy, FieldWriter& spec, Leftovers& left);

// The functions below write parts that several kinds share.

/// Writes `targetRefs`. Our kinds name their targets, so a policy that selects its targets by labels stays as it is.
void writePolicyTargets(const PolicyTargets& named, FieldWriter& spec, Leftovers& left);
/// Writes `healthCheck`.
void writeHealthCheck(const BackendTraffic& traffic, FieldWriter& to);
/// Writes `tls` of a Backend or of its port.
void writeBackendTls(const BackendTls& tls, FieldWriter& to);
/// Writes a use of a payload processor.
void writeProcessorUse(const ProcessorUse& use, FieldWriter& to);

}  // namespace sluice::config
