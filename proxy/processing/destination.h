// The destination of an attempt. Steps of the phase connect see where it may be connected to, and may narrow that;
// steps of backend-request see where it is connected to.
//
// A small value in the arena of the exchange, made for each attempt; a copy is enough to undo a step. Steps can only
// make it smaller, so that none can lead a request to an address that the gateway has not resolved and guarded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "proxy/base/arena.h"

namespace sluice::processing {

struct Step;

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

  /// Called when a connection to that address has been taken.
  void settle(base::Arena& arena, std::string_view ip, std::uint16_t port) {
    auto* const taken = arena.array<ResolvedAddress>(1);
    *taken = {arena.copy(ip), port, 0};
    addresses_ = {taken, 1};
    isTaken_ = true;
  }
  /// Returns true if addresses() is that of the connection.
  bool isTaken() const { return isTaken_; }

  /// Called by a step that wants to be asked, by Processor::admits(), about the connection that the request gets.
  void awaitConnection() { isAwaited_ = true; }
  /// The steps that have asked for it, the last one first.
  struct Judge {
    const Step& step;
    const Judge* next;
  };
  const Judge* judges() const { return judges_; }
  /// Called when `step` has decided.
  void note(base::Arena& arena, const Step& step) {
    if (std::exchange(isAwaited_, false)) judges_ = arena.make<Judge>(Judge{step, judges_});
  }

 private:
  std::string_view host_;
  std::string_view serverName_;
  std::span<const ResolvedAddress> addresses_;
  std::uint16_t port_;
  bool isAwaited_ = false;  // by the step that runs now
  bool isTaken_ = false;
  const Judge* judges_ = nullptr;
};

/// The connection that a request has got, before the first byte of the request.
struct TakenConnection {
  std::string_view ip;
  std::uint16_t port = 0;
  std::string_view serverName;   // as Destination's
  std::string_view certificate;  // SHA-256 of the peer's certificate (DER), 32 bytes; empty if it has shown none
};

}  // namespace sluice::processing
