#include "proxy/net/dns/dns_cache.h"

#include <algorithm>
#include <utility>

#include "proxy/net/dns/client_share.h"
#include "proxy/net/dns/dns_key.h"

namespace sluice::net {

/// A cached answer. Its timer is set until the name is due to be asked again.
struct DnsCache::CachedName final : Timer {
  CachedName(DnsCache& owner, DnsAnswer&& answer, base::MonotonicTime end)
      : cache(owner),
        name(std::move(answer.name)),
        terms(answer.terms),
        addresses(std::move(answer.addresses)),
        validUntil(end),
        servedUntil(end) {}

  void refreshAt(base::MonotonicTime time) {
    used = false;
    refreshes = true;
    cache.worker_.timers().set(*this, time);
  }
  // A name that was not used is not refreshed; a later find() still gets its answer and makes it due.
  void onTimer() override {
    if (used) cache.owner_.onRefreshDue(name, terms);
  }

  DnsCache& cache;
  std::string name;
  base::DnsTerms terms;
  base::Result<Addresses> addresses;
  base::MonotonicTime validUntil;   // by the TTL of the answer
  base::MonotonicTime servedUntil;  // later than validUntil if the servers fail
  bool refreshes = false;
  bool used = false;  // since the timer was set
};

DnsCache::AnswerShare::AnswerShare(std::size_t maxNames) : most(maxNames) {}

DnsCache::AnswerShare::~AnswerShare() = default;

DnsCache::DnsCache(Worker& worker, const base::DnsSettings& settings, std::size_t maxNames, DnsCacheOwner& owner)
    : worker_(worker),
      owner_(owner),
      minTtl_(settings.minTtl),
      maxTtl_(std::max(settings.minTtl, settings.maxTtl)),
      negativeTtl_(settings.negativeTtl),
      staleTtl_(settings.staleTtl),
      shares_{{AnswerShare(maxNames), AnswerShare(clientShareOf(maxNames))}} {}

DnsCache::~DnsCache() = default;

const base::Result<Addresses>* DnsCache::find(std::string_view key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  CachedName& entry = *found->second;
  // An answer that may not be cached at all is still valid in the turn that brought it.
  if (worker_.now() > entry.servedUntil) return nullptr;
  entry.used = true;
  if (entry.refreshes && !entry.isSet()) owner_.onRefreshDue(entry.name, entry.terms);
  return &entry.addresses;
}

void DnsCache::remember(DnsAnswer answer) {
  const auto found = index_.find(DnsKey(answer.name, answer.terms).text());
  if (answer.failed() && found != index_.end() && goesOn(*found->second)) return;
  replace(std::move(answer), kOwnRefresh);
}

void DnsCache::learn(DnsAnswer answer) {
  if (!answer.failed()) return replace(std::move(answer), kLearnedRefresh);
  const auto found = index_.find(DnsKey(answer.name, answer.terms).text());
  if (found != index_.end()) goesOn(*found->second);
}

void DnsCache::replace(DnsAnswer&& answer, int refreshPart) {
  std::string key(DnsKey(answer.name, answer.terms).text());
  if (const auto found = index_.find(key); found != index_.end()) forget(found->second);
  AnswerShare& share = shareOf(answer.terms);
  if (share.entries.size() >= share.most) forget(share.entries.begin());
  const base::Duration lifetime = lifetimeOf(answer);
  const base::MonotonicTime end = worker_.now() + lifetime;
  CachedName& entry = share.entries.emplace_back(*this, std::move(answer), end);
  index_.emplace(std::move(key), std::prev(share.entries.end()));
  if (entry.addresses.ok() && lifetime >= kShortestRefreshed) entry.refreshAt(end - lifetime / refreshPart);
}

base::Duration DnsCache::lifetimeOf(const DnsAnswer& answer) const {
  if (!answer.addresses.ok()) return negativeTtl_;
  const base::DnsTerms& terms = answer.terms;
  const bool hasNone = terms.refreshRate && answer.ttl == base::Duration::zero();
  if (!terms.respectTtl || hasNone) return terms.refreshRate.value_or(base::DnsTerms::kUsualRefreshRate);
  return std::clamp(answer.ttl, minTtl_, maxTtl_);
}

bool DnsCache::goesOn(CachedName& entry) {
  const base::MonotonicTime end = entry.validUntil + staleTtl_;
  if (!entry.addresses.ok() || worker_.now() >= end) return false;
  entry.servedUntil = end;
  entry.refreshAt(worker_.now() + std::max(negativeTtl_, kShortestRefreshed));
  return true;
}

const base::Result<Addresses>* DnsCache::keepForThisTurn(base::Result<Addresses> result) {
  clearPassing();
  return &passing_.emplace_back(std::move(result));
}

void DnsCache::forget(Entries::iterator entry) {
  clearPassing();
  passing_.push_back(std::move(entry->addresses));
  index_.erase(index_.find(DnsKey(entry->name, entry->terms).text()));
  shareOf(entry->terms).entries.erase(entry);
}

void DnsCache::clearPassing() {
  if (passingSince_ != worker_.now()) passing_.clear();
  passingSince_ = worker_.now();
}

}  // namespace sluice::net
