// Reads `identity`, which says how a gateway learns who its callers are, of the settings and of GatewayParameters.
#pragma once

#include "config/fields/field_reader.h"
#include "proxy/base/identity_terms.h"

namespace sluice::config {

/// Reads the sources and whom Backends are told. A source that is not supported is an error, so that nobody relies on
/// it.
void readIdentity(FieldReader& reader, base::IdentityTerms& terms);

}  // namespace sluice::config
