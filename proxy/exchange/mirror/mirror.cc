#include "proxy/exchange/mirror/mirror.h"

#include <utility>

#include "proxy/exchange/steps/body_framing.h"
#include "proxy/exchange/transaction/context.h"
#include "proxy/exchange/transaction/forwarded_caller.h"
#include "proxy/http/connection_auth.h"
#include "proxy/routing/request_hash.h"

namespace sluice::exchange {
namespace {

/// Returns the target as a weighted backend of its own, so that no edits of any other one apply to it.
http::RequestHead headFor(base::Arena& arena, const MirrorSource& source, const GatewayIdentity& identity) {
  routing::WeightedBackend backend;
  backend.backend = source.target.backend;
  http::RequestHead head = http::clone(arena, attemptHead(arena, source.request, source.rule, backend, *backend.backend,
                                                          identity, source.client, source.filters));
  // A copy can take no part in the handshake of NTLM or Negotiate, and would log a shared connection in.
  if (http::authenticatesConnection(head.headers)) head.headers.remove(http::FieldId::kAuthorization);
  return head;
}

/// Returns the timeouts of an exchange by the same rule, for the mirror alone.
upstream::AsyncRequestTimes mirrorTimes(const base::TimeoutSettings& timeouts, const routing::Rule& rule) {
  return {rule.streamIdleTimeout.value_or(timeouts.streamIdle), rule.requestTimeout.value_or(timeouts.request),
          rule.backendRequestTimeout};
}

base::Error dropped(std::string_view why) {
  return base::Error::upstream(base::ErrorType::kConnectionTerminated, std::string(why));
}

}  // namespace

Mirror::Mirror(base::Handle<Mirror> self, ExchangeContext& context, MirrorTable& table, const MirrorSource& source)
    : self_(self),
      context_(context),
      table_(table),
      listener_(source.listener),
      rule_(source.rule),
      target_(source.target),
      client_(source.share),
      caller_(source.caller),
      brought_(context.worker().now()),
      message_(context.worker().chunks()),
      share_(context.bufferRoom(), source.client.address),
      scope_({listener_.egress, rule_.egress}),
      dial_(scope_.coverage, {net::Address::parse(source.client.address, 0).value_or(net::Address()), caller_},
            *target_.backend, context.observer(), listener_.matching.ignorePathParameters),
      request_(context.upstreams(), *this, mirrorTimes(context.timeouts(), rule_)) {
  message_.head = headFor(message_.arena, source, context.identity());
  const routing::BackendPlan& plan = *target_.backend;
  hash_ = routing::requestHash(plan.connection.balancing, source.request, source.client.address);
  if (!MirrorSteps::needed(plan)) return;
  steps_ = std::make_unique<MirrorSteps>(
      static_cast<MirrorStepsOwner&>(*this), table_, self_.toToken(), context, message_, request_.body(), plan,
      processing::Place{listener_.gateway, rule_.route, plan.name, scope_.coverage.any() ? &scope_ : nullptr},
      source.client.address, caller_);
}

bool Mirror::enter(const http::RequestHead& sent) {
  routing::EgressHttp asked;
  if (scope_.coverage.any()) asked = {message_.arena.copy(sent.methodText), message_.arena.copy(sent.path())};
  return dial_.admits(asked, message_.head) && request_.enter(target_.backend, /*seeks=*/false);
}

void Mirror::pin() {
  if (pin_) return;
  pin_ = rule_.shared_from_this();
  listenerPin_ = listener_.shared_from_this();
}

// --- calls of the exchange, the pool and the codec -------------------------------------------------------------------

void Mirror::record() {
  request_.wake();
  table_.mark(*this);
}

/// The client holds the mirror up while the Backend has all bytes that have come.
upstream::PlaceClaim Mirror::claim() const {
  const bool owes = state_ == State::kStarted && !ended_ && heldBytes() == 0;
  return {client_, owes ? brought_ : base::MonotonicTime::max()};
}

std::size_t Mirror::heldBytes() const { return request_.body().bytes.size() + (steps_ ? steps_->source().size() : 0); }

bool Mirror::makeRoom(std::size_t count) {
  if (request_.over() || ended_ || request_.body().end() != http::PipeEnd::kOpen) return false;
  if (heldBytes() + count <= context_.limits().exchangeBuffer) return true;
  context_.onLimit("exchangeBuffer");
  request_.fail(dropped("the mirror does not keep up with the client"));
  return false;
}

void Mirror::addBody(std::string_view bytes) {
  if (!makeRoom(bytes.size())) return;
  incoming().append(bytes);
  brought_ = context_.worker().now();
  record();
}

void Mirror::beginBody(const base::ByteQueue& bytes) {
  if (bytes.empty()) return;
  if (bytes.size() > context_.limits().exchangeBuffer) {
    if (!share_.reachFree(bytes.size())) return failForRoom();
    share_.arrive({table_, self_.toToken(), {}});
    share_.leave();
  }
  incoming().appendCopy(bytes, bytes.size());
  record();
}

void Mirror::endBody(const http::Headers* trailers) {
  ended_ = true;
  std::optional<http::Trailers> copied;
  if (trailers != nullptr) {
    copied.emplace(message_.arena.pool());
    copied->fields = trailers->clone(copied->arena);
    removeTwinsOf(message_.head.headers, copied->fields);
  }
  if (steps_ && steps_->carries()) {
    steps_->end(std::move(copied));
  } else {
    finishPipe(request_.body(), std::move(copied));
  }
  record();
}

void Mirror::leave() {
  if (!ended_ && request_.body().end() == http::PipeEnd::kOpen) cancel();
}

void Mirror::cancel() {
  if (request_.over()) return;
  request_.body().breakOff();
  request_.fail({base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream, "the client has gone"});
}

void Mirror::onAddresses() {
  worthAsking_ = true;
  table_.mark(*this);
}

// There is room now for bytes that steps hold back, and bytes that the buffer share paid for may have gone.
void Mirror::onRequestTaken() { table_.mark(*this); }

void Mirror::failForRoom() {
  context_.onLimit("processorBufferTotal");
  request_.fail(dropped("the gateway has no room for a copy of the body"));
}

void Mirror::onStepAnswer(processing::Ticket ticket, bool wasDropped) {
  if (share_.hasGivenWay() && !request_.over()) return failForRoom();
  if (steps_ && !request_.over() && steps_->answer(ticket, wasDropped)) record();
}

void Mirror::onTimer() {
  const base::MonotonicTime now = context_.worker().now();
  if (request_.over() || steps_->deadline() > now) return;
  steps_->expire(now);
  record();
}

void Mirror::onResponseEnd(std::optional<http::Trailers> /*trailers*/) { end(); }

void Mirror::onFailed(const base::Error& error) {
  error_ = error;
  end();
}

void Mirror::end() {
  dial_.end(request_.peer());
  state_ = State::kEnded;
  table_.mark(*this);
}

// --- work of the beat ------------------------------------------------------------------------------------------------

void Mirror::flush() {
  if (state_ == State::kEnded) {
    state_ = State::kReported;
    return context_.observer().onMirrored(*this);
  }
  if (request_.over()) return;
  if (steps_) {
    process();
  } else if (state_ == State::kPreparing) {
    start();
  }
  const std::size_t held = heldBytes();
  share_.keep(held > context_.limits().exchangeBuffer ? held : 0);
}

void Mirror::process() {
  MirrorSteps::Outcome outcome = steps_->go();
  while (outcome == MirrorSteps::Outcome::kNeedsAddresses && resolve()) outcome = steps_->go();
  if (outcome == MirrorSteps::Outcome::kReady && state_ == State::kPreparing) start();
  request_.wake();
  // A step may have begun to wait.
  if (steps_->deadline() != base::MonotonicTime::max()) context_.worker().timers().set(*this, steps_->deadline());
}

/// Returns false if the addresses are not known yet, or never will be.
bool Mirror::resolve() {
  if (!std::exchange(worthAsking_, false)) return false;
  auto addresses = request_.resolve();
  if (!addresses.ok()) {
    request_.fail(addresses.error());
    return false;
  }
  if (addresses->empty()) return false;
  if (!dial_.narrow(*addresses)) {
    request_.fail(routing::egressDenied());
    return false;
  }
  steps_->connectTo(*std::move(addresses));
  return true;
}

void Mirror::start() {
  state_ = State::kStarted;
  if (!dial_.admitsAgain(message_.head)) return request_.fail(routing::egressDenied());
  if (http::Headers* trailers = request_.body().trailers()) removeTwinsOf(message_.head.headers, *trailers);
  if (!listener_.identityHeader.empty()) {
    writeCaller(message_.arena, message_.head.headers, listener_.identityHeader, caller_.get());
  }
  // Steps that read the body still see the normal form of the path.
  http::RequestHead& sent = *message_.arena.make<http::RequestHead>(message_.head);
  http::spellPathAsSent(message_.arena, sent);
  request_.start(sent, steps_ ? steps_->allowed() : nullptr, dial_.judged(), hash_);
}

}  // namespace sluice::exchange
