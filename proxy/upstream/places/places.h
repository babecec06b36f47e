// The requests of one worker that have no place at their Backend yet, because limits.backendRequests is reached, or at
// their endpoint, and for which others give way: see PlaceSurvey.
//
// Requests of this worker give way first, in the same beat. If none can, the other workers are asked, and they then
// count their requests, too. A request is refused at once if no client holds so much more that it may get a place, and
// after kPatience otherwise. While some requests seek places, only these get a place that becomes free. The cost is
// bounded: however many requests are refused, a circuit breaker is surveyed once in kInterval, and only a few of them
// are, since an endpoint may have one of its own. Owned by Upstreams; one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/observe/metrics.h"
#include "proxy/upstream/places/circuit_breaker.h"
#include "proxy/upstream/places/place_ask.h"
#include "proxy/upstream/places/place_survey.h"
#include "proxy/upstream/places/waiters.h"

namespace sluice::upstream {

class Places final : public PlaceParty, private net::Timer {
 public:
  static constexpr base::Duration kPatience = std::chrono::seconds(1);
  static constexpr base::Duration kInterval = std::chrono::milliseconds(50);
  /// Requests beyond these bounds are refused: in all, of one client, and of one client at one circuit breaker.
  static constexpr std::size_t kMostSeekers = 512;
  static constexpr std::size_t kMostOfClientInAll = 128;
  static constexpr std::size_t kMostOfClient = 64;
  /// So many circuit breakers are surveyed in kInterval: in all, and because of one client.
  static constexpr std::size_t kMostSurveys = 32;
  static constexpr std::size_t kMostSurveysOfClient = 8;

  /// All outlive it. `closeIdle` closes an idle connection of this worker to the Backend with that identity.
  using CloseIdle = std::function<void(const routing::BackendIdentity& boundedAs)>;
  Places(net::Worker& worker, CircuitBreakers& breakers, WaiterSink& requests, observe::MetricShard& metrics,
         CloseIdle closeIdle);
  ~Places() override;
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  /// Called when there is no place for the request. Returns false if it must be refused; else WaiterSink notifies it
  /// when take() may be called, or that it will get no place.
  bool seek(const JoinedBreaker& joined, http::Token request, net::ClientNetwork client, std::string_view limit);
  /// Takes a place for a request that seeks one. Returns false if it must wait further.
  bool take(CircuitBreaker& breaker, http::Token request);
  /// Called when the request seeks no place any more.
  void forget(http::Token request);
  /// Called when a place has become free that requests of any worker may seek.
  void onLeft(const CircuitBreaker& breaker) { tell(breaker); }

  /// Makes the other workers close an idle connection.
  void wantConnection(const JoinedBreaker& joined) { breakers_.wantConnection(*this, joined.identity()); }

  // PlaceParty
  void onAsked(std::shared_ptr<const PlaceAsk> ask) override;
  void onConnectionWanted(const routing::BackendIdentity& boundedAs) override;

 private:
  struct Seeker {
    http::Token request;
    const JoinedBreaker* joined;
    net::ClientNetwork client;
    base::MonotonicTime until;
    std::string_view limit;
    bool told = false;
  };

  struct CausedSurvey {
    PlaceSurvey survey;
    std::optional<net::ClientNetwork> cause;  // nullopt: another worker has asked
  };

  void onTimer() override;
  void startTimer();
  /// Returns whether there is room for another request that seeks a place, if `own` of its client seek one there.
  bool maySeek(net::ClientNetwork client, std::uint64_t own) const;
  /// Returns whether the breaker has a survey, or may get one.
  bool maySurvey(const CircuitBreaker& breaker, std::optional<net::ClientNetwork> cause) const;
  PlaceSurvey& surveyOf(const CircuitBreaker& breaker, std::optional<net::ClientNetwork> cause);
  /// Returns how many requests of that client seek a place there.
  std::uint64_t seekersOf(const CircuitBreaker& breaker, net::ClientNetwork client) const;
  void tell(const CircuitBreaker& breaker);
  void refuse(const Seeker& seeker);
  void serve(const JoinedBreaker& joined);
  std::vector<Seeker>::iterator find(http::Token request);
  void remove(std::vector<Seeker>::iterator seeker);
  /// Makes a request give way to one of that client, which holds `held` places. Returns false if there is none.
  bool makeWay(const CircuitBreaker& breaker, std::string_view limit, net::ClientNetwork client, std::uint64_t held);

  base::MonotonicTime now() const { return worker_.now(); }
  void onLimit(std::string_view limit) { metrics_.at<observe::Metric::kLimitHits>(limit).add(); }

  net::Worker& worker_;
  CircuitBreakers& breakers_;
  WaiterSink& requests_;
  observe::MetricShard& metrics_;
  const CloseIdle closeIdle_;
  std::vector<Seeker> seekers_;                              // in the order in which they came
  std::unordered_map<std::uint64_t, CausedSurvey> surveys_;  // by the number of the breaker, of the last kInterval
};

}  // namespace sluice::upstream
