#include "proxy/net/dns/dns_cache.h"

#include <algorithm>
#include <utility>

namespace sluice::net {

/// A cached answer. Its timer is set until the name is due to be asked again.
struct DnsCache::CachedName final : Timer {
  CachedName(DnsCache& owner, std::string itsName, base::Result<Addresses> itsAddresses, base::MonotonicTime end)
      : cache(owner), name(std::move(itsName)), addresses(std::move(itsAddresses)), validUntil(end), servedUntil(end) {}

  void refreshAt(base::MonotonicTime time) {
    used = false;
    refreshes = true;
    cache.worker_.timers().set(*this, time);
  }
  // A name that was not used is not refreshed; a later find() still gets its answer and makes it due.
  void onTimer() override {
    if (used) cache.owner_.onRefreshDue(name);
  }

  DnsCache& cache;
  std::string name;
  base::Result<Addresses> addresses;
  base::MonotonicTime validUntil;   // by the TTL of the answer
  base::MonotonicTime servedUntil;  // later than validUntil if the servers fail
  bool refreshes = false;
  bool used = false;  // since the timer was set
};

DnsCache::DnsCache(Worker& worker, const base::DnsSettings& settings, std::size_t maxNames, DnsCacheOwner& owner)
    : worker_(worker),
      owner_(owner),
      minTtl_(settings.minTtl),
      maxTtl_(std::max(settings.minTtl, settings.maxTtl)),
      negativeTtl_(settings.negativeTtl),
      staleTtl_(settings.staleTtl),
      maxNames_(maxNames) {}

DnsCache::~DnsCache() = default;

const base::Result<Addresses>* DnsCache::find(std::string_view name) {
  const auto found = index_.find(name);
  if (found == index_.end()) return nullptr;
  CachedName& entry = *found->second;
  // An answer that may not be cached at all still counts in the turn that brought it.
  if (worker_.now() > entry.servedUntil) return nullptr;
  entry.used = true;
  if (entry.refreshes && !entry.isSet()) owner_.onRefreshDue(entry.name);
  return &entry.addresses;
}

void DnsCache::remember(DnsAnswer answer) {
  const auto found = index_.find(answer.name);
  if (answer.failed() && found != index_.end() && goesOn(*found->second)) return;
  replace(std::move(answer), kOwnRefresh);
}

void DnsCache::learn(DnsAnswer answer) {
  if (!answer.failed()) return replace(std::move(answer), kLearnedRefresh);
  if (const auto found = index_.find(answer.name); found != index_.end()) goesOn(*found->second);
}

void DnsCache::replace(DnsAnswer&& answer, int refreshPart) {
  if (const auto found = index_.find(answer.name); found != index_.end()) forget(found->second);
  if (entries_.size() >= maxNames_) forget(entries_.begin());
  const base::Duration lifetime = answer.addresses.ok() ? std::clamp(answer.ttl, minTtl_, maxTtl_) : negativeTtl_;
  const base::MonotonicTime end = worker_.now() + lifetime;
  CachedName& entry = entries_.emplace_back(*this, answer.name, std::move(answer.addresses), end);
  index_.emplace(std::move(answer.name), std::prev(entries_.end()));
  if (entry.addresses.ok() && lifetime >= kShortestRefreshed) entry.refreshAt(end - lifetime / refreshPart);
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
  index_.erase(entry->name);
  entries_.erase(entry);
}

void DnsCache::clearPassing() {
  if (passingSince_ != worker_.now()) passing_.clear();
  passingSince_ = worker_.now();
}

}  // namespace sluice::net
