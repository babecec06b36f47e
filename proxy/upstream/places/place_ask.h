// A worker that has requests without a place at a Backend asks the other workers to count theirs (PlaceReports), and to
// let some give way.
//
// It is sent to all of them at once. Two workers may fulfil one wish; then one place stays free.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include "proxy/net/address.h"
#include "proxy/routing/backend_identity.h"

namespace sluice::upstream {

class PlaceAsk {
 public:
  struct Wish {
    net::ClientNetwork client;
    std::uint64_t held;  // the places that the client holds in all
    mutable std::atomic<bool> met = false;

    Wish(net::ClientNetwork wisher, std::uint64_t places) : client(wisher), held(places) {}
  };

  /// `boundedAs` identifies the Backend's circuit breaker, and `limit` is the name of the bound.
  PlaceAsk(routing::BackendIdentity boundedAs, std::string_view limit)
      : boundedAs_(std::move(boundedAs)), limit_(limit) {}

  void add(net::ClientNetwork client, std::uint64_t held) { wishes_.emplace_back(client, held); }
  const routing::BackendIdentity& boundedAs() const { return boundedAs_; }
  std::string_view limit() const { return limit_; }
  const std::deque<Wish>& wishes() const { return wishes_; }

 private:
  const routing::BackendIdentity boundedAs_;
  const std::string_view limit_;
  std::deque<Wish> wishes_;
};

/// A worker that may be asked.
class PlaceParty {
 public:
  /// Called on the thread of the worker that asks.
  virtual void onAsked(std::shared_ptr<const PlaceAsk> ask) = 0;
  /// Called when another worker needs a connection to that Backend and the bound is reached. Called on that worker's
  /// thread.
  virtual void onConnectionWanted(const routing::BackendIdentity& boundedAs) = 0;

 protected:
  ~PlaceParty() = default;
};

}  // namespace sluice::upstream
