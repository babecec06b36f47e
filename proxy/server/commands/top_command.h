// `sluice top`: shows the state of a running gateway on a terminal, and again whenever it changes, in the words of the
// live page.
#pragma once

#include "proxy/base/clock.h"
#include "proxy/net/address.h"

namespace sluice::server {

/// Shows the state of the gateway with that admin port until the user ends it, at most once in `interval`. If standard
/// output is no terminal, prints one state. Returns 0, or 1 if the gateway does not answer or ends.
int showTop(const net::Address& admin, base::Duration interval);

}  // namespace sluice::server
