// Asks name servers: a name goes in, an answer comes out. Caches nothing. Internal to proxy/net, owned by the resolver.
//
// A lookup has sockets and memory of its own, so a bounded number is open at a time and the others wait in order. A
// name whose turn does not come within the time that one lookup may take is answered by dns_timeout. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/base/settings.h"
#include "proxy/net/dns/dns_lookup.h"
#include "proxy/net/timers.h"

namespace sluice::net {

class DnsClientSink {
 public:
  virtual ~DnsClientSink() = default;
  /// Called also from within ask(): may only record.
  virtual void onAnswer(DnsAnswer answer) = 0;
  /// Called inside a Turn after onAnswer(), unless that came from within ask().
  virtual void onAnswered() = 0;
};

class DnsClient final : private DnsLookupSink, private Timer {
 public:
  /// Fails with an error of config's origin if a server is no address. `mostLookups` is at least 1.
  static base::Result<std::unique_ptr<DnsClient>> make(Worker& worker, const base::DnsSettings& settings,
                                                       std::size_t mostLookups, DnsClientSink& sink);
  /// Drops the questions in flight: the sink is not called again.
  ~DnsClient() override = default;
  DnsClient(const DnsClient&) = delete;
  DnsClient& operator=(const DnsClient&) = delete;

  /// Asks for a name; the answer arrives by the sink's onAnswer().
  void ask(std::string_view name, const base::DnsTerms& terms);

 private:
  struct WaitingName {
    std::string name;
    base::DnsTerms terms;
    base::MonotonicTime until;
  };

  /// The names of the configuration, or those that clients choose.
  struct LookupShare {
    std::size_t most;  // lookups that are open
    std::size_t open = 0;
    std::deque<WaitingName> waiting = {};
  };

  DnsClient(DnsPlan plan, std::size_t mostLookups, DnsClientSink& sink);
  LookupShare& shareOf(const base::DnsTerms& terms) { return shares_[terms.ofClients()]; }
  void fill();
  void fill(LookupShare& share);
  void refuseLate(LookupShare& share);
  void onEnded(DnsLookup& lookup) override;
  void onTimer() override;

  const DnsPlan plan_;
  const std::size_t mostLookups_;
  DnsClientSink& sink_;
  std::array<LookupShare, 2> shares_;  // the timer is that of the name that has waited longest
  std::list<DnsLookup> lookups_;
};

}  // namespace sluice::net
