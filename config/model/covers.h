// Covers says how an object counts when two configurations are compared.
#pragma once

#include <cstdint>

namespace sluice::config {

/// An object counts for the revision, and Secrets only through the revision's key. EndpointSlices count only for what
/// is served. See revision.h.
enum class Covers : std::uint8_t { kRevision, kRevisionByKey, kEndpoints };

}  // namespace sluice::config
