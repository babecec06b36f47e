// Requests of one worker get the places of requests of another one, and cause a bounded number of surveys.
#include "proxy/upstream/places/places.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/upstream/places/backend_places.h"
#include "test/support/manual_clock.h"

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

/// Seeks places at many circuit breakers, all places of which one client holds.
class CountedSurveys : public ::testing::Test, private WaiterSink {
 protected:
  static constexpr std::size_t kBreakers = 60;

  CountedSurveys() {
    for (std::size_t i = 0; i < kBreakers; ++i) {
      const base::CircuitBreakerBounds bounds = {.requests = 2};
      joined_.push_back(std::make_unique<JoinedBreaker>(breakers_, "backend" + std::to_string(i), bounds));
      while (joined_.back()->get()->requests.tryAdd()) {
      }
    }
  }
  /// Returns at how many of the breakers a request of that client may seek a place.
  std::size_t seekAll(net::ClientNetwork client) {
    const net::Worker::Turn turn(worker_);
    std::size_t sought = 0;
    for (const auto& each : joined_) sought += places_.seek(*each, ++last_, client, "backendRequests") ? 1 : 0;
    return sought;
  }

  void passInterval() {
    clock_.advance(Places::kInterval + std::chrono::milliseconds(20));
    const net::Worker::Turn turn(worker_);
  }

  bool onPoolReady(http::Token /*waiter*/) override { return true; }
  bool onPoolFailed(http::Token /*waiter*/, const base::Error& /*error*/) override { return true; }
  void surveyPlaces(std::uint64_t /*breaker*/, PlaceSurvey& survey) override {
    ++surveys_;
    for (http::Token i = 0; i < 2; ++i) survey.add(i, {kHolder});
  }
  bool giveWay(const StalledRequest& /*stalled*/, const PlaceDemand& /*demand*/) override { return false; }

  test::ManualClock clock_;
  net::Worker worker_{clock_};
  observe::MetricsRegistry metrics_;
  observe::MetricShard shard_{metrics_};
  CircuitBreakers breakers_{1024, 1024};
  std::vector<std::unique_ptr<JoinedBreaker>> joined_;
  std::size_t surveys_ = 0;
  http::Token last_ = 100;
  Places places_{worker_, breakers_, static_cast<WaiterSink&>(*this), shard_, [](const routing::BackendIdentity&) {}};
};

TEST_F(CountedSurveys, AreFewHoweverManyCircuitBreakersThereAre) {
  constexpr std::size_t kClients = Places::kMostSurveys / Places::kMostSurveysOfClient;
  EXPECT_EQ(seekAll(kSeeker), Places::kMostSurveysOfClient);
  EXPECT_EQ(surveys_, Places::kMostSurveysOfClient);
  for (net::ClientNetwork other = 1; other < kClients + 2; ++other) seekAll(kSeeker + other);
  EXPECT_EQ(surveys_, Places::kMostSurveys);
  passInterval();
  EXPECT_EQ(surveys_, 2 * Places::kMostSurveys) << "those that are sought are surveyed again";
}

TEST_F(CountedSurveys, AreMadeForOthersWhenTheirTimeIsOver) {
  seekAll(kSeeker);
  for (http::Token each = 101; each <= last_; ++each) places_.forget(each);
  passInterval();
  EXPECT_EQ(seekAll(kSeeker), Places::kMostSurveysOfClient);
  EXPECT_EQ(surveys_, 2 * Places::kMostSurveysOfClient);
}

}  // namespace
}  // namespace sluice::upstream
