#include "proxy/exchange/exchange_steps.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "proxy/exchange/exchange.h"
#include "proxy/exchange/exchange_names.h"
#include "proxy/exchange/exchanges.h"

namespace sluice::exchange {

using processing::Phase;
using processing::Run;
using processing::Verdict;

// --- a stretch ---------------------------------------------------------------------------------------------

void Stretch::append(const processing::Chains& chains, Leg leg) {
  append(processing::StepOrder(chains, leg.phase, leg.round), leg);
}

void Stretch::append(const processing::StepOrder& steps, Leg leg) {
  if (steps.empty()) return;
  // What is done makes room: an exchange never has more before it than its request has.
  if (entered_ == count_) entered_ = count_ = 0;
  assert(count_ < legs_.size());
  legs_[count_++] = {steps, leg};
}

void Stretch::appendRequest(const processing::Chains& chains) {
  std::uint8_t phases = 0;
  for (const processing::Chain* each : chains) {
    if (each != nullptr) phases |= each->phases();
  }
  for (const Leg& leg : kOfRequest) {
    if ((phases & processing::bitOf(leg.phase)) != 0) append(chains, leg);
  }
}

void Stretch::changeRoute(const processing::Chain* gateway, const processing::Chain* route) {
  const Leg now = legs_[entered_ - 1U].leg;
  processing::StepOrder left = run.leave();
  left.keep(processing::Scope::kGateway);
  entered_ = count_ = 0;
  bool later = false;
  for (const Leg& leg : kOfRequest) {
    const bool current = leg == now;
    if (current && route != nullptr) left.add(*route, leg.phase, leg.round);
    append(current ? left : processing::StepOrder({later ? gateway : nullptr, route, nullptr}, leg.phase, leg.round), leg);
    later = later || current;
  }
}

void Stretch::carry(bool flows) {
  carries = true;
  sourceEnded_ = !flows;
  if (flows) run.expectBody();
}

Run::Outcome Stretch::go(base::ByteQueue& to, std::size_t beyond) {
  while (true) {
    const bool fed = carries && feed(beyond + to.size());
    const Run::Outcome outcome = run.go();
    if (outcome == Run::Outcome::kRefused || outcome == Run::Outcome::kMatchAgain) return outcome;
    const bool begun = outcome == Run::Outcome::kDone && entered_ == count_;
    if (begun && sealed_ && carries) to.splice(run.out().bytes, run.out().bytes.size());
    if (outcome == Run::Outcome::kDone && !begun) {
      const Entry& next = legs_[entered_++];
      run.enter(next.steps, next.leg.phase);
    } else if (!fed) {
      return outcome;
    }
  }
}

/// True if anything was.
bool Stretch::feed(std::size_t beyond) {
  if (!carries) return false;
  const std::size_t count = std::min(run.room(beyond), source.size());
  if (count > 0) {
    run.add(source, count);
    fed_ += count;
  }
  if (!sourceEnded_ || !source.empty() || !run.isOpen()) return count > 0;
  run.end();
  return true;
}

void Stretch::end(std::optional<http::Trailers> behind) {
  sourceEnded_ = true;
  if (behind) trailers.emplace(*std::move(behind));
}

bool Stretch::tookEnd() {
  return sealed_ && entered_ == count_ && run.out().ended && run.out().bytes.empty() && !std::exchange(endTold_, true);
}

// --- the steps of an exchange ------------------------------------------------------------------------------

ExchangeSteps::ExchangeSteps(Exchange& exchange, Exchanges& owner, http::RequestMessage& message)
    : attemptBody(owner.worker().chunks()),
      exchange_(exchange),
      owner_(owner),
      request_(message),
      peer_{message.arena.copy(exchange.origin().client.ip()), {}, {}} {}

Stretch& ExchangeSteps::beginRequest(const Stretch::Load& load) {
  findPlace();
  return request.emplace(host(), processing::RunTarget{request_.head, nullptr, request_.arena, holds_, &wish},
                         owner_.worker().chunks(), load);
}

Stretch& ExchangeSteps::beginAttempt(http::RequestHead& head, const Stretch::Load& load) {
  findPlace();
  attemptHead = &head;
  backendRequestEntered = false;
  connectEnded_ = false;
  attemptBody = http::BodyPipe(owner_.worker().chunks());
  const processing::RunTarget target{head, nullptr, request_.arena, holdsOfAttempt_, nullptr, &destination_};
  return attempt.emplace(host(), target, owner_.worker().chunks(), load);
}

void ExchangeSteps::beginConnect(const routing::BackendPlan& plan, net::Addresses addresses) {
  addresses_ = std::move(addresses);
  base::Arena& arena = request_.arena;
  auto* const seen = arena.array<processing::Destination::Address>(addresses_.size());
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    seen[i] = {arena.copy(addresses_[i].ip()), addresses_[i].port(), i};
  }
  const std::string_view serverName = plan.tls ? std::string_view(plan.tls->serverName) : std::string_view();
  destination_ = {plan.hostname, plan.port, serverName, {seen, addresses_.size()}};
}

void ExchangeSteps::endConnect() {
  std::size_t count = 0;
  for (const auto& left : destination_.addresses()) addresses_[count++] = addresses_[left.number];
  addresses_.resize(count);
  connectEnded_ = true;
}

Stretch& ExchangeSteps::beginResponse(http::ResponseHead& head, const Stretch::Load& load) {
  if (!placeKnown_) findPlace();
  http::RequestHead& sent = attemptHead != nullptr ? *attemptHead : request_.head;
  return response.emplace(host(), processing::RunTarget{sent, &head, request_.arena, holdsOfAttempt_},
                          owner_.worker().chunks(), load);
}

void ExchangeSteps::endAttempt() {
  response.reset();
  attempt.reset();
  attemptHead = nullptr;
  placeKnown_ = false;  // the next one may be of another Backend
  holdsOfAttempt_.release();
}

void ExchangeSteps::passBy(const processing::Chains& chains, http::ResponseHead& head) {
  heeded_ = false;
  Stretch& stretch = beginResponse(head, {false, false});
  stretch.run.enter(processing::StepOrder(chains, Phase::kResponseHeaders), Phase::kResponseHeaders);
  // A step that waits here is not waited for: the answer is the gateway's already.
  stretch.run.go();
  response.reset();
}

template <typename Visit>
void ExchangeSteps::eachRun(Visit&& visit) {
  for (std::optional<Stretch>* each : {&request, &attempt, &response}) {
    if (*each) visit((*each)->run);
  }
}

base::MonotonicTime ExchangeSteps::firstDeadline() const {
  base::MonotonicTime first = base::MonotonicTime::max();
  for (const std::optional<Stretch>* each : {&request, &attempt, &response}) {
    if (*each) first = std::min(first, (*each)->run.deadline());
  }
  return first;
}

void ExchangeSteps::expire(base::MonotonicTime now) {
  eachRun([now](Run& run) { run.expire(now); });
}

bool ExchangeSteps::answer(processing::Ticket ticket, bool dropped) {
  bool found = false;
  eachRun([&](Run& run) { found = found || run.answer(ticket, dropped); });
  return found;
}

const base::Clock& ExchangeSteps::clock() const { return owner_.worker().clock(); }

void ExchangeSteps::findPlace() {
  const ExchangeNames names = namesOf(exchange_);
  const routing::ServedListener* listener = exchange_.listener();  // known before a rule is
  placeKnown_ = true;
  place_ = {listener != nullptr ? std::string_view(listener->gateway) : names.gateway, names.route, names.backend};
}

processing::BodyLimits ExchangeSteps::bodyLimits() const {
  const config::LimitSettings& limits = owner_.limits();
  return {limits.processorBuffer, limits.replayBuffer, limits.decompressedBody, limits.decompressionRatio};
}

processing::BufferRoom& ExchangeSteps::bufferRoom() { return owner_.bufferRoom(); }

base::Duration ExchangeSteps::patience() const { return owner_.timeouts().processor; }

processing::Resumer ExchangeSteps::resumer(processing::Ticket ticket) { return {owner_, exchange_.token(), ticket}; }

processing::Waker ExchangeSteps::waker(processing::Ticket ticket) { return {owner_, exchange_.token(), ticket}; }

void ExchangeSteps::answerLater(processing::Ticket ticket) {
  owner_.worker().post([later = waker(ticket)] { later.wake(); });
}

void ExchangeSteps::onStep(const processing::Step& step, base::Duration time, const Verdict& verdict,
                           processing::StepOutcome outcome) {
  owner_.observer().onStep(step, time, verdict, outcome);
}

void ExchangeSteps::onLimit(std::string_view limit) { owner_.onLimit(limit); }

namespace {

/// What the client is told of a step that failed: never what the step said.
base::Error failureOf(const processing::Step& step, const Verdict& verdict) {
  const bool ofRequest = processing::isOfRequest(step.phase);
  switch (verdict.cause()) {
    case processing::Cause::kTimeout:
      return {base::ErrorType::kProcessorTimeout, base::ErrorOrigin::kProcessor,
              "a processor of this request did not answer in time"};
    case processing::Cause::kOverLimit: {
      base::Error error(base::ErrorType::kHttpProtocolError, base::ErrorOrigin::kProcessor,
                        std::string(verdict.reason()));
      if (ofRequest) error.type = base::ErrorType::kHttpRequestError;
      error.status = ofRequest ? 413 : 502;
      return error;
    }
    case processing::Cause::kNoRoom:
      return {base::ErrorType::kProcessorCapacityReached, base::ErrorOrigin::kProcessor, std::string(verdict.reason())};
    case processing::Cause::kBadBody: {
      base::Error error(base::ErrorType::kHttpProtocolError, base::ErrorOrigin::kProcessor,
                        std::string(verdict.reason()));
      if (ofRequest) error.type = base::ErrorType::kHttpRequestError;
      error.status = ofRequest ? 400 : 502;
      return error;
    }
    case processing::Cause::kError:
    case processing::Cause::kDropped:
      break;
  }
  return {base::ErrorType::kProcessorFailed, base::ErrorOrigin::kProcessor, "a processor of this request failed"};
}

}  // namespace

bool ExchangeSteps::ends(const processing::Step& step, const Verdict& verdict) {
  if (!heeded_) return false;
  const bool replied = verdict.kind() == Verdict::Kind::kReply;
  refusal.emplace(step.name, step.phase);
  if (replied) refusal->fields = verdict.reply().fields;
  exchange_.raise(Event::kRejected, replied ? verdict.reply().error : failureOf(step, verdict));
  return true;
}

}  // namespace sluice::exchange
