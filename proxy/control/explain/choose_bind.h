// Finds the socket at which a request arrives, by its URL and the name of a Gateway.
#pragma once

#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/control/explain/explained_request.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns the socket with the scheme and the port of the URL. A URL that names no port may mean any port, if there is
/// none of the scheme's own. If no socket has the port or the host, the forward proxies are meant. Of several sockets,
/// the one with a listener for the host is returned. `gateway` is "namespace/name", or empty for all Gateways. An error
/// lists the listeners, or states that several fit.
base::Result<const routing::Bind*> chooseBind(const routing::Snapshot& snapshot, const UrlInQuestion& url,
                                              std::string_view gateway);

}  // namespace sluice::control
