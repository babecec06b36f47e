#include "proxy/exchange/steps/step_host.h"

#include <string>

#include "proxy/exchange/transaction/context.h"

namespace sluice::exchange {
namespace {

/// The key of timeouts.processor.
constexpr std::string_view kStepTimeout = "processor";

/// Returns the limit that the end of the step has hit; empty if there is none, or if it was counted already: a step
/// whose own request ran into a timeout names that one, and limits of bodies are counted by onLimit().
std::string_view limitHitBy(const processing::Verdict& verdict) {
  using Kind = processing::Verdict::Kind;
  if (verdict.kind() == Kind::kReply) return verdict.reply().error.limit;
  if (verdict.kind() != Kind::kFail) return {};
  if (verdict.cause() == processing::Cause::kOverWork) return verdict.limit();
  const bool isLate = verdict.cause() == processing::Cause::kTimeout;
  return isLate && verdict.limit().empty() ? kStepTimeout : std::string_view();
}

}  // namespace

StepHost::StepHost(ExchangeContext& owner, processing::ResumeSink& sink, http::Token token, std::string_view address)
    : PipelineHost(owner.worker().clock(), owner.services(), address), owner_(owner), sink_(sink), token_(token) {}

processing::BodyLimits StepHost::bodyLimits() const {
  const base::LimitSettings& limits = owner_.limits();
  return {limits.processorBuffer, limits.replayBuffer, limits.decompressedBody, limits.decompressionRatio};
}

processing::BufferRoom& StepHost::bufferRoom() { return owner_.bufferRoom(); }

base::Duration StepHost::patience() const { return owner_.timeouts().processor; }

processing::Resumer StepHost::resumer(processing::Ticket ticket) { return {sink_, token_, ticket}; }

processing::Waker StepHost::waker(processing::Ticket ticket) { return {sink_, token_, ticket}; }

void StepHost::answerLater(processing::Ticket ticket) {
  owner_.worker().post([later = waker(ticket)] { later.wake(); });
}

void StepHost::onStep(const processing::Step& step, base::Duration time, const processing::Verdict& verdict,
                      processing::StepOutcome outcome) {
  if (verdict.kind() != processing::Verdict::Kind::kContinue) {
    if (const std::string_view hit = limitHitBy(verdict); !hit.empty()) owner_.onLimit(hit);
  }
  owner_.observer().onStep({step, time, verdict, outcome, place(), peer()});
}

void StepHost::onLimit(std::string_view limit) { owner_.onLimit(limit); }

namespace {

/// Returns false if the gateway is full, or the client's request is at fault.
bool isOfProcessor(processing::Cause cause) {
  return cause != processing::Cause::kNoRoom && cause != processing::Cause::kOverLimit &&
         cause != processing::Cause::kBadBody && cause != processing::Cause::kOverWork;
}

}  // namespace

base::Error failureOf(const processing::Step& step, const processing::Verdict& verdict) {
  const bool ofRequest = processing::isOfRequest(step.phase);
  const auto ofProcessor = [&verdict](base::ErrorType type, std::string_view detail) {
    return base::Error(type, base::ErrorOrigin::kProcessor, std::string(detail)).ofLimit(verdict.limit());
  };
  /// The sentence for the client, which does not repeat the processor's own reason.
  const auto silent = [&](base::ErrorType type, std::string_view detail) {
    base::Error error = ofProcessor(type, detail);
    error.note = verdict.reason();
    if (verdict.cause() == processing::Cause::kTimeout && error.limit.empty()) error.limit = kStepTimeout;
    if (const std::uint16_t status = step.processor->statusOnError(); status != 0) error.status = status;
    return error;
  };
  const auto ofBody = [&](std::uint16_t status) {
    base::Error error = ofProcessor(
        ofRequest ? base::ErrorType::kHttpRequestError : base::ErrorType::kHttpProtocolError, verdict.reason());
    error.status = ofRequest ? status : 502;
    return error;
  };
  const bool hasAnswer = step.fallback != nullptr && step.fallback->step == nullptr;
  if (hasAnswer && isOfProcessor(verdict.cause())) {
    const bool isLate = verdict.cause() == processing::Cause::kTimeout;
    base::Error error =
        silent(isLate ? base::ErrorType::kProcessorTimeout : base::ErrorType::kProcessorFailed, step.fallback->detail);
    error.status = step.fallback->status;
    return error;
  }
  switch (verdict.cause()) {
    case processing::Cause::kTimeout:
      return silent(base::ErrorType::kProcessorTimeout, "a processor of this request did not answer in time");
    case processing::Cause::kOverLimit:
      return ofBody(413);
    case processing::Cause::kNoRoom:
      return ofProcessor(base::ErrorType::kProcessorCapacityReached, verdict.reason());
    case processing::Cause::kBadBody:
      return ofBody(400);
    case processing::Cause::kError:
    case processing::Cause::kDropped:
    case processing::Cause::kScriptError:
    case processing::Cause::kBudget:
    case processing::Cause::kOverWork:
      break;
  }
  return silent(base::ErrorType::kProcessorFailed, "a processor of this request failed");
}

}  // namespace sluice::exchange
