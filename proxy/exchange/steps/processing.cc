#include "proxy/exchange/steps/processing.h"

#include <utility>

#include "proxy/exchange/steps/body_framing.h"
#include "proxy/http/hygiene.h"
#include "proxy/routing/preflight.h"

namespace sluice::exchange {

using processing::bitOf;
using processing::Phase;
using processing::Pipeline;
using processing::Round;
using processing::Scope;
using processing::Step;

namespace {

bool isAnyStep(const Step&) { return true; }

/// `from` is a listener or a rule, or null.
template <typename Covered>
void takePolicies(std::shared_ptr<const routing::EgressPolicies>& policies, const Covered* from) {
  if (from != nullptr) {
    policies = from->egress;
  } else {
    policies.reset();
  }
}

/// Makes the changes of filters and steps in their order: the filters of the rule act on the head that the steps of the
/// first round have left, and the other steps on the head that the filters have left. `rule` is null if its filters are
/// not due.
void layChanges(Transaction& t, http::RequestHead& head, const routing::Rule* rule,
                const processing::RequestEdits& edits, bool withSecrets) {
  const auto isFirst = [](const Step& step) { return processing::roundOf(step) == Round::kFirst; };
  const ForwardedClient client = t.client.forwarded(t.request.head.scheme);
  base::Arena& arena = t.request.arena;
  if (rule != nullptr) {
    writeForwarded(arena, head.headers, t.context.identity().forwarded, client.address, client.secure, head.authority);
  }
  edits.layOn(arena, head, isFirst, withSecrets);
  if (rule != nullptr && rule->requestHeaders) rule->requestHeaders->apply(arena, head.headers);
  edits.layOn(
      arena, head, [&](const Step& step) { return !isFirst(step); }, withSecrets);
}

/// Undoes the changes of the rule's filters and of all steps since the rule was found.
void restoreHead(Transaction& t, const ExchangeSteps& steps) {
  http::RequestHead& head = t.request.head;
  const http::RequestHead& before = *steps.headBeforeRule;
  head.headers = before.headers.copy(t.request.arena);
  head.target = before.target;
  head.sentPath = before.sentPath;
  head.method = before.method;
  head.methodText = before.methodText;
  head.secretControl = before.secretControl;
  head.unusualSlashes = before.unusualSlashes;
}

}  // namespace

ExchangeSteps& Processing::open() {
  if (!steps_) {
    ExchangeStepsOwner& owner = *this;
    steps_.reset(t_.request.arena.make<ExchangeSteps>(owner, t_.token(), t_.client.ip.view(), t_.context, t_.request));
    if (t_.caller != nullptr) steps_->identify(t_.caller);
  }
  return *steps_;
}

// The listener is known before a rule is.
processing::Place Processing::place() const {
  const routing::ServedListener* const listener = t_.route.listener;
  const routing::Rule* const rule = t_.route.rule;
  const routing::WeightedBackend* const backend = attempts_.backend();
  routing::EgressCoverage& coverage = steps_->scope.coverage;
  takePolicies(coverage.ofListener, listener);
  takePolicies(coverage.ofRule, rule);
  processing::Place place;
  if (listener != nullptr) place.gateway = listener->gateway;
  if (rule != nullptr) place.route = rule->route;
  if (backend != nullptr && backend->backend) place.backend = backend->backend->name;
  if (coverage.any()) place.scope = &steps_->scope;
  return place;
}

// --- the rounds of a request ----------------------------------------------------------------------------------------

void Processing::beginBeforeRouting(Round round) {
  const processing::Chains first = {t_.route.listener->preRouting.get(), nullptr, nullptr};
  if (round != Round::kSecond) {
    chains_.findPhases();  // their local replies go through response-headers of the listener
    // It is not known whether steps of the route will want the body.
    beginRequest(processing::bodyPath(t_.request.head.body, true) == processing::BodyPath::kFlows);
    steps_->request->appendRequest(first, Round::kFirst);
  }
  if (round != Round::kFirst) steps_->request->appendRequest(first, Round::kSecond);
}

Processing::FirstRound Processing::beginFirstRound() {
  const bool begun = steps_ && steps_->request;
  if (begun) steps_->findPlace();
  if (!begun && !chains_.haveStepsBeforeAttempt()) return FirstRound::kNone;
  const processing::Chains shared = chains_.shared();
  if (begun) {
    http::RequestHead* const before = t_.request.arena.make<http::RequestHead>(t_.request.head);
    t_.request.head.headers = before->headers.copy(t_.request.arena);
    steps_->beginRule(*before);
  } else {
    beginRequest(processing::wantsBody(shared, bitOf(Phase::kRequestBody)) && mayCarry());
    steps_->beginRule(*t_.asked);
  }
  return steps_->request->appendRequest(shared, Round::kFirst) ? FirstRound::kBegun : FirstRound::kEmpty;
}

/// `carries` is true if the body goes through the steps.
Pipeline& Processing::beginRequest(bool carries) {
  t_.asked = t_.request.arena.make<http::RequestHead>(t_.request.head);
  t_.request.head.headers = t_.asked->headers.copy(t_.request.arena);
  Pipeline& pipeline = open().beginRequest();
  steps_->sentHead = t_.asked;
  if (carries) carryRequest();
  return pipeline;
}

void Processing::carryRequest() {
  Pipeline& pipeline = *steps_->request;
  http::BodyPipe& body = t_.requestBody;
  pipeline.carry(processing::bodyPath(t_.request.head.body, true));
  pipeline.source.splice(body.bytes, body.bytes.size());
  if (body.end() == http::PipeEnd::kComplete) pipeline.end(body.takeTrailers());
  body = http::BodyPipe(t_.context.worker().chunks());
}

bool Processing::beginTentative() {
  const bool isChanged = steps_->ruleFilters == RuleFilters::kApplied || !steps_->edits.empty();
  if (isChanged) restoreHead(t_, *steps_);
  steps_->ruleFilters = RuleFilters::kApplied;
  layChanges(t_, t_.request.head, t_.route.rule, steps_->edits, true);
  const processing::Chain* own = chains_.all()[2];
  if (own == nullptr || own == steps_->tentativeChain || !own->hasPreAuthOfRequest()) return false;
  steps_->beginTentative(*t_.request.arena.make<http::RequestHead>(attempts_.head(ruleFilters())), *own);
  if (!steps_->request->carries() && own->wantsBodyPreAuth() && mayCarry()) carryRequest();
  steps_->request->appendRequest({nullptr, nullptr, own}, Round::kFirst);
  return true;
}

void Processing::beginSecondRound() {
  steps_->request->appendRequest(chains_.shared(), Round::kSecond);
  steps_->request->seal();
}

void Processing::endRounds() {
  if (requestCarrier() == nullptr) return;
  for (http::RequestHead* head : {&t_.request.head, t_.asked}) frame(*head, steps_->request->alters(), t_.requestBody);
}

void Processing::rebuildHead() {
  restoreHead(t_, *steps_);
  const bool isDue = steps_->ruleFilters == RuleFilters::kApplied;
  layChanges(t_, t_.request.head, isDue ? t_.route.rule : nullptr, steps_->edits, true);
}

// --- the route matched again ----------------------------------------------------------------------------------------

// The wish of a step is heeded once. The changes of steps that the new rule has too are applied again.
Processing::Rematch Processing::matchAgain(routing::RouteMatch& match) {
  const bool asked = steps_->request->askedByStep();
  if (asked && std::exchange(steps_->matchedAgain, true)) return Rematch::kSame;
  const Step* const asking = steps_->request->asking();
  const auto stays = [asking](const Step& step) { return step.scope == Scope::kGateway || &step == asking; };
  http::RequestHead head = *steps_->headBeforeRule;
  head.headers = head.headers.copy(t_.request.arena);
  steps_->edits.layOn(t_.request.arena, head, stays);
  match = matchWithHints(head);
  if (match.rule == t_.route.rule) return Rematch::kSame;
  const processing::Chain* const next = match.rule != nullptr ? match.rule->chain.get() : nullptr;
  const auto counts = [&](const Step& step) { return stays(step) || (next != nullptr && next->contains(step)); };
  const Step* const changed = steps_->request->alteredBy(
      [&](const Step& step) { return step.scope != Scope::kGateway && (next == nullptr || !next->contains(step)); });
  if (changed != nullptr) {
    steps_->refuse(*changed, "the route was matched again after it had changed the body");
    return Rematch::kRefused;
  }
  steps_->edits.keepIf(counts);
  return Rematch::kChanged;
}

// Hints replace the fields of `head` that have their names.
routing::RouteMatch Processing::matchWithHints(http::RequestHead head) const {
  const Downstream* downstream = t_.downstream();
  if (downstream == nullptr) return {};
  if (!steps_->wish.hints.empty()) head.headers = head.headers.copy(t_.request.arena);
  for (const http::Field& hint : steps_->wish.hints) head.headers.set(t_.request.arena, hint.name, hint.value);
  return routing::matchRequest(downstream->routes(), head, downstream->serverName());
}

void Processing::leaveRule() {
  if (t_.route.rule != nullptr) steps_->formerRule = t_.route.rule->shared_from_this();
}

void Processing::restartRounds() {
  steps_->findPlace();
  Pipeline& pipeline = *steps_->request;
  const processing::Chains own = {nullptr, chains_.all()[1], nullptr};
  const bool wanted = processing::wantsBody(own, bitOf(Phase::kRequestBody)) && mayCarry();
  if (!pipeline.carries() && wanted) carryRequest();
  pipeline.leaveRoute();
  pipeline.appendRequest(chains_.shared(), Round::kFirst);
}

// --- the attempt ----------------------------------------------------------------------------------------------------

void Processing::beginAttempt() {
  const processing::Chains all = chains_.all();
  const processing::Chains own = {nullptr, nullptr, all[2]};
  http::RequestHead* const head = t_.request.arena.make<http::RequestHead>(attempts_.head(ruleFilters()));
  const bool wanted = processing::wantsBody(own, bitOf(Phase::kRequestBody)) ||
                      processing::wantsBody(all, bitOf(Phase::kBackendRequest));
  ExchangeSteps& steps = open();
  const bool begun = steps.continuesTentative(own[2]);
  if (!begun) steps.dropTentative();
  if (begun) steps.tentativeEdits.layOn(t_.request.arena, *head, isAnyStep);
  if (steps.ownBody.isChanged() && mayCarry())
    frameWhole(*head, steps.ownBody.bytes.size(), steps.ownBody.trailers() != nullptr);
  Pipeline& pipeline = steps.beginAttempt(*head, processing::bodyPath(head->body, wanted));
  if (!begun) {
    pipeline.appendRequest(own, Round::kBoth);
    return;
  }
  if (steps.ownBody.rest != nullptr) pipeline.appendRequest(own, Round::kFirst, steps.ownBody.rest);
  pipeline.appendRequest(own, Round::kSecond);
}

void Processing::beginConnect(net::Addresses addresses) {
  steps_->connect.begin(t_.request.arena, *attempts_.current().destination(), std::move(addresses));
  steps_->attempt->append(chains_.all(), Phase::kConnect);
}

void Processing::beginBackendRequest() {
  const bool wanted = chains_.wants(Phase::kBackendRequest);
  const Attempt& current = attempts_.current();
  if (wanted) steps_->connect.connected(t_.request.arena, *current.destination(), *current.request.peer());
  if (std::exchange(steps_->backendRequestEntered, true)) return;
  if (wanted) steps_->attempt->append(chains_.all(), Phase::kBackendRequest);
  steps_->attempt->seal();
}

void Processing::endAttempt() {
  if (steps_) steps_->endAttempt();
}

void Processing::guardTrailers() {
  if (!steps_) return;
  const http::RequestHead& sent = steps_->attemptHead != nullptr ? *steps_->attemptHead : t_.request.head;
  for (http::BodyPipe* pipe : {&t_.requestBody, &steps_->attemptBody}) {
    if (http::Headers* trailers = pipe->trailers()) removeTwinsOf(sent.headers, *trailers);
  }
}

bool Processing::starves() const {
  if (!steps_) return false;
  const Pipeline* request = requestCarrier();
  if (request != nullptr && request->starves()) return true;
  const bool none =
      request != nullptr ? request->isOpen() && request->source.empty() : t_.requestBody.end() == http::PipeEnd::kOpen;
  return none && t_.requestBody.bytes.empty() && steps_->attempt && steps_->attempt->starves();
}

http::RequestHead Processing::headOfMirrors() {
  if (t_.asked == nullptr) return t_.request.head;
  http::RequestHead head = *t_.asked;
  head.headers = head.headers.copy(t_.request.arena);
  steps_->editsBeforeRouting.layOn(t_.request.arena, head, isAnyStep, false);
  layChanges(t_, head, t_.route.rule, steps_->edits, false);
  if (steps_->request->alters()) removeDigests(head.headers);
  return head;
}

// --- the response ---------------------------------------------------------------------------------------------------

void Processing::beginResponse() {
  const std::uint8_t bodies = bitOf(Phase::kBackendResponse) | bitOf(Phase::kResponseBody);
  http::ResponseHead& head = t_.response->head;
  // RFC 9110 section 6.4.1: the response has no body, so no step can make one.
  const bool bodiless = t_.request.head.method == http::Method::kHead || http::statusForbidsBody(head.status);
  const bool wanted = !bodiless && processing::wantsBody(chains_.all(), bodies);
  open().beginResponse(head, processing::bodyPath(head.body, wanted));
}

void Processing::beginBackendResponse() { steps_->response->append(chains_.all(), Phase::kBackendResponse); }

void Processing::beginKeptResponse() {
  steps_->response->append(chains_.all(), Phase::kResponseHeaders);
  steps_->response->append(chains_.all(), Phase::kResponseBody);
}

void Processing::finishReply() {
  http::ResponseMessage& reply = *t_.response;
  if (const processing::Reply* own = replyOfStep()) {
    for (const auto& [name, value] : own->fields) {
      const http::FieldId id = http::fieldId(name);
      const bool single = id == http::FieldId::kContentType || id == http::FieldId::kDate;
      if (single && reply.head.headers.find(id) != nullptr) continue;
      reply.head.headers.add(reply.arena, reply.arena.copy(name), reply.arena.copy(value));
    }
  }
  const bool seen = steps_ && steps_->refusal && steps_->refusal->phase == Phase::kResponseHeaders;
  if (!seen && chains_.wants(Phase::kResponseHeaders)) open().passBy(chains_.all(), reply.head);
}

}  // namespace sluice::exchange
