#include "proxy/exchange/attempt/attempts.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/session/session_carrier.h"
#include "proxy/exchange/transaction/deadlines.h"

namespace sluice::exchange {
// A session keeps its Backend, unless the rule has a fail-over and the Backend does not serve now.
bool Attempts::resumeSession(http::RequestHead* before) {
  const routing::Rule& rule = *t_.route.rule;
  session_ = std::make_unique<Session>(rule);
  const pki::ValueSealer* sealer = t_.context.sessionSealer();
  if (sealer == nullptr) return false;
  session_->take(*sealer, t_.context.worker().clock().wallNow(), t_.request);
  if (t_.asked != nullptr) removeSessions(*rule.session, t_.request.arena, t_.asked->headers);
  if (before != nullptr && before != t_.asked) removeSessions(*rule.session, t_.request.arena, before->headers);
  attempt_.backend = session_->weightedBackend();
  if (attempt_.backend == nullptr) return false;
  if (!rule.failover || (member().passes() && serves(*attempt_.backend))) return true;
  session_->leave();
  return false;
}

void Attempts::reset() {
  session_.reset();
  hash_.reset();
  probe_ = {};
  attempt_ = Attempt{{t_.context.upstreams(), t_.token()}};
}

http::RequestHead Attempts::head(RuleFilters filters) {
  return attemptHead(t_.request.arena, t_.request.head, *t_.route.rule, *attempt_.backend, *attempt_.destination(),
                     t_.context.identity(), t_.client.forwarded(t_.request.head.scheme), filters);
}

// Nothing is kept for a tunnel, because its bytes cannot be replayed. A body that has come whole through steps, because
// one of them held it, is kept whole again.
void Attempts::makeRetries(bool hasWholeBody) {
  if (t_.request.head.body == http::Body::kTunnel) return;
  const base::LimitSettings& limits = t_.context.limits();
  std::uint64_t bound = t_.route.rule->retry->keptOf(limits);
  if (hasWholeBody) bound = std::max(bound, limits.processorBuffer);
  retries_.emplace(*t_.route.rule, t_.requestBody.bytes, bound, t_.context.bufferRoom(),
                   processing::Waker(t_.context.resumeSink(), t_.token(), kCopyTicket));
  t_.route.rule->retry->budget->count(t_.now());
  const routing::WeightedBackend* const first = attempt_.backend;
  if (first != nullptr && first->retryConstraint) first->retryConstraint->budget->count(t_.now());
}

void Attempts::cancel() {
  const bool isWhole = t_.request.head.body == http::Body::kNone || t_.requestBody.end() == http::PipeEnd::kComplete;
  const bool hasWaitedInVain =
      t_.error && t_.error->type == base::ErrorType::kHttpResponseTimeout && isWhole && !t_.response;
  return hasWaitedInVain ? attempt_.request.expire() : attempt_.request.cancel();
}

void Attempts::rewind() {
  if (retries_) retries_->replay.rewind(t_.requestBody.bytes, t_.passedBytes);
  t_.passedBytes = 0;
  t_.progress();
}

std::size_t Attempts::pass(std::size_t count) {
  t_.passedBytes += count;
  t_.progressOfPassing();
  return retries_ ? retries_->replay.take(t_.passedBytes, count) : count;
}

void Attempts::onReset(const base::Error& error, bool unprocessed) {
  attempt_.unprocessed = unprocessed;
  attempt_.broke = true;
  attempt_.request.end();
  const bool tunnel = t_.response && t_.response->head.body == http::Body::kTunnel;
  if (!tunnel && isBeforeHead(t_.responseState)) t_.dropUnsentHead();
  t_.raise(Event::kUpstreamReset, error);
}

// RFC 9110 section 9.2.2, RFC 9113 section 8.7: a request is sent again only if the backend has certainly not acted, or
// if the request may be repeated. A repeat costs no time. It is made at once and for every rule, a few times: after a
// connection that was kept too long, or a stream that was refused.
Attempts::Judgement Attempts::judgeFailure() {
  const bool sent = t_.requestState == RequestState::kSending || t_.requestState == RequestState::kSent;
  const bool tried = attempt_.begun != base::MonotonicTime{};
  if (tried && !sent) attempt_.count();
  if (tried && base::isOfConnection(*t_.error)) attempt_.made = true;
  const bool idempotent = http::isIdempotent(t_.request.head.method);
  const bool brokeAtOnce = t_.response && t_.responseState == ResponseState::kWaiting;
  const bool wentStale = !brokeAtOnce && attempt_.request.wentStale(*t_.error);
  const bool spurious = sent && (attempt_.unprocessed || (idempotent && wentStale));
  if (spurious && repeats_ < upstream::kMostRepeats && bodyIntact()) {
    if (wentStale) attempt_.request.avoidStale();
    return Judgement::kRepeat;
  }
  noteError(t_, attempt_, *t_.error);
  const bool harmless = !sent || attempt_.unprocessed || idempotent;
  // The status of a response that broke as soon as its head came was judged already.
  const bool isJudged = brokeAtOnce && retries_ && retries_->refuses(t_.response->head);
  if (!harmless || !isPassing(*t_.error) || isJudged) return Judgement::kGiveUp;
  const Planning planning = plan();
  if (planning == Planning::kConstrained) t_.error = Retries::constrained();
  return planning == Planning::kPlanned ? Judgement::kRetry : Judgement::kGiveUp;
}

// Returns true if the backend can be given all of the body again.
bool Attempts::bodyIntact() const {
  if (t_.requestBody.end() == http::PipeEnd::kBroken) return false;
  return t_.passedBytes == 0 || (retries_ && retries_->replay.holds(t_.passedBytes));
}

Attempts::Planning Attempts::plan() {
  if (!retries_ || !retries_->left() || t_.requestBody.end() == http::PipeEnd::kBroken) return Planning::kNone;
  const base::MonotonicTime due = t_.now() + retries_->pause(t_.context.random());
  // The request would time out before the attempt begins.
  if (due >= requestDeadline(t_.started, t_.route.rule, t_.context.timeouts())) return Planning::kNone;
  if (!bodyIntact()) {
    attempt_.unreplayable = retries_->replay.limit();
    t_.context.onLimit(attempt_.unreplayable);
    return Planning::kNone;
  }
  const routing::WeightedBackend& next = chooseNext();
  retries_->giveBack();
  std::optional<routing::ActiveRetry> place;
  if (!budgetAllows(next, place)) {
    t_.context.onLimit("retryBudget");
    return next.retryConstraint ? Planning::kConstrained : Planning::kNone;
  }
  retries_->plan(due, next, std::move(place));
  return Planning::kPlanned;
}

// The first try at another Backend that takes connections is not charged to the budget, because it adds no more load
// than a first attempt there. So a budget that retries have used up does not block a fail-over.
bool Attempts::budgetAllows(const routing::WeightedBackend& next, std::optional<routing::ActiveRetry>& place) {
  const base::Box<routing::RetryConstraint>& constraint = next.retryConstraint;
  if (!retries_->hasTried(next) && serves(next)) {
    if (constraint) constraint->budget->count(t_.now());
    return true;
  }
  const routing::RetryPolicy& policy = *t_.route.rule->retry;
  place = constraint ? constraint->tryTake(t_.now())
                     : policy.budget->tryTake(t_.now(), policy.bounds.over(t_.context.retryBudget()));
  return place.has_value();
}

/// If the chosen Backend takes no connections, chooses among those that do, if there are any.
void Attempts::leaveOutDead() {
  if (attempt_.backend == nullptr || serves(*attempt_.backend)) return;
  if (const auto* another = t_.route.rule->chooseAnother(t_.context.random(), dead())) attempt_.backend = another;
}

/// Returns the weighted backends that take no connections.
std::uint64_t Attempts::dead() {
  if (t_.context.upstreams().allServe()) return 0;
  const std::vector<routing::WeightedBackend>& backends = t_.route.rule->backends;
  std::uint64_t dead = 0;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (!serves(backends[i])) dead |= std::uint64_t{1} << i;
  }
  return dead;
}

const routing::WeightedBackend* Attempts::chooseByPriority() {
  const routing::Rule& rule = *t_.route.rule;
  if (t_.context.upstreams().allServe()) {
    if (const auto usual = rule.failover->chooseUsual(t_.context.random())) return &rule.backends[*usual];
  }
  const routing::FailoverPolicy::Chances chances{t_.context.random(), t_.context.random()};
  const std::uint64_t without = rule.broken() | dead();
  auto chosen = rule.failover->choose(chances, without, t_.now());
  if (const auto due = rule.failover->probe(chosen, without, t_.now())) {
    probe_ = routing::ProbeTask(rule.failover->members[*due].health);
    return &rule.backends[*due];
  }
  if (!chosen) chosen = rule.failover->choose(chances, rule.broken(), t_.now());
  // If all references of the rule are broken, one of them is chosen, and its error answers the request.
  if (!chosen) chosen = rule.failover->choose(chances, 0, t_.now());
  return chosen ? &rule.backends[*chosen] : nullptr;
}

// With a fail-over, a Backend that serves and has failed once is preferred to an ejected one. The order of priorities
// that attemptsPerPriority asks for is kept as long as Backends serve that it allows.
const routing::WeightedBackend& Attempts::chooseNext() {
  const routing::Rule& rule = *t_.route.rule;
  const routing::WeightedBackend& failed = *attempt_.backend;
  if (!rule.failover) {
    return retries_->choose(failed,
                            [&](std::uint64_t avoided) { return rule.chooseAnother(t_.context.random(), avoided); });
  }
  const auto choose = [&](bool alsoEjected, std::uint64_t leftOut) -> const routing::WeightedBackend& {
    return retries_->choose(failed, [&](std::uint64_t avoided) -> const routing::WeightedBackend* {
      const routing::FailoverPolicy::Chances chances{t_.context.random(), t_.context.random()};
      const std::uint64_t without = rule.unfit() | leftOut | avoided | dead();
      const auto chosen = alsoEjected ? rule.failover->choose(chances, without, t_.now())
                                      : rule.failover->chooseServing(chances, without, t_.now());
      return chosen ? &rule.backends[*chosen] : nullptr;
    });
  };
  const bool failedServes = member().health->serves() && member().passes() && serves(failed);
  const std::uint64_t leftOut = retries_->leftOut(failed);
  if (leftOut != 0) {
    const bool mayStay = failedServes && (leftOut >> (&failed - rule.backends.data()) & 1) == 0;
    const routing::WeightedBackend& inOrder = choose(/*alsoEjected=*/false, leftOut);
    if (&inOrder != &failed || mayStay) return inOrder;
  }
  const routing::WeightedBackend& next = choose(/*alsoEjected=*/false, 0);
  return &next != &failed || failedServes ? next : choose(/*alsoEjected=*/true, 0);
}

/// Returns the member of the rule's fail-over that belongs to the weighted backend of the attempt.
const routing::FailoverMember& Attempts::member() const { return *t_.route.rule->memberOf(*attempt_.backend); }

/// Returns true if the Backend takes connections as far as this worker knows, or if the reference leads to no Backend.
bool Attempts::serves(const routing::WeightedBackend& backend) {
  if (!backend.backend || backend.backend->dynamic != nullptr) return true;
  const auto* plan = routing::planFor(t_.request.head, backend.backend);
  return plan == nullptr || t_.context.upstreams().serves(*plan);
}

bool Attempts::passOver(std::uint64_t& denied) {
  if (!bodyIntact()) return false;
  const routing::Rule& rule = *t_.route.rule;
  denied |= std::uint64_t{1} << (attempt_.backend - rule.backends.data());
  const auto choose = [&](std::uint64_t without) -> const routing::WeightedBackend* {
    if (!rule.failover) return rule.chooseAnother(t_.context.random(), without);
    const routing::FailoverPolicy::Chances chances{t_.context.random(), t_.context.random()};
    const auto chosen = rule.failover->choose(chances, without, t_.now());
    return chosen ? &rule.backends[*chosen] : nullptr;
  };
  const std::uint64_t unusable = rule.unfit() | denied;
  const std::uint64_t tried = retries_ ? retries_->tried() : 0;
  const routing::WeightedBackend* another = nullptr;
  for (const std::uint64_t worse : {tried | dead(), tried, std::uint64_t{0}}) {
    if (another == nullptr) another = choose(unusable | worse);
  }
  if (another == nullptr) return false;
  attempt_.request.leave();
  const std::uint32_t number = attempt_.number;
  attempt_ = Attempt{{t_.context.upstreams(), t_.token()}};
  attempt_.backend = another;
  attempt_.number = number;
  probe_ = {};
  if (session_) session_->leave();
  return true;
}

Attempt Attempts::next() {
  attempt_.request.leave();
  Attempt failed = std::exchange(attempt_, Attempt{{t_.context.upstreams(), t_.token()}});
  if (failed.request.peer() != nullptr) retries_->avoid(*failed.request.peer());
  if (session_) session_->leave();
  attempt_.backend = &retries_->next();
  attempt_.number = failed.number;
  return failed;
}

void Attempts::renewSession() {
  const pki::ValueSealer* sealer = t_.context.sessionSealer();
  if (sealer == nullptr) return;
  const bool balanced = attempt_.backend->backend->endpoints.has_value();
  const auto renewal = session_->renew(*sealer, t_.context.worker().clock().wallNow(), *attempt_.backend,
                                       balanced ? std::optional(*attempt_.request.peer()) : std::nullopt);
  if (!renewal) return;
  addSession(*t_.route.rule->session, renewal->value, {t_.request.head.path(), t_.client.secure, renewal->age},
             *t_.response);
}

}  // namespace sluice::exchange
