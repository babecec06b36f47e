#include "proxy/net/dns/dns_client.h"

#include <algorithm>
#include <utility>

#include "proxy/net/dns/dns_servers.h"

namespace sluice::net {

DnsClient::DnsClient(DnsPlan plan, std::size_t mostLookups, DnsClientSink& sink)
    : plan_(std::move(plan)), mostLookups_(mostLookups), sink_(sink) {}

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
  waiting_.push_back({std::string(name), terms, plan_.worker.now() + patience});
  fill();
}

void DnsClient::fill() {
  while (!waiting_.empty() && lookups_.size() < mostLookups_) {
    WaitingName& next = waiting_.front();
    DnsLookup& lookup =
        lookups_.emplace_back(plan_, std::move(next.name), next.terms, static_cast<DnsLookupSink&>(*this));
    waiting_.pop_front();
    if (lookup.ended()) {
      sink_.onAnswer(lookup.takeAnswer());
      lookups_.pop_back();
    }
  }
  if (waiting_.empty()) return cancel();
  plan_.worker.timers().set(*this, waiting_.front().until);
}

void DnsClient::onEnded(DnsLookup& lookup) {
  sink_.onAnswer(lookup.takeAnswer());
  lookups_.remove_if([&lookup](const DnsLookup& one) { return &one == &lookup; });
  fill();
  sink_.onAnswered();
}

void DnsClient::onTimer() {
  while (!waiting_.empty() && waiting_.front().until <= plan_.worker.now()) {
    std::string name = std::move(waiting_.front().name);
    const base::DnsTerms terms = waiting_.front().terms;
    waiting_.pop_front();
    auto error = base::Error::upstream(base::ErrorType::kDnsTimeout, name + ": too many names are being asked for");
    sink_.onAnswer({std::move(name), std::move(error), {}, false, terms});
  }
  fill();
  sink_.onAnswered();
}

}  // namespace sluice::net
