// The addresses that have taken no connection lately, which connections try last.
//
// Shared by all workers, so that one of them finds out for all. It says only in which order addresses are tried, so
// nothing is lost if an address is forgotten early. An address is another one for each name of TLS, because the
// handshake for that name may be what hangs. Any thread; while it is empty, it costs a load.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/base/clock.h"
#include "proxy/net/address.h"

namespace sluice::upstream {

class FailedAddresses {
 public:
  /// How long an address is remembered after it failed.
  static constexpr base::Duration kLifetime = std::chrono::seconds(30);
  /// When there are as many, the one that failed first is forgotten for another one.
  static constexpr std::size_t kMost = 1024;

  /// The key of an address is the address, its port, and `tlsName`: the name that TLS asks for, empty without TLS.
  void add(const net::Address& address, std::string_view tlsName, base::MonotonicTime now);
  /// Called when the address has taken a connection.
  void remove(const net::Address& address, std::string_view tlsName);
  bool holds(const net::Address& address, std::string_view tlsName, base::MonotonicTime now) const;
  /// Moves the addresses that it holds behind the others. Apart from that, the order stays.
  void putLast(net::Addresses& addresses, std::string_view tlsName, base::MonotonicTime now) const;

 private:
  bool isEmpty() const { return size_.load(std::memory_order_relaxed) == 0; }
  bool isHeld(const net::Address& address, std::string_view tlsName, base::MonotonicTime now) const;
  /// Removes those whose time is over, and the oldest one if there are too many nevertheless.
  void makeRoom(base::MonotonicTime now);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, base::MonotonicTime> until_;
  base::MonotonicTime sweptAt_{};
  std::atomic<std::size_t> size_{0};  // of until_
};

}  // namespace sluice::upstream
