#include "proxy/net/dns/resolver.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <utility>

#include "proxy/net/dns/client_share.h"
#include "proxy/net/dns/dns_cache.h"
#include "proxy/net/dns/dns_client.h"
#include "proxy/net/dns/dns_key.h"
#include "proxy/net/dns/dns_lookup.h"
#include "proxy/net/dns/dns_name.h"

namespace sluice::net {
namespace {

class CaresResolver final : public Resolver, private DnsClientSink, private DnsCacheOwner, private Timer {
 public:
  CaresResolver(Worker& worker, const base::DnsSettings& settings, ResolverParts parts)
      : worker_(worker),
        parts_(std::move(parts)),
        maxAddresses_(std::max<std::size_t>(settings.maxAddresses, 1)),
        cache_(worker, settings, parts_.maxNames, *this) {}

  std::optional<base::Error> init(const base::DnsSettings& settings);

  const base::Result<Addresses>* cached(std::string_view name, const base::DnsTerms& terms) override;
  void resolve(std::string_view name, const base::DnsTerms& terms, std::function<void()> done) override;
  void learn(const DnsAnswer& answer) override { cache_.learn(answer); }

 private:
  struct PendingQuery {
    base::MonotonicTime since;
    std::vector<std::function<void()>> askers;  // empty for a refresh
  };

  void onAnswer(DnsAnswer answer) override { answers_.push_back(std::move(answer)); }
  void onAnswered() override { deliver(); }
  void onTimer() override { deliver(); }
  void onRefreshDue(std::string_view name, const base::DnsTerms& terms) override;

  std::optional<base::Error> addHost(const std::string& name, const std::vector<std::string>& texts);
  const base::Result<Addresses>* answerOfHosts(const base::Result<Addresses>& all, const base::DnsTerms& terms);
  const base::Result<Addresses>* answerWithoutAsking(const DnsName& host, std::string_view name,
                                                     const base::DnsTerms& terms);
  PendingQuery* ask(std::string_view name, const base::DnsTerms& terms);
  void deliver();
  void deliverSoon();
  void count(const DnsAnswer& answer, base::Duration duration);

  Worker& worker_;
  const ResolverParts parts_;
  const std::size_t maxAddresses_;

  DnsNameMap<base::Result<Addresses>> hosts_;
  const base::Result<Addresses> localhost_{Addresses{*Address::parse("127.0.0.1", 0), *Address::parse("::1", 0)}};
  DnsCache cache_;
  DnsNameMap<PendingQuery> questions_;
  std::array<std::size_t, 2> open_{};             // questions for names of the configuration, and of clients
  std::vector<DnsAnswer> answers_;                // answers not yet delivered
  std::vector<std::function<void()>> needNoAsk_;  // callbacks for names that need no query, not yet called
  std::unique_ptr<DnsClient> client_;             // destroyed first, because it calls this object
};

std::optional<base::Error> CaresResolver::init(const base::DnsSettings& settings) {
  for (const auto& [name, texts] : settings.hosts) {
    if (auto error = addHost(name, texts)) return error;
  }
  auto client = DnsClient::make(worker_, settings, parts_.maxLookups, *this);
  if (!client) return std::move(client).error();
  client_ = std::move(client).value();
  return std::nullopt;
}

std::optional<base::Error> CaresResolver::addHost(const std::string& name, const std::vector<std::string>& texts) {
  const DnsName host(name);
  if (!host.isValid()) return base::Error::config("dns.hosts: '" + name + "' is not a host name");
  if (texts.empty()) return base::Error::config("dns.hosts: '" + name + "' has no address");
  Addresses addresses;
  for (const std::string& text : texts) {
    const auto address = Address::parse(text, 0);
    if (!address) return base::Error::config("dns.hosts: '" + name + "': '" + text + "' is not an address");
    if (addresses.size() < maxAddresses_) addresses.push_back(*address);
  }
  hosts_.insert_or_assign(std::string(host.text()), std::move(addresses));
  return std::nullopt;
}

const base::Result<Addresses>* CaresResolver::cached(std::string_view name, const base::DnsTerms& terms) {
  const DnsName host(name);
  if (const auto it = hosts_.find(host.text()); it != hosts_.end()) return answerOfHosts(it->second, terms);
  if (const auto* known = cache_.find(DnsKey(host.text(), terms).text())) return known;
  return answerWithoutAsking(host, name, terms);
}

const base::Result<Addresses>* CaresResolver::answerOfHosts(const base::Result<Addresses>& all,
                                                            const base::DnsTerms& terms) {
  if (terms.family == base::LookupFamily::kOfSettings) return &all;
  Addresses found = addressesOf(terms.family, *all);
  if (!found.empty()) return cache_.keepForThisTurn(std::move(found));
  return cache_.keepForThisTurn(
      base::Error::upstream(base::ErrorType::kDnsError, "dns.hosts has no address of the family that is looked up"));
}

const base::Result<Addresses>* CaresResolver::answerWithoutAsking(const DnsName& host, std::string_view name,
                                                                  const base::DnsTerms& terms) {
  if (const auto literal = Address::parse(name, 0)) return cache_.keepForThisTurn(Addresses{*literal});
  if (host.isLocalhost()) return answerOfHosts(localhost_, terms);
  if (host.isValid()) return nullptr;
  return cache_.keepForThisTurn(base::Error::upstream(base::ErrorType::kDnsError, "not a host name"));
}

void CaresResolver::resolve(std::string_view name, const base::DnsTerms& terms, std::function<void()> done) {
  const DnsName host(name);
  if (cached(name, terms) != nullptr) {
    needNoAsk_.push_back(std::move(done));
  } else if (PendingQuery* question = ask(host.text(), terms)) {
    question->askers.push_back(std::move(done));
  } else {
    auto error = base::Error::upstream(base::ErrorType::kDnsError, "too many names are being asked for");
    answers_.push_back({std::string(host.text()), std::move(error), {}, false, terms});
    needNoAsk_.push_back(std::move(done));
  }
  deliverSoon();
}

CaresResolver::PendingQuery* CaresResolver::ask(std::string_view name, const base::DnsTerms& terms) {
  const DnsKey key(name, terms);
  if (const auto asked = questions_.find(key.text()); asked != questions_.end()) return &asked->second;
  const std::size_t most = terms.ofClients() ? clientShareOf(parts_.maxNames) : parts_.maxNames;
  std::size_t& open = open_[terms.ofClients()];
  if (open >= most) return nullptr;
  ++open;
  PendingQuery& question = questions_.emplace(key.text(), PendingQuery{worker_.now(), {}}).first->second;
  client_->ask(name, terms);
  return &question;
}

void CaresResolver::onRefreshDue(std::string_view name, const base::DnsTerms& terms) {
  ask(name, terms);
  deliverSoon();
}

// Callbacks never run from within resolve(), even for a result that is known at once.
void CaresResolver::deliverSoon() {
  if (!needNoAsk_.empty() || !answers_.empty()) worker_.timers().set(*this, worker_.now());
}

void CaresResolver::deliver() {
  std::vector<std::function<void()>> told = std::exchange(needNoAsk_, {});
  for (DnsAnswer& answer : std::exchange(answers_, {})) {
    if (const auto found = questions_.find(DnsKey(answer.name, answer.terms).text()); found != questions_.end()) {
      PendingQuery question = std::move(found->second);
      questions_.erase(found);
      --open_[answer.terms.ofClients()];
      std::move(question.askers.begin(), question.askers.end(), std::back_inserter(told));
      count(answer, worker_.now() - question.since);
      if (parts_.share) parts_.share(answer);
    }
    cache_.remember(std::move(answer));
  }
  // The callbacks come last, because they may resolve() again.
  for (const auto& done : told) done();
}

void CaresResolver::count(const DnsAnswer& answer, base::Duration duration) {
  if (parts_.metrics == nullptr) return;
  const std::string_view error = answer.addresses.ok() ? "" : base::errorTypeName(answer.addresses.error().type);
  const std::string& series = answer.terms.seriesName.empty() ? answer.name : answer.terms.seriesName;
  parts_.metrics->at<observe::Metric::kDnsLookupDuration>(series, error).observe(duration);
}

}  // namespace

Addresses chooseAddresses(DnsStrategy strategy, const Addresses& answer) {
  switch (strategy) {
    case DnsStrategy::kStrict:
      return answer;
    case DnsStrategy::kLogical:
      return {answer.begin(), answer.begin() + (answer.empty() ? 0 : 1)};
  }
  return {};
}

base::Result<std::unique_ptr<Resolver>> makeResolver(Worker& worker, const base::DnsSettings& settings,
                                                     ResolverParts parts) {
  assert(parts.maxNames >= 1 && parts.maxLookups >= 1);
  auto resolver = std::make_unique<CaresResolver>(worker, settings, std::move(parts));
  if (auto error = resolver->init(settings)) return std::move(*error);
  return std::unique_ptr<Resolver>(std::move(resolver));
}

}  // namespace sluice::net
