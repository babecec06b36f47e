// Names to addresses by c-ares, never blocking: one per worker, with its own cache.
//
// A name in `hosts` is answered from there and never asked. Answers are kept for their TTL within [minTtl, maxTtl],
// failures for negativeTtl. Several askers of one name share one query.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/address.h"
#include "proxy/net/worker.h"

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
};

/// What a name stands for. Never empty.
using Addresses = std::vector<Address>;

class Resolver {
 public:
  virtual ~Resolver() = default;

  /// What is known now: addresses (port 0), a remembered failure, or nullptr if nothing is known (or it has expired).
  /// The pointer is valid until the next turn.
  virtual const base::Result<Addresses>* cached(std::string_view name) = 0;
  /// Asks for a name; `done` is called once, inside a Turn, when cached() has something to say. It only records.
  /// Errors there: dns_error, dns_timeout. IP literals need no question.
  virtual void resolve(std::string_view name, std::function<void()> done) = 0;
};

/// Errors are config's: a server or host that is no address.
base::Result<std::unique_ptr<Resolver>> makeResolver(Worker& worker, const DnsSettings& settings);

}  // namespace sluice::net
