// Covers says what an object counts for when configurations are compared.
#pragma once

#include <cstdint>

namespace sluice::config {

/// An object counts for the revision, which Secrets enter by its key alone, or for what is served all the same, which
/// are the EndpointSlices. See revision.h.
enum class Covers : std::uint8_t { kRevision, kRevisionByKey, kEndpoints };

}  // namespace sluice::config
