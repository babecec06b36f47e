// Where an attempt is about to be connected to: what steps of the phase connect see, and may narrow (E-97).
//
// A small value in the arena of the exchange, made for each attempt: a copy is enough to undo what a step has done. It
// only ever shrinks, so that no step leads a request to an address that the gateway has not resolved and guarded.
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
  struct Address {
    std::string_view ip;  // "192.0.2.1" or "2001:db8::1"
    std::uint16_t port = 0;
    std::size_t number = 0;  // of its place in what was resolved
  };

  /// `host`: the Backend's hostname, or the Service's. `serverName`: what TLS will ask for (SNI); empty: plaintext.
  Destination(std::string_view host, std::uint16_t port, std::string_view serverName,
              std::span<const Address> addresses)
      : host_(host), serverName_(serverName), addresses_(addresses), port_(port) {}

  std::string_view host() const { return host_; }
  std::uint16_t port() const { return port_; }
  std::string_view serverName() const { return serverName_; }
  /// Resolved, allowed by the gateway and by the steps before, in the order in which they are tried.
  std::span<const Address> addresses() const { return addresses_; }

  /// Takes away those of which `keeps` says false. Without any left, the request is denied.
  template <typename Keeps>
  void narrow(base::Arena& arena, Keeps&& keeps) {
    if (addresses_.empty()) return;
    auto* const left = arena.array<Address>(addresses_.size());
    addresses_ = {left, std::copy_if(addresses_.begin(), addresses_.end(), left, keeps)};
  }

 private:
  std::string_view host_;
  std::string_view serverName_;
  std::span<const Address> addresses_;
  std::uint16_t port_;
};

}  // namespace sluice::processing
