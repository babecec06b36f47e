// Covers states how an object is included when two configurations are compared.
#pragma once

#include <cstdint>

namespace sluice::config {

/// Most objects are part of the revision. Secrets are part of it only through an HMAC with the revision's key.
/// EndpointSlices are not part of the revision, but only of the served endpoints. See revision.h.
enum class Covers : std::uint8_t { kRevision, kRevisionByKey, kEndpoints };

}  // namespace sluice::config
