// The name servers that are asked, in their order. Read once when a resolver is made. Internal to proxy/net.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/address.h"

namespace sluice::net {

/// Returns the servers of the settings, or the system's if there are none. Fails with an error of config's origin if a
/// text is neither "ip" nor "ip:port".
base::Result<Addresses> dnsServers(const std::vector<std::string>& texts);

}  // namespace sluice::net
