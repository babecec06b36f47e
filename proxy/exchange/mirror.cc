#include "proxy/exchange/mirror.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/context.h"
#include "proxy/exchange/steps/body_framing.h"
#include "proxy/http/connection_auth.h"

namespace sluice::exchange {
namespace {

/// It outlives the request that it was made of.
void copyFields(base::Arena& arena, const http::Headers& from, http::Headers& to) {
  to.reserve(arena, from.size());
  for (const http::Field& field : from) {
    to.add(arena, {arena.copy(field.name), arena.copy(field.value), field.id, field.care});
  }
}

/// The share that the target would be, were it one: no edits of any other share go to it.
http::RequestHead headFor(base::Arena& arena, const MirrorSource& source, const Identity& identity) {
  routing::WeightedBackend share;
  share.backend = source.target.backend;
  const http::RequestHead made =
      attemptHead(arena, source.request, source.rule, share, identity, source.client, source.filters);
  http::RequestHead head = made;
  head.methodText = arena.copy(made.methodText);
  head.authority = arena.copy(made.authority);
  head.target = arena.copy(made.target);
  head.headers = {};
  copyFields(arena, made.headers, head.headers);
  // A copy can take no part in the handshake of NTLM or Negotiate, and would log a shared connection in.
  if (http::authenticatesConnection(head.headers)) head.headers.remove(http::FieldId::kAuthorization);
  return head;
}

base::Error lost(std::string_view why) {
  return base::Error::upstream(base::ErrorType::kConnectionTerminated, std::string(why));
}

}  // namespace

Mirror::Mirror(base::Handle<Mirror> self, Context& context, MirrorTable& table, upstream::Cluster& cluster,
               const MirrorSource& source)
    : self_(self),
      context_(context),
      table_(table),
      listener_(source.listener),
      rule_(source.rule),
      target_(source.target),
      cluster_(cluster),
      request_(context.worker().chunks()),
      body_(context.worker().chunks()),
      share_(context.bufferRoom()),
      started_(context.worker().now()),
      begun_(started_),
      lastProgress_(started_) {
  request_.head = headFor(request_.arena, source, context.identity());
  if (request_.head.body == http::Body::kNone) body_.finish();
  const routing::BackendPlan& plan = *target_.backend;
  if (MirrorSteps::needed(plan)) {
    state_ = State::kPreparing;
    steps_ = std::make_unique<MirrorSteps>(static_cast<MirrorStepsOwner&>(*this), token(), context, request_, body_,
                                           plan, processing::Place{listener_.gateway, rule_.route, plan.name},
                                           source.client.address.ip());
  }
  context.worker().timers().set(*this, deadline());
}

Mirror::~Mirror() { cluster_.leave(); }

std::uint16_t Mirror::status() const { return status_ == 0 && error_ ? error_->status : status_; }

// --- what it is told -------------------------------------------------------------------------------------------------

void Mirror::record() {
  lastProgress_ = context_.worker().now();
  table_.mark(*this);
}

bool Mirror::makeRoom(std::size_t count) {
  if (state_ == State::kOver || error_ || ended_ || body_.end() != http::PipeEnd::kOpen) return false;
  const std::size_t held = body_.bytes.size() + (steps_ ? steps_->source().size() : 0);
  if (held + count <= context_.limits().exchangeBuffer) return true;
  context_.onLimit("exchangeBuffer");
  fail(lost("the mirror does not keep up with the client"));
  return false;
}

void Mirror::addBody(std::string_view bytes) {
  if (!makeRoom(bytes.size())) return;
  incoming().append(bytes);
  record();
}

void Mirror::beginBody(const base::ByteQueue& bytes) {
  if (bytes.empty()) return;
  if (bytes.size() > context_.limits().exchangeBuffer && !share_.reach(bytes.size())) {
    context_.onLimit("processorBufferTotal");
    return fail(lost("the gateway has no room for a copy of the body"));
  }
  incoming().appendCopy(bytes, bytes.size());
  record();
}

void Mirror::endBody(const http::Headers* trailers) {
  ended_ = true;
  std::optional<http::Trailers> copied;
  if (trailers != nullptr) {
    copied.emplace(request_.arena.pool());
    copyFields(copied->arena, *trailers, copied->fields);
    removeTwinsOf(request_.head.headers, copied->fields);
  }
  if (steps_ && steps_->carries()) {
    steps_->end(std::move(copied));
  } else {
    finishPipe(body_, std::move(copied));
  }
  record();
}

void Mirror::leave() {
  if (!ended_ && body_.end() == http::PipeEnd::kOpen) cancel();
}

void Mirror::cancel() {
  if (state_ == State::kOver) return;
  body_.breakOff();
  fail({base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream, "the client has gone"});
}

bool Mirror::onPoolReady() {
  if (state_ != State::kWaiting && state_ != State::kPreparing) return false;
  ready_ = true;
  table_.mark(*this);
  return true;
}

bool Mirror::onPoolFailed(const base::Error& error) {
  if (state_ != State::kWaiting && state_ != State::kPreparing) return false;
  fail(error);
  return true;
}

void Mirror::onResponse(const http::ResponseHead& head) {
  status_ = head.status;
  answered_ = head.body == http::Body::kNone;
  record();
}

void Mirror::onResponseBody(std::size_t count) {
  discarded_ += count;
  record();
}

void Mirror::onResponseEnd() {
  answered_ = true;
  record();
}

void Mirror::fail(const base::Error& error) {
  if (!error_) error_ = error;
  table_.mark(*this);
}

void Mirror::onRequestTaken() {
  lastProgress_ = context_.worker().now();
  if (steps_) table_.mark(*this);  // what they hold back has room now
}

void Mirror::onStepAnswer(processing::Ticket ticket, bool dropped) {
  if (steps_ && state_ != State::kOver && steps_->answer(ticket, dropped)) record();
}

// The times of an exchange by the same rule, for it alone.
base::MonotonicTime Mirror::deadline() const {
  const base::TimeoutSettings& timeouts = context_.timeouts();
  const base::Duration request = rule_.requestTimeout.value_or(timeouts.request);
  base::MonotonicTime due = lastProgress_ + timeouts.streamIdle;
  if (request != base::Duration::zero()) due = std::min(due, started_ + request);
  if (steps_) due = std::min(due, steps_->deadline());
  if (state_ == State::kSending && rule_.backendRequestTimeout != base::Duration::zero())
    due = std::min(due, begun_ + rule_.backendRequestTimeout);
  return due;
}

void Mirror::onTimer() {
  const base::MonotonicTime now = context_.worker().now();
  if (deadline() > now) return context_.worker().timers().set(*this, deadline());
  if (steps_ && steps_->deadline() <= now) {
    steps_->expire(now);
    return record();
  }
  fail(base::Error::upstream(base::ErrorType::kHttpResponseTimeout, "the mirror did not answer in time"));
}

// --- what follows from it --------------------------------------------------------------------------------------------

void Mirror::flush() {
  if (state_ == State::kPreparing && !error_) prepare();
  if (state_ == State::kWaiting && ready_ && !error_) acquire();
  if (state_ == State::kSending && steps_ && !error_) steps_->go();
  if (state_ == State::kSending && !error_ && !answered_) feed();
  if (state_ != State::kOver && (error_ || answered_)) finish();
  if (state_ == State::kOver) return;
  if (body_.bytes.size() <= context_.limits().exchangeBuffer) share_.release();
  // A step may have begun to wait, or have answered.
  if (steps_) context_.worker().timers().set(*this, deadline());
}

void Mirror::prepare() {
  MirrorSteps::Outcome outcome = steps_->go();
  while (outcome == MirrorSteps::Outcome::kNeedsAddresses && resolve()) outcome = steps_->go();
  if (outcome != MirrorSteps::Outcome::kReady) return;
  state_ = State::kWaiting;
  ready_ = true;
}

/// Returns false if the addresses are not known yet, or never will be.
bool Mirror::resolve() {
  if (!std::exchange(ready_, false)) return false;
  auto addresses = cluster_.resolve(token());
  if (!addresses.ok()) {
    error_ = addresses.error();
    return false;
  }
  if (addresses->empty()) return false;
  steps_->connectTo(*std::move(addresses));
  return true;
}

void Mirror::acquire() {
  ready_ = false;
  auto lease = cluster_.acquire(token(), {.allowed = steps_ ? steps_->allowed() : nullptr});
  if (!lease.ok()) {
    error_ = lease.error();
  } else if (!lease->empty()) {
    begin(*lease);
  }
}

void Mirror::begin(base::Handle<upstream::Connection> leased) {
  Context& exchanges = context_;
  begun_ = exchanges.worker().now();
  connection_ = leased;
  upstream::Connection* connection = exchanges.upstreams().find(leased);
  if (connection == nullptr || connection->available() == 0) {
    error_ = lost("the connection was lost");
    return;
  }
  if (http::Headers* trailers = body_.trailers()) removeTwinsOf(request_.head.headers, *trailers);
  if (http::authenticatesConnection(request_.head.headers)) exchanges.upstreams().pins().add(*connection, token());
  stream_ = connection->begin(token(), request_.head);
  if (stream_ == 0) {
    error_ = base::Error::internal("the request can not be expressed towards the backend");
    return;
  }
  state_ = State::kSending;
  exchanges.worker().timers().set(*this, deadline());
}

void Mirror::feed() {
  upstream::Connection* connection = context_.upstreams().find(connection_);
  if (connection == nullptr || connection->codec() == nullptr) return;
  if (discarded_ > 0) connection->codec()->grant(stream_, std::exchange(discarded_, 0));
  if (!sent_) connection->codec()->wake(stream_);
  connection->touch();
}

void Mirror::finish() {
  Context& exchanges = context_;
  if (state_ == State::kWaiting || state_ == State::kPreparing) cluster_.abandon(token());
  if (upstream::Connection* connection = exchanges.upstreams().find(connection_)) {
    const bool cut = stream_ != 0 && !(sent_ && answered_);
    if (cut && connection->codec() != nullptr) connection->codec()->cancel(stream_, http::ResetReason::kCancelled);
    connection->touch();  // leased and not used, it goes back to the pool
  }
  exchanges.upstreams().pins().release(token());
  state_ = State::kOver;
  exchanges.observer().onMirrored(*this);
}

}  // namespace sluice::exchange
