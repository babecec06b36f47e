#include "proxy/processing/step_call.h"

#include <cassert>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice::processing {
namespace {

/// Returns a copy that shares the bytes of the original.
template <typename Head>
const Head* kept(base::Arena& arena, Head& head) {
  const auto* before = arena.make<Head>(head);
  head.headers = before->headers.copy(arena);
  return before;
}
const RouteWish* kept(base::Arena& arena, RouteWish& wish) {
  const auto* before = arena.make<RouteWish>(wish);
  wish.hints = before->hints.copy(arena);
  return before;
}

/// The client as the steps of uses that are marked preAuth see it, whichever type their processor has.
constexpr Peer kNobody{};

const Peer& shownTo(const Step& step, const PipelineHost& host) { return seesClient(step) ? host.peer() : kNobody; }

}  // namespace

/// The heads, the destination and the wish as they were before the step. It lives in the arena, as all that it refers
/// to.
struct StepCall::KeptHeads {
  const http::RequestHead* request;
  const http::ResponseHead* response;  // null in phases of the request
  const Destination* destination;      // null in phases other than connect
  const RouteWish* wish;               // null if the step may state none
  RequestEdits::Mark edits;
};

class StepCall::Control final : public StepControl {
 public:
  Control(PipelineHost& host, StepCall& of) : host_(host), of_(of) {}
  Resumer suspend(std::optional<base::MonotonicTime> until) override {
    listen(until.value_or(base::MonotonicTime::max()));
    return host_.resumer(of_.ticket_);
  }
  void pause(base::MonotonicTime until) override {
    listen(until);
    host_.answerLater(of_.ticket_);
  }
  Callout& callout(const CalloutRequest& request) override {
    CalloutRequest bounded = request;
    if (bounded.timeout == base::Duration::zero()) bounded.timeout = of_.patience(host_);
    return *of_.callouts_.emplace_back(lastingCallout(bounded));
  }
  std::unique_ptr<Callout> lastingCallout(const CalloutRequest& request) override {
    CalloutRequest ofClient = request;
    ofClient.client = host_.peer().address;
    ofClient.caller = of_.step_->preAuth ? nullptr : host_.caller();
    return host_.services().callout(ofClient, host_.place());
  }
  std::uint64_t client() const override { return std::hash<std::string_view>{}(host_.peer().address); }

 private:
  void listen(base::MonotonicTime until) {
    of_.deadline_ = until;
    const bool listens = !std::exchange(suspended_, true) && of_.ticket_ != 0;  // since an earlier call
    if (!listens) of_.ticket_ = host_.newTicket();
  }

  PipelineHost& host_;
  StepCall& of_;
  bool suspended_ = false;
};

Verdict StepCall::ask(PipelineHost& host, const StepTarget& target, Body* body) {
  assert(!waits());
  if (!std::exchange(asked_, true)) {
    if (begun_ == base::MonotonicTime{}) begun_ = host.clock().now();
    if (step_->failOpen) keepHeads(target);
  }
  const bool inspects = isInspected(step_->body.mode);
  http::Trailers* const behind = body != nullptr && (step_->failOpen || inspects) ? body->trailers() : nullptr;
  if (behind != nullptr && keptTrailers_ == nullptr) {
    keptTrailers_ = target.arena.make<http::Headers>(behind->fields.copy(target.arena));
  }
  const bool inVain = wait_ > Wait::kResumed;  // it has waited, and no answer has come
  const bool resumed = wait_ == Wait::kResumed;
  if (!inVain) wait_ = Wait::kNone;
  Control control(host, *this);
  holds_ = &target.holds;
  Destination* const destination = narrowed(target);
  RequestEditor editor(target.arena, target.request, *step_, target.edits, decided_);
  RouteWish* const wish = target.wish;
  const bool asked = wish != nullptr && wish->matchAgain;
  Call call{step_->phase,
            host.place(),
            target.arena,
            host.clock(),
            target.request,
            editor,
            target.holds,
            target.lastingFor(*step_),
            target.response,
            body,
            wish,
            shown(target),
            control,
            host.services(),
            patience(host),
            begun_,
            memory_};
  Verdict verdict = inVain ? unanswered(call) : step_->processor->process(call, shownTo(*step_, host));
  if (wish != nullptr && wish->matchAgain && !asked) wish->asking = step_;
  if (verdict.kind() == Verdict::Kind::kWait && !suspend(host)) verdict = Verdict::fail("it waits for nothing");
  if (verdict.kind() == Verdict::Kind::kWait || verdict.kind() == Verdict::Kind::kHold) return verdict;
  if (verdict.kind() == Verdict::Kind::kStream) {
    decide(verdict, target, body);
    return verdict;
  }
  ticket_ = 0;  // an answer that still comes has no effect
  if (step_->server != nullptr) noteServer(host, verdict, resumed);
  if (destination != nullptr) destination->note(target.arena, *step_);
  const bool nowhere = destination != nullptr && destination->addresses().empty();
  if (nowhere && verdict.kind() == Verdict::Kind::kContinue) verdict = Verdict::denyDestination();
  decide(verdict, target, body);
  const bool isUndone = inspects || verdict.kind() == Verdict::Kind::kFail;
  if (behind != nullptr && isUndone) behind->fields = keptTrailers_->copy(behind->arena);
  return verdict;
}

void StepCall::noteServer(const PipelineHost& host, const Verdict& verdict, bool resumed) const {
  if (verdict.kind() == Verdict::Kind::kFail) {
    const Cause cause = verdict.cause();
    const bool ofServer = cause == Cause::kError || cause == Cause::kTimeout || cause == Cause::kDropped;
    if (ofServer) step_->server->onFailure(cause, host.clock().wallNow());
  } else if (resumed) {
    // A step that has not waited did not ask its server, so it has learnt nothing about it.
    step_->server->onAnswer();
  }
}

Verdict StepCall::unanswered(Call& call) {
  if (std::exchange(wait_, Wait::kNone) == Wait::kDropped) {
    return Verdict::fail("what it waited for will not come", Cause::kDropped);
  }
  if (auto known = step_->processor->expired(call)) return *std::move(known);
  return Verdict::fail("it took longer than its timeout", Cause::kTimeout);
}

bool StepCall::suspend(const PipelineHost& host) {
  if (wait_ != Wait::kNone) return true;  // the answer has come while the processor was asked
  if (ticket_ == 0) return false;
  wait_ = Wait::kWaiting;
  if (deadline_ == base::MonotonicTime::max()) deadline_ = host.clock().now() + patience(host);
  return true;
}

/// Ends the step's influence on the heads, unless it goes on inspecting a body that has not ended.
inline void StepCall::decide(const Verdict& verdict, const StepTarget& target, const Body* body) {
  const bool inspects = body != nullptr && isInspected(step_->body.mode) && !body->last();
  if (verdict.kind() == Verdict::Kind::kContinue && inspects) return;
  if (verdict.kind() == Verdict::Kind::kFail && kept_ != nullptr) restoreHeads(target);
  // From here on later steps change the heads, so this one must not restore them.
  decided_ = true;
  kept_ = nullptr;
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
  const Destination* const now = narrowed(target);
  kept_ = target.arena.make<KeptHeads>(kept(target.arena, target.request),
                                       target.response != nullptr ? kept(target.arena, *target.response) : nullptr,
                                       now != nullptr ? target.arena.make<Destination>(*now) : nullptr,
                                       target.wish != nullptr ? kept(target.arena, *target.wish) : nullptr,
                                       target.edits != nullptr ? target.edits->end() : nullptr);
}

void StepCall::restoreHeads(const StepTarget& target) {
  target.request = *kept_->request;
  if (target.edits != nullptr) target.edits->rewind(kept_->edits);
  if (kept_->response != nullptr) *target.response = *kept_->response;
  if (kept_->destination != nullptr) *target.destination = *kept_->destination;
  if (kept_->wish != nullptr) *target.wish = *kept_->wish;
}

}  // namespace sluice::processing
