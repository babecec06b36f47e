// Outlier detection of the endpoints of one Backend, by the answers to the requests of one rule
// (TrafficPolicy.spec.healthCheck.passive). An endpoint that fails several times in a row, or too often, gets no
// requests of the rule for a time. After that it gets its share again, and one failure is enough to eject it again.
//
// There is one for each weighted backend of a rule with such a policy, for the whole process; it survives reloads; any
// thread. Like AnswerHealth, it belongs to the rule and not to the Backend.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/routing/policy/answer_health.h"
#include "proxy/routing/policy/ejection.h"
#include "proxy/routing/policy/endpoint.h"

namespace sluice::routing {

/// The endpoints that a Backend has now.
struct CurrentEndpoints {
  const Endpoints* ofService = nullptr;  // null for the addresses of a name
  std::size_t count = 0;

  bool have(const Endpoint& endpoint) const {
    return ofService == nullptr || std::binary_search(ofService->begin(), ofService->end(), endpoint);
  }
};

struct EjectedEndpoint {
  Endpoint endpoint;
  base::WallTime since{};  // when its ejection began; the beginning of the clock if that is not known
};

using EjectedEndpoints = std::vector<EjectedEndpoint>;

class EndpointEjections {
 public:
  /// Called when one of the endpoints has answered with a status below 500.
  void onAnswer(const Endpoint& endpoint, base::MonotonicTime now, const PassiveHealthBounds& bounds,
                const CurrentEndpoints& current) const;
  /// Called when one of the endpoints has failed. Ejects it if it has reached a bound, unless too many of the current
  /// ones are ejected. Returns the ejection; nullopt if it is not ejected by this.
  std::optional<Ejection> onError(const Endpoint& endpoint, const PeerFailure& failure,
                                  const PassiveHealthBounds& bounds, const CurrentEndpoints& current) const;
  /// Called when a health check has found that the endpoint serves again. Ends its ejection.
  void endEjection(const Endpoint& endpoint, base::MonotonicTime now) const;
  /// Returns the endpoints that are ejected now, and `failing`, which may be null; null if there are none.
  std::shared_ptr<const Endpoints> ejectedAnd(std::shared_ptr<const Endpoints> failing, base::MonotonicTime now) const;
  /// Returns the ejected endpoints with their times, in order; null if none is ejected.
  std::shared_ptr<const EjectedEndpoints> report(base::MonotonicTime now) const;
  /// Returns true if any endpoint was ejected at the time of the last report, or one has been since.
  bool ejectSome() const { return someEjected_.load(std::memory_order_relaxed); }
  /// Returns true if any endpoint is or was ejected.
  bool haveEjected() const { return haveEjected_.load(std::memory_order_relaxed); }
  /// Returns false if an answer without a failure changes nothing, which is the usual case.
  bool heedsAnswers(const PassiveHealthBounds& bounds) const {
    return bounds.failurePercent != 0 || isSuspicious_.load(std::memory_order_relaxed);
  }

 private:
  struct Remembered {
    AnswerHealth health;
    base::MonotonicTime heard{};  // when it answered or failed last
  };
  // These need the mutex.
  /// Makes the lists anew if an endpoint was ejected since they were made, or an ejection of them has ended.
  void renewIfStale(base::MonotonicTime now) const;
  void renew(base::MonotonicTime now) const;
  /// Has the next one who asks for the lists make them anew: many endpoints may be ejected between two requests.
  void renewLater() const;
  Remembered& remember(const Endpoint& endpoint, base::MonotonicTime now) const;
  /// Forgets, from time to time, the endpoints that have gone or about which nothing was heard for long.
  void forgetSome(base::MonotonicTime now, const PassiveHealthBounds& bounds, const CurrentEndpoints& current) const;
  std::size_t ejectedOf(const CurrentEndpoints& current, base::MonotonicTime now) const;

  mutable std::atomic<bool> isSuspicious_{false};  // an endpoint has failed, or is or was ejected
  mutable std::atomic<bool> someEjected_{false};
  mutable std::atomic<bool> haveEjected_{false};  // from the first ejection on
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  mutable std::map<Endpoint, Remembered> endpoints_;
  mutable std::shared_ptr<const Endpoints> ejected_;
  mutable std::shared_ptr<const EjectedEndpoints> report_;  // of the same endpoints
  mutable std::shared_ptr<const Endpoints> failing_;        // that of the last ejectedAnd()
  mutable std::shared_ptr<const Endpoints> both_;           // its result; null if ejected_ is another one by now
  mutable base::MonotonicTime forgotten_{};                 // when some were forgotten last
  mutable base::MonotonicTime until_{};                     // when the lists are stale
};

/// The outlier detection of a weighted backend.
struct OutlierDetection {
  PassiveHealthBounds bounds;
  std::shared_ptr<const EndpointEjections> ejections;  // never null
  std::string rule = {};                               // as events name it: "HTTPRoute demo/web, rule 0"
};

}  // namespace sluice::routing
