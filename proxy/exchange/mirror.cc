#include "proxy/exchange/mirror.h"

#include <algorithm>
#include <utility>

#include "proxy/exchange/exchanges.h"

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
http::RequestHead headFor(base::Arena& arena, const routing::Rule& rule, const routing::RequestMirror& target,
                          const http::RequestHead& request, const Identity& identity, const Client& client) {
  routing::WeightedBackend share;
  share.backend = target.backend;
  const http::RequestHead made = attemptHead(arena, request, rule, share, identity, client);
  http::RequestHead head = made;
  head.methodText = arena.copy(made.methodText);
  head.authority = arena.copy(made.authority);
  head.target = arena.copy(made.target);
  head.headers = {};
  copyFields(arena, made.headers, head.headers);
  return head;
}

base::Error lost(std::string_view why) {
  return base::Error::upstream(base::ErrorType::kConnectionTerminated, std::string(why));
}

}  // namespace

Mirror::Mirror(base::Handle<Mirror> self, Mirrors& owner, const routing::ServedListener& listener,
               const routing::Rule& rule, const routing::RequestMirror& target, upstream::Cluster& cluster,
               const http::RequestHead& request, const Client& client)
    : self_(self),
      owner_(owner),
      listener_(listener),
      rule_(rule),
      target_(target),
      cluster_(cluster),
      request_(owner.owner().worker().chunks()),
      body_(owner.owner().worker().chunks()),
      started_(owner.owner().worker().now()),
      begun_(started_),
      lastProgress_(started_) {
  request_.head = headFor(request_.arena, rule, target, request, owner.owner().identity(), client);
  if (request_.head.body == http::Body::kNone) body_.finish();
  owner.owner().worker().timers().set(*this, deadline());
}

Mirror::~Mirror() { cluster_.leave(); }

http::Token Mirror::token() const { return Mirrors::tokenOf(self_); }

std::uint16_t Mirror::status() const { return status_ == 0 && error_ ? error_->status : status_; }

// --- what it is told -------------------------------------------------------------------------------------------------

void Mirror::record() {
  lastProgress_ = owner_.owner().worker().now();
  owner_.mark(*this);
}

bool Mirror::makeRoom(std::size_t count) {
  if (state_ == State::kOver || error_ || body_.end() != http::PipeEnd::kOpen) return false;
  if (body_.bytes.size() + count <= owner_.owner().limits().exchangeBuffer) return true;
  owner_.owner().onLimit("exchangeBuffer");
  fail(lost("the mirror does not keep up with the client"));
  return false;
}

void Mirror::addBody(std::string_view bytes) {
  if (!makeRoom(bytes.size())) return;
  body_.bytes.append(bytes);
  record();
}

void Mirror::addBody(const base::ByteQueue& bytes) {
  if (bytes.empty() || !makeRoom(bytes.size())) return;
  body_.bytes.appendCopy(bytes, bytes.size());
  record();
}

void Mirror::endBody(const http::Headers* trailers) {
  if (trailers != nullptr) {
    http::Trailers copied(request_.arena.pool());
    copyFields(copied.arena, *trailers, copied.fields);
    body_.finish(std::move(copied));
  } else {
    body_.finish();
  }
  record();
}

void Mirror::leave() {
  if (body_.end() == http::PipeEnd::kOpen) cancel();
}

void Mirror::cancel() {
  if (state_ == State::kOver) return;
  body_.breakOff();
  fail({base::ErrorType::kConnectionTerminated, base::ErrorOrigin::kDownstream, "the client has gone"});
}

bool Mirror::onPoolReady() {
  if (state_ != State::kWaiting) return false;
  ready_ = true;
  owner_.mark(*this);
  return true;
}

bool Mirror::onPoolFailed(const base::Error& error) {
  if (state_ != State::kWaiting) return false;
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
  owner_.mark(*this);
}

void Mirror::onRequestTaken() { lastProgress_ = owner_.owner().worker().now(); }

// The times of an exchange by the same rule, for it alone.
base::MonotonicTime Mirror::deadline() const {
  const config::TimeoutSettings& timeouts = owner_.owner().timeouts();
  const base::Duration request = rule_.requestTimeout.value_or(timeouts.request);
  base::MonotonicTime due = lastProgress_ + timeouts.streamIdle;
  if (request != base::Duration::zero()) due = std::min(due, started_ + request);
  if (state_ == State::kSending && rule_.backendRequestTimeout != base::Duration::zero())
    due = std::min(due, begun_ + rule_.backendRequestTimeout);
  return due;
}

void Mirror::onTimer() {
  if (deadline() > owner_.owner().worker().now()) return owner_.owner().worker().timers().set(*this, deadline());
  fail(base::Error::upstream(base::ErrorType::kHttpResponseTimeout, "the mirror did not answer in time"));
}

// --- what follows from it --------------------------------------------------------------------------------------------

void Mirror::flush() {
  if (state_ == State::kWaiting && ready_ && !error_) acquire();
  if (state_ == State::kSending && !error_ && !answered_) feed();
  if (state_ != State::kOver && (error_ || answered_)) finish();
}

void Mirror::acquire() {
  ready_ = false;
  auto lease = cluster_.acquire(token());
  if (!lease.ok()) {
    error_ = lease.error();
  } else if (!lease->empty()) {
    begin(*lease);
  }
}

void Mirror::begin(base::Handle<upstream::Connection> leased) {
  Exchanges& exchanges = owner_.owner();
  begun_ = exchanges.worker().now();
  connection_ = leased;
  upstream::Connection* connection = exchanges.upstreams().find(leased);
  if (connection == nullptr || connection->available() == 0) {
    error_ = lost("the connection was lost");
    return;
  }
  stream_ = connection->begin(token(), request_.head);
  if (stream_ == 0) {
    error_ = base::Error::internal("the request can not be expressed towards the backend");
    return;
  }
  state_ = State::kSending;
  exchanges.worker().timers().set(*this, deadline());
}

void Mirror::feed() {
  upstream::Connection* connection = owner_.owner().upstreams().find(connection_);
  if (connection == nullptr || connection->codec() == nullptr) return;
  if (discarded_ > 0) connection->codec()->grant(stream_, std::exchange(discarded_, 0));
  if (!sent_) connection->codec()->wake(stream_);
  connection->touch();
}

void Mirror::finish() {
  Exchanges& exchanges = owner_.owner();
  if (state_ == State::kWaiting) cluster_.abandon(token());
  if (upstream::Connection* connection = exchanges.upstreams().find(connection_)) {
    const bool cut = stream_ != 0 && !(sent_ && answered_);
    if (cut && connection->codec() != nullptr) connection->codec()->cancel(stream_, http::ResetReason::kCancelled);
    connection->touch();  // leased and not used, it goes back to the pool
  }
  state_ = State::kOver;
  exchanges.observer().onMirrored(*this);
}

}  // namespace sluice::exchange
