// These settings say how names are resolved.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "proxy/base/clock.h"

namespace sluice::net {

/// settings.yaml `dns`.
struct DnsSettings {
  std::vector<std::string> servers;                       // "ip" or "ip:port"; empty: the system's
  std::map<std::string, std::vector<std::string>> hosts;  // name in lower case -> addresses
  base::Duration timeout = std::chrono::seconds(2);       // per try
  int attempts = 3;
  base::Duration minTtl = std::chrono::seconds(1);
  base::Duration maxTtl = std::chrono::seconds(300);
  base::Duration negativeTtl = std::chrono::seconds(5);
  base::Duration staleTtl = std::chrono::seconds(300);
  std::size_t maxAddresses = 16;
  bool ipv6 = false;
  std::size_t maxNames = 4096;  // answers kept, the oldest makes room; and names asked for at a time, more are refused
};

}  // namespace sluice::net
