// sluice.dev/ConnectGuard:v1: denies connections to the Backend, or narrows the choice among its addresses, by network,
// port, server name, certificate and caller.
//
// config: {allow: [rule], deny: [rule]}, each rule {cidrs, ports, sni, fingerprints, serviceAccounts, assurance}. An
// address passes if a rule of allow matches it, or if there is no allow, and no rule of deny does. Rules with
// fingerprints are judged by the connection that the request gets, after the handshake and before the first byte of the
// request.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType connectGuard();

}  // namespace sluice::filters
