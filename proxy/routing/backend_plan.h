// What follows from the members of a BackendPlan: its authority and its identity.
#pragma once

#include <string>

#include "proxy/routing/snapshot.h"

namespace sluice::routing {

/// The hostname, with the port unless it is 443 with TLS or 80 without (RFC 9110 section 4.2).
std::string authorityOf(const BackendPlan& plan);
/// Everything that makes two connections different: host, port, protocol, SNI, names, authorities, client certificate,
/// verification. Two plans with equal identities may share connections, whichever Backend they are from.
std::string identityOf(const BackendPlan& plan);

}  // namespace sluice::routing
