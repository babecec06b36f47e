#include "proxy/upstream/dial/failed_addresses.h"

#include <algorithm>

namespace sluice::upstream {
namespace {

// A sweep looks at all addresses while others wait for the lock.
constexpr base::Duration kBetweenSweeps = std::chrono::seconds(1);

std::string tableKey(const net::Address& address, std::string_view tlsName) {
  const auto bytes = address.bytes();
  std::string key(bytes.begin(), bytes.end());
  key += static_cast<char>(address.port() >> 8);
  key += static_cast<char>(address.port() & 0xFF);
  key += tlsName;
  return key;
}

}  // namespace

void FailedAddresses::add(const net::Address& address, std::string_view tlsName, base::MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  const auto [known, isNew] = until_.try_emplace(tableKey(address, tlsName));
  known->second = now + kLifetime;
  if (!isNew) return;
  if (until_.size() > kMost || now >= sweptAt_ + kBetweenSweeps) makeRoom(now);
  size_.store(until_.size(), std::memory_order_relaxed);
}

void FailedAddresses::remove(const net::Address& address, std::string_view tlsName) {
  if (isEmpty()) return;
  const std::lock_guard lock(mutex_);
  until_.erase(tableKey(address, tlsName));
  size_.store(until_.size(), std::memory_order_relaxed);
}

bool FailedAddresses::holds(const net::Address& address, std::string_view tlsName, base::MonotonicTime now) const {
  if (isEmpty()) return false;
  const std::lock_guard lock(mutex_);
  return isHeld(address, tlsName, now);
}

void FailedAddresses::putLast(net::Addresses& addresses, std::string_view tlsName, base::MonotonicTime now) const {
  if (addresses.size() < 2 || isEmpty()) return;
  const std::lock_guard lock(mutex_);
  std::stable_partition(addresses.begin(), addresses.end(),
                        [&](const net::Address& address) { return !isHeld(address, tlsName, now); });
}

bool FailedAddresses::isHeld(const net::Address& address, std::string_view tlsName, base::MonotonicTime now) const {
  const auto found = until_.find(tableKey(address, tlsName));
  return found != until_.end() && now < found->second;
}

void FailedAddresses::makeRoom(base::MonotonicTime now) {
  sweptAt_ = now;
  std::erase_if(until_, [now](const auto& each) { return each.second <= now; });
  if (until_.size() <= kMost) return;
  until_.erase(
      std::min_element(until_.begin(), until_.end(), [](const auto& a, const auto& b) { return a.second < b.second; }));
}

}  // namespace sluice::upstream
