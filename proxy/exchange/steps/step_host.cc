#include "proxy/exchange/steps/step_host.h"

#include <string>

#include "proxy/exchange/context.h"

namespace sluice::exchange {

StepHost::StepHost(ExchangeContext& owner, processing::ResumeSink& sink, http::Token token, std::string_view address)
    : PipelineHost(owner.worker().clock(), owner.services(), {address, {}, {}}),
      owner_(owner),
      sink_(sink),
      token_(token) {}

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
  owner_.observer().onStep(step, time, verdict, outcome);
}

void StepHost::onLimit(std::string_view limit) { owner_.onLimit(limit); }

base::Error failureOf(const processing::Step& step, const processing::Verdict& verdict) {
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

}  // namespace sluice::exchange
