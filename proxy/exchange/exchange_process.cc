// An exchange and the payload processors of its rule and of its Backend: which steps run when (E-94), and what becomes
// of it by what they decide.
#include <new>
#include <utility>

#include "proxy/exchange/exchange.h"
#include "proxy/exchange/exchange_names.h"
#include "proxy/exchange/exchanges.h"

namespace sluice::exchange {

using processing::Phase;
using processing::Verdict;

bool Exchange::runSteps(const Steps& steps, http::RequestHead& request, http::ResponseMessage* response) {
  const std::string client = origin_.client.ip();
  const processing::Peer peer{client, {}, {}};
  const ExchangeNames names = namesOf(*this);
  processing::Call call{steps.phase,
                        {names.gateway, names.route, names.backend},
                        response != nullptr ? response->arena : request_.arena,
                        owner_.worker().clock(),
                        request,
                        steps.holds,
                        response != nullptr ? &response->head : nullptr};
  return processing::eachStep(steps.chains, steps.phase, [&](const processing::Step& step) {
    const base::MonotonicTime begun = call.clock.now();
    const Verdict verdict = processing::run(step, call, peer);
    owner_.observer().onStep(step, call.clock.now() - begun, verdict);
    return !steps.heeded || follow(step, verdict);
  });
}

bool Exchange::follow(const processing::Step& step, const Verdict& verdict) {
  switch (verdict.kind()) {
    case Verdict::Kind::kContinue:
      return true;
    case Verdict::Kind::kReply:
      refusal_ = std::make_unique<Refusal>(Refusal{step.name, step.phase, verdict.reply().fields});
      raise(Event::kRejected, verdict.reply().error);
      return false;
    case Verdict::Kind::kFail:
      if (step.failOpen) return true;
      refusal_ = std::make_unique<Refusal>(Refusal{step.name, step.phase, {}});
      raise(Event::kRejected, base::Error(base::ErrorType::kProcessorFailed, base::ErrorOrigin::kProcessor,
                                          "a processor of this request failed"));
      return false;
  }
  return false;
}

/// Of the listener, the rule and the share that was chosen.
processing::Chains Exchange::chains() const {
  const routing::WeightedBackend* share = attempt_.backend;
  const processing::Chain* ofShare = nullptr;
  if (share != nullptr && share->chain) {
    ofShare = share->chain.get();
  } else if (share != nullptr && share->backend) {
    ofShare = share->backend->chain.get();
  }
  return {listener_->chain.get(), rule_->chain.get(), ofShare};
}

bool Exchange::wants(Phase phase) const {
  for (const processing::Chain* each : chains()) {
    if (each != nullptr && each->has(phase)) return true;
  }
  return false;
}

bool Exchange::processRequest() {
  const processing::Chains all = chains();
  if (all[0] == nullptr && all[1] == nullptr) return true;
  asked_ = new (request_.arena.allocate(sizeof(http::RequestHead), alignof(http::RequestHead)))
      http::RequestHead(request_.head);
  request_.head.headers = asked_->headers.copy(request_.arena);
  return runSteps({{all[0], all[1], nullptr}, Phase::kRequestHeaders, holds_}, request_.head, nullptr);
}

bool Exchange::processAttempt(http::RequestHead& head) {
  const processing::Chains all = chains();
  if (all[2] != nullptr && !runSteps({{nullptr, nullptr, all[2]}, Phase::kRequestHeaders, holdsOfAttempt_}, head, nullptr)) return false;
  return !wants(Phase::kBackendRequest) || runSteps({all, Phase::kBackendRequest, holdsOfAttempt_}, head, nullptr);
}

void Exchange::processResponse() {
  if (!runSteps({chains(), Phase::kBackendResponse, holdsOfAttempt_}, request_.head, &*response_)) return;
  const bool refused = retries_ && retries_->refuses(response_->head.status);
  if (refused) return raise(Event::kResponseRefused);
  keepResponse();
}

void Exchange::keepResponse() { raise(wants(Phase::kResponseHeaders) ? Event::kResponseHead : Event::kResponseReady); }

void Exchange::processHead() {
  if (runSteps({chains(), Phase::kResponseHeaders, holds_}, request_.head, &*response_)) {
    raise(Event::kResponseReady);
  }
}

void Exchange::processOwnAnswer() {
  if (refusal_) {
    for (const auto& [name, value] : refusal_->fields) {
      base::Arena& arena = response_->arena;
      response_->head.headers.add(arena, arena.copy(name), arena.copy(value));
    }
  }
  const bool seen = refusal_ && refusal_->phase == Phase::kResponseHeaders;
  if (rule_ == nullptr || seen || !wants(Phase::kResponseHeaders)) return;
  // It is an answer of the gateway already: what a step would say in its place is not asked for.
  runSteps({chains(), Phase::kResponseHeaders, holds_, false}, request_.head, &*response_);
}

}  // namespace sluice::exchange
