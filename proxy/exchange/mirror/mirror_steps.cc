#include "proxy/exchange/mirror/mirror_steps.h"

#include <utility>

#include "proxy/exchange/steps/body_framing.h"
#include "proxy/exchange/transaction/context.h"

namespace sluice::exchange {

using processing::bitOf;
using processing::Phase;
using processing::Pipeline;

namespace {

constexpr std::uint8_t kBodyPhases = bitOf(Phase::kRequestBody) | bitOf(Phase::kBackendRequest);
constexpr std::uint8_t kPhasesOfMirrors = kBodyPhases | bitOf(Phase::kRequestHeaders) | bitOf(Phase::kConnect);

processing::Chains chainsOf(const routing::BackendPlan& plan) { return {nullptr, nullptr, plan.chain.get()}; }

}  // namespace

bool MirrorSteps::needed(const routing::BackendPlan& plan) {
  return plan.chain && (plan.chain->phases() & kPhasesOfMirrors) != 0;
}

MirrorSteps::MirrorSteps(MirrorStepsOwner& mirror, processing::ResumeSink& sink, http::Token token,
                         ExchangeContext& owner, http::RequestMessage& message, http::BodyPipe& body,
                         const routing::BackendPlan& plan, const processing::Place& place, std::string_view client,
                         std::shared_ptr<const base::Caller> caller)
    : StepHost(owner, sink, token, message.arena.copy(client)),
      mirror_(mirror),
      message_(message),
      body_(body),
      plan_(plan),
      pipeline_(host(), {message.head, nullptr, message.arena, holds_, nullptr, &connect_.destination()},
                owner.worker().chunks(),
                processing::bodyPath(message.head.body, processing::wantsBody(chainsOf(plan), kBodyPhases))) {
  setPlace(place);
  setCaller(std::move(caller));
  pipeline_.append(chainsOf(plan), Phase::kRequestHeaders);
  pipeline_.append(chainsOf(plan), Phase::kRequestBody);
}

MirrorSteps::Outcome MirrorSteps::go() {
  while (true) {
    const Pipeline::Outcome outcome = pipeline_.go(body_.bytes, 0);
    if (outcome == Pipeline::Outcome::kRefused) return Outcome::kRefused;
    pass();
    if (outcome != Pipeline::Outcome::kDone) return Outcome::kWaits;
    const Outcome then = next();
    if (then != Outcome::kWaits) return then;
  }
}

/// Passes on the part of the body that came through the steps.
void MirrorSteps::pass() {
  if (!pipeline_.carries()) return;
  pipeline_.takeFed();
  if (pipeline_.tookEnd()) {
    finishPipe(body_, std::exchange(pipeline_.trailers, std::nullopt));
    if (http::Headers* trailers = body_.trailers()) removeTwinsOf(message_.head.headers, *trailers);
  }
  pipeline_.keepRoomFor(body_.bytes.size());
}

/// Called when all steps so far have begun. Returns kWaits if there are more now.
MirrorSteps::Outcome MirrorSteps::next() {
  switch (state_) {
    case State::kRequest:
      state_ = plan_.chain->has(Phase::kConnect) ? State::kResolving : State::kConnect;
      return Outcome::kWaits;
    case State::kResolving:
      return Outcome::kNeedsAddresses;
    case State::kConnect:
      if (plan_.chain->has(Phase::kConnect)) connect_.end();
      pipeline_.append(chainsOf(plan_), Phase::kBackendRequest);
      pipeline_.seal();
      state_ = State::kBackendRequest;
      return Outcome::kWaits;
    case State::kBackendRequest:
      if (pipeline_.carries()) frame(message_.head, pipeline_.alters(), body_);
      state_ = State::kReady;
      return Outcome::kReady;
    case State::kReady:
      return Outcome::kReady;
  }
  return Outcome::kReady;
}

void MirrorSteps::connectTo(net::Addresses addresses) {
  connect_.begin(message_.arena, plan_, std::move(addresses));
  pipeline_.append(chainsOf(plan_), Phase::kConnect);
  state_ = State::kConnect;
}

std::optional<base::Error> MirrorSteps::refusalOf(const upstream::Request& claimed) {
  const processing::Step* const refusing = connect_.refusing(claimed, message_.head, peer());
  if (refusing == nullptr) return std::nullopt;
  const processing::Verdict verdict = processing::Verdict::denyDestination();
  onStep(*refusing, {}, verdict, processing::StepOutcome::kRefused);
  return verdict.reply().error;
}

bool MirrorSteps::ends(const processing::Step& step, const processing::Verdict& verdict) {
  const bool replied = verdict.kind() == processing::Verdict::Kind::kReply;
  mirror_.onRefused(replied ? verdict.reply().error : failureOf(step, verdict));
  return true;
}

}  // namespace sluice::exchange
