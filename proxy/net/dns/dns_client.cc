#include "proxy/net/dns/dns_client.h"

#include <algorithm>
#include <utility>

#include "proxy/net/dns/client_share.h"
#include "proxy/net/dns/dns_servers.h"

namespace sluice::net {

DnsClient::DnsClient(DnsPlan plan, std::size_t mostLookups, DnsClientSink& sink)
    : plan_(std::move(plan)),
      mostLookups_(mostLookups),
      sink_(sink),
      shares_{{{mostLookups}, {clientShareOf(mostLookups)}}} {}

base::Result<std::unique_ptr<DnsClient>> DnsClient::make(Worker& worker, const base::DnsSettings& settings,
                                                         std::size_t mostLookups, DnsClientSink& sink) {
  auto servers = dnsServers(settings.servers);
  if (!servers) return std::move(servers).error();
  DnsPlan plan{worker,
               std::move(servers).value(),
               settings.timeout,
               std::max<std::size_t>(settings.attempts, 1),
               std::max<std::size_t>(settings.maxAddresses, 1),
               settings.ipv6};
  return std::unique_ptr<DnsClient>(new DnsClient(std::move(plan), mostLookups, sink));
}

void DnsClient::ask(std::string_view name, const base::DnsTerms& terms) {
  const base::Duration patience = plan_.timeout * static_cast<base::Duration::rep>(plan_.tries());
  shareOf(terms).waiting.push_back({std::string(name), terms, plan_.worker.now() + patience});
  fill();
}

void DnsClient::fill() {
  base::MonotonicTime until = base::MonotonicTime::max();
  for (LookupShare& share : shares_) {
    fill(share);
    if (!share.waiting.empty()) until = std::min(until, share.waiting.front().until);
  }
  if (until == base::MonotonicTime::max()) return cancel();
  plan_.worker.timers().set(*this, until);
}

void DnsClient::fill(LookupShare& share) {
  while (!share.waiting.empty() && share.open < share.most && lookups_.size() < mostLookups_) {
    WaitingName& next = share.waiting.front();
    DnsLookup& lookup =
        lookups_.emplace_back(plan_, std::move(next.name), next.terms, static_cast<DnsLookupSink&>(*this));
    share.waiting.pop_front();
    if (lookup.ended()) {
      sink_.onAnswer(lookup.takeAnswer());
      lookups_.pop_back();
    } else {
      ++share.open;
    }
  }
}

void DnsClient::onEnded(DnsLookup& lookup) {
  DnsAnswer answer = lookup.takeAnswer();
  --shareOf(answer.terms).open;
  sink_.onAnswer(std::move(answer));
  lookups_.remove_if([&lookup](const DnsLookup& one) { return &one == &lookup; });
  fill();
  sink_.onAnswered();
}

void DnsClient::onTimer() {
  for (LookupShare& share : shares_) refuseLate(share);
  fill();
  sink_.onAnswered();
}

/// Answers the names that have waited for too long.
void DnsClient::refuseLate(LookupShare& share) {
  while (!share.waiting.empty() && share.waiting.front().until <= plan_.worker.now()) {
    std::string name = std::move(share.waiting.front().name);
    const base::DnsTerms terms = share.waiting.front().terms;
    share.waiting.pop_front();
    auto error = base::Error::upstream(base::ErrorType::kDnsTimeout, name + ": too many names are being asked for");
    sink_.onAnswer({std::move(name), std::move(error), {}, false, terms});
  }
}

}  // namespace sluice::net
