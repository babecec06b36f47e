// Names to addresses by c-ares, never blocking: one per worker, with its own cache.
//
// A name in `hosts` is answered from there and never asked. Answers are kept for their TTL within [minTtl, maxTtl],
// failures for negativeTtl. A name in use is asked again before its answer expires. When the name servers fail, but not
// when they say that there is no such name, the last good answer goes on for up to staleTtl. Several askers of one name
// share one query.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/settings.h"
#include "proxy/net/address.h"
#include "proxy/net/worker.h"
#include "proxy/observe/metrics.h"

namespace sluice::net {

/// What a new connection does with an answer. Connections that exist stay, whatever later answers say.
enum class DnsStrategy : std::uint8_t {
  kStrict,  // all of its addresses, one after the other until one takes the connection
  kLogical  // the first: the answers of a name that is balanced by DNS stand for one and the same service
};

/// The addresses to be tried, in their order. Not empty if `answer` is not.
Addresses chooseAddresses(DnsStrategy strategy, const Addresses& answer);

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

/// A resolver keeps at most this many answers and asks for at most this many names at a time; the oldest answer makes
/// room, and further questions are refused.
inline constexpr std::size_t kMaxDnsNames = 4096;

/// Errors are config's: a server or host that is no address. `metrics` takes dns_lookup_duration_seconds, one per query
/// with its retries; nullptr: nobody counts. `maxNames` is at least 1.
base::Result<std::unique_ptr<Resolver>> makeResolver(Worker& worker, const base::DnsSettings& settings,
                                                     observe::MetricShard* metrics = nullptr,
                                                     std::size_t maxNames = kMaxDnsNames);

}  // namespace sluice::net
