// Requests of one worker get the places of requests of another one.
#include "proxy/upstream/places/places.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <utility>

#include "proxy/upstream/places/backend_places.h"

namespace sluice::upstream {
namespace {

constexpr std::uint64_t kPlaces = 8;
constexpr net::ClientNetwork kHolder = 1;
constexpr net::ClientNetwork kSeeker = 2;

/// A worker with a table of requests that hold places, whose client has been late with bytes for long.
class PlaceWorker final : private WaiterSink {
 public:
  explicit PlaceWorker(CircuitBreakers& breakers)
      : worker(clock_),
        shard_(metrics_),
        joined_(breakers, "backend", {}),
        places_(worker, breakers, static_cast<WaiterSink&>(*this), shard_, [](const routing::BackendIdentity&) {}),
        own_(joined_, places_, "backendRequests") {}

  void hold(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(own_.enter(i, kHolder, true), Place::kHeld);
      holders_.insert(i);
    }
  }
  /// Asks for that many places, and stops both workers when it has them.
  void want(std::uint64_t count, PlaceWorker& other) {
    other_ = &other;
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(own_.enter(100 + i, kSeeker, true), Place::kSought);
      sought_.insert(100 + i);
    }
  }
  std::size_t holders() const { return holders_.size(); }
  std::size_t failed() const { return failed_; }

 private:
  bool onPoolReady(http::Token waiter) override {
    if (sought_.count(waiter) == 0) return false;
    // A request acts on that later.
    worker.post([this, waiter] {
      if (own_.take(waiter)) end(waiter);
    });
    return true;
  }
  bool onPoolFailed(http::Token waiter, const base::Error& /*error*/) override {
    ++failed_;
    end(waiter);
    return true;
  }
  void end(http::Token waiter) {
    sought_.erase(waiter);
    if (!sought_.empty()) return;
    other_->worker.post([other = other_] { other->worker.stop(); });
    worker.stop();
  }
  void surveyPlaces(std::uint64_t /*breaker*/, PlaceSurvey& survey) override {
    for (const http::Token each : holders_) survey.add(each, {kHolder, worker.now() - PlaceSurvey::kStalled});
  }
  bool giveWay(const StalledRequest& stalled, const PlaceDemand& /*demand*/) override {
    if (holders_.erase(stalled.holder) == 0) return false;
    own_.leave(stalled.holder, Place::kHeld);
    return true;
  }

  const base::SystemClock clock_;
  observe::MetricsRegistry metrics_;

 public:
  net::Worker worker;

 private:
  observe::MetricShard shard_;
  JoinedBreaker joined_;
  Places places_;
  BackendPlaces own_;
  std::set<http::Token> holders_;
  std::set<http::Token> sought_;
  std::size_t failed_ = 0;
  PlaceWorker* other_ = nullptr;
};

TEST(PlacesThreads, AreGivenUpByRequestsOfAnotherWorker) {
  CircuitBreakers breakers(1024, kPlaces);
  PlaceWorker holding(breakers);
  PlaceWorker seeking(breakers);
  holding.hold(kPlaces);
  std::thread other([&] { holding.worker.run(); });
  seeking.worker.post([&] { seeking.want(3, holding); });
  seeking.worker.run();
  other.join();
  EXPECT_EQ(seeking.failed(), 0U);
  EXPECT_LE(holding.holders(), kPlaces - 3);
  CircuitBreaker& breaker = breakers.join("backend");
  EXPECT_EQ(breaker.seeking.load(), 0U);
  EXPECT_EQ(breaker.requests.count(), holding.holders() + 3);
  breakers.leave("backend");
}

}  // namespace
}  // namespace sluice::upstream
