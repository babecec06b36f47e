// StepHost gives pipelines the services of their worker, whether they run for an exchange or for a mirror of it. The
// derived class acts on the decisions of steps.
#pragma once

#include <string_view>

#include "proxy/http/codec.h"
#include "proxy/processing/pipeline_host.h"

namespace sluice::exchange {

class ExchangeContext;

class StepHost : public processing::PipelineHost {
 protected:
  /// A step that has waited wakes `token` of `sink`. `address` is the client's.
  StepHost(ExchangeContext& owner, processing::ResumeSink& sink, http::Token token, std::string_view address);
  /// Lets a class that inherits privately hand itself to a run.
  processing::PipelineHost& host() { return *this; }
  /// Returns true if a step has asked to wait at least once.
  bool hasWaited() const { return tickets_ > 0; }

  // processing::PipelineHost
  processing::BodyLimits bodyLimits() const override;
  processing::BufferRoom& bufferRoom() override;
  base::Duration patience() const override;
  processing::Ticket newTicket() override { return ++tickets_; }
  processing::Resumer resumer(processing::Ticket ticket) override;
  processing::Waker waker(processing::Ticket ticket) override;
  void answerLater(processing::Ticket ticket) override;
  void onStep(const processing::Step& step, base::Duration time, const processing::Verdict& verdict,
              processing::StepOutcome outcome) override;
  void onLimit(std::string_view limit) override;

  ExchangeContext& owner_;

 private:
  processing::ResumeSink& sink_;
  const http::Token token_;
  processing::Ticket tickets_ = 0;
};

/// Returns the error that a client gets when a step has failed. It never repeats the step's own reason.
base::Error failureOf(const processing::Step& step, const processing::Verdict& verdict);

}  // namespace sluice::exchange
