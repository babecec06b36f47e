// The places of tunnels in the whole process (limits.tunnels, limits.tunnelsPerAddress). A tunnel takes one before its
// destination is dialled, so that a hoard of half-open ones is bounded, too.
//
// Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "proxy/base/settings.h"
#include "proxy/net/address.h"

namespace sluice::exchange {

class TunnelPlaces {
 public:
  explicit TunnelPlaces(const base::LimitSettings& limits) { setBounds(limits); }
  void setBounds(const base::LimitSettings& limits);

  /// The place of one tunnel. It is given back at the end of its life.
  class TunnelPlace {
   public:
    TunnelPlace(TunnelPlaces& owner, net::ClientNetwork client) : owner_(&owner), client_(client) {}
    TunnelPlace(TunnelPlace&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), client_(other.client_) {}
    TunnelPlace& operator=(TunnelPlace&&) = delete;
    ~TunnelPlace() {
      if (owner_ != nullptr) owner_->giveBack(client_);
    }

   private:
    TunnelPlaces* owner_;
    net::ClientNetwork client_;
  };

  /// Returns a place; nullopt if there is none, with the name of the limit in `reached`.
  std::optional<TunnelPlace> take(net::ClientNetwork client, std::string_view& reached);
  /// Returns how many places are taken.
  std::uint64_t taken();

 private:
  void giveBack(net::ClientNetwork client);

  std::mutex mutex_;
  std::uint64_t most_ = 0;
  std::uint64_t mostOfClient_ = 0;  // 0: no bound
  std::uint64_t taken_ = 0;
  std::unordered_map<net::ClientNetwork, std::uint64_t> ofClients_;  // only those that have some
};

}  // namespace sluice::exchange
