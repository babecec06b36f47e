// Finds the socket at which a request arrives, as far as its URL and the name of a Gateway tell.
#pragma once

#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/control/explain/explained_request.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Returns the socket that speaks the scheme of the URL and has its port. A URL that names no port may mean any port,
/// if there is none of the scheme's own. Of several sockets, the one with a listener for the host is meant. `gateway`
/// is "namespace/name", or empty for all Gateways. An error says which listeners there are, or that several fit.
base::Result<const routing::Bind*> chooseBind(const routing::Snapshot& snapshot, const UrlInQuestion& url,
                                              std::string_view gateway);

}  // namespace sluice::control
