#include "proxy/exchange/steps/exchange_steps.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/transaction/context.h"

namespace sluice::exchange {

using processing::Phase;
using processing::Pipeline;
using processing::Verdict;

namespace {

/// Returns the head, or a copy without the fields that steps have added for the Backend only.
http::RequestHead& withoutSecrets(http::RequestHead& head, base::Arena& arena) {
  const auto isSecret = [](const http::Field& field) { return http::isInjected(field.care); };
  if (!head.secretControl && std::none_of(head.headers.begin(), head.headers.end(), isSecret)) return head;
  http::RequestHead& shown = *arena.make<http::RequestHead>(head);
  shown.headers = head.headers.copy(arena);
  shown.headers.removeIf(isSecret);
  shown.target = head.openTarget();
  return shown;
}

}  // namespace

ExchangeSteps::ExchangeSteps(ExchangeStepsOwner& exchange, http::Token token, std::string_view client,
                             ExchangeContext& owner, http::RequestMessage& message)
    : StepHost(owner, owner.resumeSink(), token, client),
      ownBody(owner.worker().chunks()),
      attemptBody(owner.worker().chunks()),
      exchange_(exchange),
      request_(message) {}

processing::Pipeline& ExchangeSteps::beginRequest() {
  findPlace();
  const processing::StepTarget target{request_.head, nullptr, request_.arena, holds_, &wish, nullptr, &edits};
  return request.emplace(host(), target, owner_.worker().chunks(), processing::BodyPath::kBypasses);
}

void ExchangeSteps::beginRule(http::RequestHead& before) {
  headBeforeRule = &before;
  editsBeforeRouting = std::exchange(edits, {});
}

void ExchangeSteps::beginTentative(http::RequestHead& head, const processing::Chain& own) {
  dropTentative();
  tentativeChain = &own;
  tentativeTarget.emplace(processing::StepTarget{head, nullptr, request_.arena, holdsOfTentative_, nullptr, nullptr,
                                                 &tentativeEdits, &holds_, nullptr, &ownBody});
  request->setBackend(*tentativeTarget);
}

bool ExchangeSteps::continuesTentative(const processing::Chain* own) const {
  if (own == nullptr || own != tentativeChain) return false;
  if (!ownBody.wasJudged) return true;
  // Only changes behind the last step of the Backend make a difference.
  bool behind = true;
  const auto comesBehind = [&behind](const processing::Step& step) {
    behind = behind && step.scope != processing::Scope::kBackend;
    return behind;
  };
  return request->alteredBy(comesBehind) == nullptr;
}

void ExchangeSteps::dropTentative() {
  tentativeChain = nullptr;
  tentativeEdits.clear();
  ownBody.clear();
  holdsOfTentative_.release();
}

processing::Pipeline& ExchangeSteps::beginAttempt(http::RequestHead& head, processing::BodyPath path) {
  findPlace();
  attemptHead = &head;
  backendRequestEntered = false;
  connect.reset();
  attemptBody = http::BodyPipe(owner_.worker().chunks());
  const processing::StepTarget target{
      head,    nullptr, request_.arena,   holdsOfAttempt_, nullptr, &connect.destination(),
      nullptr, &holds_, heldByTentative()};
  return attempt.emplace(host(), target, owner_.worker().chunks(), path);
}

processing::Pipeline& ExchangeSteps::beginResponse(http::ResponseHead& head, processing::BodyPath path) {
  if (!placeKnown_) findPlace();
  http::RequestHead& sent = withoutSecrets(attemptHead != nullptr ? *attemptHead : request_.head, request_.arena);
  const processing::StepTarget target{sent,    &head,   request_.arena, holdsOfAttempt_,  nullptr,
                                      nullptr, nullptr, &holds_,        heldByTentative()};
  return response.emplace(host(), target, owner_.worker().chunks(), path);
}

void ExchangeSteps::dropRequestBody() {
  if (request) request->dropBody();
  if (attempt) attempt->dropBody();
  attemptBody.bytes.clear();
  ownBody.bytes.clear();
}

void ExchangeSteps::endAttempt() {
  response.reset();
  attempt.reset();
  attemptHead = nullptr;
  placeKnown_ = false;  // the next one may be of another Backend
  dropTentative();
  holdsOfAttempt_.release();
}

void ExchangeSteps::passBy(const processing::Chains& chains, http::ResponseHead& head) {
  heeded_ = false;
  processing::Pipeline& pipeline = beginResponse(head, processing::BodyPath::kBypasses);
  pipeline.append(chains, Phase::kResponseHeaders);
  // A step that suspends here is not waited for, because the reply is decided. Those behind it still see the reply.
  base::ByteQueue nothing(owner_.worker().chunks());
  do {
    pipeline.go(nothing, 0);
  } while (pipeline.leaveOut());
  response.reset();
}

template <typename Visit>
void ExchangeSteps::eachPipeline(Visit&& visit) {
  for (std::optional<processing::Pipeline>* each : {&request, &attempt, &response}) {
    if (*each) visit(**each);
  }
}

base::MonotonicTime ExchangeSteps::firstDeadline() const {
  base::MonotonicTime first = base::MonotonicTime::max();
  for (const std::optional<processing::Pipeline>* each : {&request, &attempt, &response}) {
    if (*each) first = std::min(first, (*each)->deadline());
  }
  return first;
}

const processing::Step* ExchangeSteps::suspended() const {
  for (const std::optional<processing::Pipeline>* each : {&request, &attempt, &response}) {
    const processing::Step* step = *each ? (*each)->suspended() : nullptr;
    if (step != nullptr) return step;
  }
  return nullptr;
}

void ExchangeSteps::expire(base::MonotonicTime now) {
  eachPipeline([now](processing::Pipeline& each) { each.expire(now); });
}

bool ExchangeSteps::answer(processing::Ticket ticket, bool dropped) {
  bool found = false;
  eachPipeline([&](processing::Pipeline& each) { found = found || each.answer(ticket, dropped); });
  return found;
}

void ExchangeSteps::findPlace() {
  placeKnown_ = true;
  setPlace(exchange_.place());
}

bool ExchangeSteps::dropSent(http::RequestHead& head, std::string_view name) {
  if (sentHead == nullptr || &head != &request_.head) return StepHost::dropSent(head, name);
  const auto isSent = [&](const http::Field& field) {
    return http::areTwins(field.name, name) &&
           std::any_of(sentHead->headers.begin(), sentHead->headers.end(), [&](const http::Field& own) {
             return own.name.data() == field.name.data() && own.value.data() == field.value.data();
           });
  };
  for (http::RequestHead* each : {&head, headBeforeRule}) {
    if (each != nullptr && each != sentHead) each->headers.removeIf(isSent);
  }
  return sentHead->headers.removeTwins(name) > 0;
}

void ExchangeSteps::refuse(const processing::Step& step, std::string reason) {
  const Verdict verdict = Verdict::fail(std::move(reason));
  onStep(step, {}, verdict, processing::StepOutcome::kRefused);
  ends(step, verdict);
}

void ExchangeSteps::deny(const processing::Step& step) {
  const Verdict verdict = Verdict::denyDestination();
  onStep(step, {}, verdict, processing::StepOutcome::kRefused);
  ends(step, verdict);
}

bool ExchangeSteps::ends(const processing::Step& step, const Verdict& verdict) {
  if (!heeded_) return false;
  refusal = StepRefusal{step.name, step.object, step.phase};
  const bool replied = verdict.kind() == Verdict::Kind::kReply;
  const bool asksForTunnel = request_.head.body == http::Body::kTunnel;
  if (replied && !processing::isPossible(verdict.reply().error.status, asksForTunnel)) {
    exchange_.onRefused(failureOf(step, Verdict::fail("the status of its answer is not possible here")));
    return true;
  }
  if (replied) refusal->reply = verdict.reply();
  exchange_.onRefused(replied ? verdict.reply().error : failureOf(step, verdict));
  return true;
}

}  // namespace sluice::exchange
