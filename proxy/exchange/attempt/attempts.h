// Attempts decides about the attempts of one exchange: which Backend each goes to, which bytes are sent again, and
// whether another one follows a failure. An exchange has one attempt at a time; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/exchange/attempt/attempt.h"
#include "proxy/exchange/attempt/outlier_evidence.h"
#include "proxy/exchange/attempt/retries.h"
#include "proxy/exchange/session/endpoint_hash.h"
#include "proxy/exchange/session/session.h"
#include "proxy/exchange/transaction/attempt_head.h"
#include "proxy/exchange/transaction/transaction.h"
#include "proxy/processing/pipeline.h"

namespace sluice::exchange {

class Attempts {
 public:
  explicit Attempts(Transaction& transaction)
      : t_(transaction), attempt_{{transaction.context.upstreams(), transaction.token()}} {}

  Attempt& current() { return attempt_; }
  const Attempt& current() const { return attempt_; }
  const routing::WeightedBackend* backend() const { return attempt_.backend; }

  /// Chooses the weighted backend of the rule: that of the session, if the rule persists sessions and the request
  /// carries one, else by priority and weight; null if no weighted backend has any weight. A rule that retries, or has
  /// a fail-over, leaves out Backends that take no connections. The cookie or field of the session is taken out of the
  /// request's head, and of `before` too, which may be null.
  void choose(http::RequestHead* before) {
    const routing::Rule& rule = *t_.route.rule;
    // A session comes before the weights, also before a weight of 0 (GEP-1619, "Traffic Splitting").
    if (rule.session && resumeSession(before)) return;
    if (rule.failover) {
      attempt_.backend = chooseByPriority();
    } else {
      attempt_.backend = rule.choose(t_.context.random());
      if (rule.retry && rule.backends.size() > 1) leaveOutDead();
    }
  }
  /// Chooses a weighted backend that is not in `denied` (a bit each, by position) in place of the current one, which is
  /// added to it. The attempt begins anew. Returns false if there is none.
  bool passOver(std::uint64_t& denied);
  /// Forgets the choice, because the route has changed.
  void reset();
  /// Returns the head of the attempt, with views into the arena of the request.
  http::RequestHead head(RuleFilters filters);

  /// Called when the request is settled. From here on its body is kept for further attempts, if the rule retries.
  /// `steps` are those through which the body has come; null if it came through none.
  void keepForRetries(const processing::Pipeline* steps) {
    if (t_.route.rule->retry) makeRetries(steps != nullptr && !steps->isOpen());
  }
  /// Called when the preparation of the attempt begins.
  void begin() {
    attempt_.begun = t_.now();
    probe_.begin();
    hash_.find((*attempt_.destination()).connection.balancing, t_);
    if (retries_ && retries_->begin()) t_.rearm = true;
  }
  /// Puts the bytes that were sent back to the front of the request's pipe, for the next attempt.
  void rewind();
  /// Called when more of the body has come.
  void keep(std::string_view bytes) {
    if (retries_) retries_->replay.keep(bytes);
  }
  /// The ticket of the copy that is kept of the body. Tickets of steps are never 0.
  static constexpr processing::Ticket kCopyTicket = 0;
  /// Called when that copy had to give way to bodies that steps need. An attempt that is planned already gets the body
  /// all the same.
  void loseCopy() {
    constexpr std::uint64_t kPlanned = Transaction::bitOf(Event::kRetry) | Transaction::bitOf(Event::kRepeat);
    if (retries_ && (t_.pending & kPlanned) == 0) retries_->replay.release();
  }
  /// Called when the attempt took `count` more bytes of the body. Returns how many of them no earlier attempt had
  /// taken.
  std::size_t pass(std::size_t count);
  /// Called when there will be no further attempt.
  void settle() {
    if (retries_) retries_->settle();
  }

  enum class Judgement : std::uint8_t {
    kRepeat,  // the same attempt is made again at once, unseen by the client
    kRetry,   // another attempt follows, which is planned
    kGiveUp
  };
  /// Called when the attempt ended before its response did. With `unprocessed` the backend has certainly not acted on
  /// it.
  void onReset(const base::Error& error, bool unprocessed);
  /// Ends the request of an attempt that is given up. If a Backend that has the whole request does not answer in time,
  /// its connection may be dead, and takes no further requests.
  void cancel();
  /// Called when the time of the whole request is up. A Backend that is not reached by then was tried in vain.
  void onDeadline() {
    if (attempt_.request.wait().isForBackend()) attempt_.made = true;
  }
  /// Judges an attempt that failed with the transaction's error.
  Judgement judgeFailure();
  /// Returns nullptr if the rule does not retry.
  const Retries* retries() const { return retries_ ? &*retries_ : nullptr; }
  /// Called with the final head of an attempt's response, as the Backend has sent it.
  void onAnswer(const http::ResponseHead& head) {
    attempt_.status = head.status;
    if (t_.route.rule->failover || attempt_.backend->outliers) noteAnswer(t_, attempt_, head);
  }
  enum class Planning : std::uint8_t {
    kPlanned,
    kNone,        // no attempt is left or possible: the failure is final
    kConstrained  // a policy of the Backend allows no more, and defines the answer to the client
  };
  /// Plans another attempt.
  Planning plan();
  /// Gives the current attempt up and returns it; the planned one is current then.
  Attempt next();
  void markRepeated() { ++repeats_; }
  /// Returns when the planned attempt's time comes; max() if none is planned.
  base::MonotonicTime due() const { return retries_ ? retries_->due() : base::MonotonicTime::max(); }
  /// Returns when this attempt has taken too long; max() if nothing bounds it.
  base::MonotonicTime deadline() const { return attempt_.request.deadline(t_.route.rule->backendRequestTimeout); }
  bool hasTried(const routing::WeightedBackend& backend) const { return retries_ && retries_->hasTried(backend); }

  /// Returns the wishes for the pool. `allowed` is null unless steps of connect have narrowed the addresses, and `dial`
  /// unless policies judge them.
  upstream::Wishes wishes(const net::Addresses* allowed, routing::EgressDial* dial) const {
    return {.preferred = session_ ? session_->endpoint() : nullptr,
            .avoided = retries_ ? retries_->avoided() : nullptr,
            .allowed = allowed,
            .dial = dial,
            .failing = t_.route.rule->failingEndpoints(*attempt_.backend, t_.now()),
            .hash = hash_.value(),
            .client = t_.client.connection};
  }
  /// Puts the values that the client must send from now on into the response, if they have changed.
  void tellSession() {
    if (session_) renewSession();
    hash_.tell((*attempt_.destination()).connection.balancing, t_);
  }

 private:
  void renewSession();
  void makeRetries(bool hasWholeBody);
  bool resumeSession(http::RequestHead* before);
  bool bodyIntact() const;
  void leaveOutDead();
  std::uint64_t dead();
  const routing::WeightedBackend* chooseByPriority();
  const routing::WeightedBackend& chooseNext();
  const routing::FailoverMember& member() const;
  bool serves(const routing::WeightedBackend& backend);
  /// Takes a place in a budget for an attempt at that weighted backend, if it needs one.
  bool budgetAllows(const routing::WeightedBackend& next, std::optional<routing::ActiveRetry>& place);

  Transaction& t_;
  Attempt attempt_;
  std::optional<Retries> retries_;    // set if the rule retries
  std::unique_ptr<Session> session_;  // null unless the rule persists sessions
  EndpointHash hash_;
  routing::ProbeTask probe_;
  std::uint32_t repeats_ = 0;  // the number of repeated attempts, which the client does not notice
};

}  // namespace sluice::exchange
