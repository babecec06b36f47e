#include "proxy/processing/step_call.h"

#include <utility>

namespace sluice::processing {
namespace {

template <typename Head>
const Head* kept(base::Arena& arena, Head& head) {
  const auto* before = arena.make<Head>(head);
  head.headers = before->headers.copy(arena);
  return before;
}

/// Returns the reply to a request whose destination a step has left without addresses.
Verdict denied() {
  return Verdict::reply({base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                                     "the request may not go to any address of its destination"),
                         {}});
}

}  // namespace

class StepCall::Control final : public StepControl {
 public:
  Control(PipelineHost& host, StepCall& of) : host_(host), of_(of) {}
  Resumer suspend() override {
    of_.ticket_ = host_.newTicket();
    return host_.resumer(of_.ticket_);
  }
  Callout& callout(const CalloutRequest& request) override {
    CalloutRequest bounded = request;
    if (bounded.timeout == base::Duration::zero()) bounded.timeout = of_.patience(host_);
    return *of_.callouts_.emplace_back(host_.services().callout(bounded, host_.place()));
  }

 private:
  PipelineHost& host_;
  StepCall& of_;
};

Verdict StepCall::ask(PipelineHost& host, const StepTarget& target, Body* body) {
  if (waits()) return Verdict::wait();
  if (!std::exchange(asked_, true)) {
    if (begun_ == base::MonotonicTime{}) begun_ = host.clock().now();
    if (step_->failOpen) keepHeads(target);
  }
  switch (std::exchange(wait_, Wait::kNone)) {
    case Wait::kDropped:
      return decide(Verdict::fail("what it waited for will not come", Cause::kDropped), target, body);
    case Wait::kExpired:
      return decide(Verdict::fail("it took longer than its timeout", Cause::kTimeout), target, body);
    case Wait::kNone:
    case Wait::kWaiting:
    case Wait::kResumed:
      break;
  }
  ticket_ = 0;
  Control control(host, *this);
  Destination* const destination = destinationOf(target);
  RequestEditor editor(target.arena, target.request, *step_, target.edits, decided_);
  RouteWish* const wish = target.wish;
  const bool asked = wish != nullptr && wish->matchAgain;
  Call call{step_->phase,    host.place(), target.arena, host.clock(), target.request, editor,          target.holds,
            target.response, body,         wish,         destination,  control,        host.services(), memory_};
  Verdict verdict = step_->processor->process(call, host.peer());
  if (wish != nullptr && wish->matchAgain && !asked) wish->asking = step_;
  if (verdict.kind() == Verdict::Kind::kWait) {
    // The answer may have come while the processor was asked.
    if (wait_ == Wait::kNone && ticket_ == 0) return decide(Verdict::fail("it waits for nothing"), target, body);
    if (wait_ == Wait::kNone) {
      wait_ = Wait::kWaiting;
      deadline_ = host.clock().now() + patience(host);
    }
    return verdict;
  }
  ticket_ = 0;  // an answer that comes all the same has no effect
  const bool nowhere = destination != nullptr && destination->addresses().empty();
  if (nowhere && verdict.kind() == Verdict::Kind::kContinue) verdict = denied();
  return decide(std::move(verdict), target, body);
}

/// Ends the step's influence on the heads, unless it goes on inspecting a body that has not ended.
Verdict StepCall::decide(Verdict&& verdict, const StepTarget& target, const Body* body) {
  const bool inspects = step_->body.mode == BodyMode::kInspected && body != nullptr && !body->last();
  if (verdict.kind() == Verdict::Kind::kContinue && inspects) return std::move(verdict);
  if (verdict.kind() == Verdict::Kind::kFail && request_ != nullptr) restoreHeads(target);
  // From here on later steps change the heads, so this one must not restore them.
  decided_ = true;
  request_ = nullptr;
  response_ = nullptr;
  destination_ = nullptr;
  return std::move(verdict);
}

bool StepCall::answer(Ticket ticket, bool dropped) {
  if (ticket == 0 || ticket != ticket_) return false;
  ticket_ = 0;
  wait_ = dropped ? Wait::kDropped : Wait::kResumed;
  return true;
}

void StepCall::expire() {
  ticket_ = 0;
  wait_ = Wait::kExpired;
}

void StepCall::keepHeads(const StepTarget& target) {
  request_ = kept(target.arena, target.request);
  if (target.edits != nullptr) edits_ = target.edits->end();
  if (target.response != nullptr) response_ = kept(target.arena, *target.response);
  if (const Destination* now = destinationOf(target)) {
    destination_ = target.arena.make<Destination>(*now);
  }
}

void StepCall::restoreHeads(const StepTarget& target) {
  target.request = *request_;
  if (target.edits != nullptr) target.edits->rewind(edits_);
  if (response_ != nullptr) *target.response = *response_;
  if (destination_ != nullptr) *target.destination = *destination_;
}

}  // namespace sluice::processing
