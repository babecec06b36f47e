// Resolves names to addresses by c-ares, never blocking: one per worker, with its own cache. The answers that one
// worker gets are handed to the resolvers of the others. So these need not ask, and they have the last good answer,
// too.
//
// A name in `hosts` is answered from there and never queried. Answers are kept for their TTL within [minTtl, maxTtl],
// failures for negativeTtl. A name in use is asked again before its answer expires. When the name servers fail, but not
// when they answer that there is no such name, the last good answer stays valid for up to staleTtl. Several callers
// that ask for one name share one query. Callers with terms of their own share it with those that have the same terms.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/settings.h"
#include "proxy/net/address.h"
#include "proxy/net/dns/dns_answer.h"
#include "proxy/net/worker.h"
#include "proxy/observe/metrics.h"

namespace sluice::net {

/// How a new connection uses an answer. Connections that exist stay, whatever later answers say.
enum class DnsStrategy : std::uint8_t {
  kStrict,  // all addresses, one after the other until one takes the connection
  kLogical  // the first address: all answers of a name that is balanced by DNS lead to the same service
};

/// Returns the addresses to be tried, in their order. Not empty if `answer` is not.
Addresses chooseAddresses(DnsStrategy strategy, const Addresses& answer);

class Resolver {
 public:
  virtual ~Resolver() = default;

  /// Returns the cached result: addresses (port 0), a failure, or nullptr if there is none, or only an expired one. The
  /// pointer is valid until the next turn.
  virtual const base::Result<Addresses>* cached(std::string_view name, const base::DnsTerms& terms) = 0;
  const base::Result<Addresses>* cached(std::string_view name) { return cached(name, base::DnsTerms()); }
  /// Asks for a name; `done` is called once, inside a Turn, when cached() has a result. It may only record. Errors
  /// there: dns_error, dns_timeout. IP literals need no query.
  virtual void resolve(std::string_view name, const base::DnsTerms& terms, std::function<void()> done) = 0;
  void resolve(std::string_view name, std::function<void()> done) { resolve(name, base::DnsTerms(), std::move(done)); }
  /// Takes an answer that the resolver of another worker got.
  virtual void learn(const DnsAnswer& answer) = 0;
};

struct ResolverParts {
  /// Takes dns_lookup_duration_seconds, one per name with its retries; nullptr if it is not measured.
  observe::MetricShard* metrics = nullptr;
  /// The number of answers that the resolver keeps at most, and of names that it asks for at a time; at least 1. The
  /// oldest answer makes room, and further names are refused. Of names that clients choose it keeps half as many
  /// besides.
  std::size_t maxNames = 4096;
  /// The number of lookups that are open at a time, at least 1; further names wait. Names that clients choose have at
  /// most half of them, and wait behind the others. Each has one or two questions, and
  /// a question takes about 80 KiB, one descriptor, and another one if the answer is long.
  std::size_t maxLookups = 256;
  /// Called inside a Turn for every answer to a question of this resolver, failures too: for the other workers.
  std::function<void(const DnsAnswer&)> share = {};
};

/// Fails with an error of config's origin if a server or host is no address.
base::Result<std::unique_ptr<Resolver>> makeResolver(Worker& worker, const base::DnsSettings& settings,
                                                     ResolverParts parts = {});

}  // namespace sluice::net
