// The destination of an attempt that is about to connect. Steps of the phase connect see it, and may narrow it.
//
// A small value in the arena of the exchange, made for each attempt; a copy is enough to undo a step. It only ever
// shrinks, so that no step can lead a request to an address that the gateway has not resolved and guarded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/base/arena.h"

namespace sluice::processing {

class Destination {
 public:
  struct ResolvedAddress {
    std::string_view ip;  // "192.0.2.1" or "2001:db8::1"
    std::uint16_t port = 0;
    std::size_t number = 0;  // its index in the list of resolved addresses
  };

  /// `host` is the hostname of the Backend, or of the Service. `serverName` is the name that TLS asks for (SNI), empty
  /// for plaintext.
  Destination(std::string_view host, std::uint16_t port, std::string_view serverName,
              std::span<const ResolvedAddress> addresses)
      : host_(host), serverName_(serverName), addresses_(addresses), port_(port) {}

  std::string_view host() const { return host_; }
  std::uint16_t port() const { return port_; }
  std::string_view serverName() const { return serverName_; }
  /// Returns the addresses that the gateway has resolved and allowed and the steps before have kept, in the order in
  /// which they are tried.
  std::span<const ResolvedAddress> addresses() const { return addresses_; }

  /// Removes the addresses for which `keeps` returns false. If none is left, the request is denied.
  template <typename Keeps>
  void narrow(base::Arena& arena, Keeps&& keeps) {
    if (addresses_.empty()) return;
    auto* const left = arena.array<ResolvedAddress>(addresses_.size());
    addresses_ = {left, std::copy_if(addresses_.begin(), addresses_.end(), left, keeps)};
  }

 private:
  std::string_view host_;
  std::string_view serverName_;
  std::span<const ResolvedAddress> addresses_;
  std::uint16_t port_;
};

}  // namespace sluice::processing
