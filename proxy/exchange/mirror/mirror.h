// A Mirror is a copy of one request, with a head and a body of its own, on its way to the Backend of a RequestMirror
// filter. Its response is discarded, and no exchange waits for it. Mirrors owns it; one thread.
//
// There are no retries: a copy that cannot be sent, or whose Backend takes it more slowly than the client brings it, is
// dropped. Calls to it only record events; flush() follows in the drive beat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/base/slab.h"
#include "proxy/base/terms/caller.h"
#include "proxy/exchange/egress/own_dial.h"
#include "proxy/exchange/mirror/mirror_steps.h"
#include "proxy/exchange/transaction/attempt_head.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"
#include "proxy/net/timers.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/routing/backend_target.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/served_listener.h"
#include "proxy/upstream/async_request.h"

namespace sluice::exchange {

class ExchangeContext;
class Mirror;

/// The request that a copy is made of. The objects of the configuration live as long as the snapshot, or until pin();
/// the other arguments live for the call only.
struct MirrorSource {
  const routing::ServedListener& listener;
  const routing::Rule& rule;
  const routing::RequestMirror& target;
  const http::RequestHead& request;
  const http::RequestHead& sent;  // as the client sent it
  RuleFilters filters;            // how far those of the rule have been applied to `request`
  ForwardedClient client;
  std::shared_ptr<const base::Caller> caller;  // null if nothing is known of it
  net::ClientNetwork share;                    // the key by which its place at the Backend is shared
};

/// The table that owns a mirror. It also takes the answers of steps that have waited.
class MirrorTable : public processing::ResumeSink {
 public:
  /// Has the mirror flushed in this beat.
  virtual void mark(Mirror& mirror) = 0;
};

class Mirror final : private net::Timer, private upstream::AsyncRequestOwner, private MirrorStepsOwner {
 public:
  Mirror(base::Handle<Mirror> self, ExchangeContext& context, MirrorTable& table, const MirrorSource& source);

  base::Handle<Mirror> handle() const { return self_; }
  bool dead() const { return state_ == State::kReported; }
  void flush();
  bool dirty = false;  // for Mirrors
  /// Called before the snapshot goes. Keeps the parts of the snapshot that it uses.
  void pin();
  /// Called first. Returns false if policies deny the copy, or if limits.backendRequests has no room for it.
  bool enter(const http::RequestHead& sent);

  /// Called as the body comes from the client. The part that has come when the copy is made may be kept whole, if
  /// limits.processorBufferTotal has room for it. If the bytes that its Backend has not taken exceed that and
  /// limits.exchangeBuffer, the mirror ends.
  void beginBody(const base::ByteQueue& bytes);
  void addBody(std::string_view bytes);
  void endBody(const http::Headers* trailers);
  /// Called when no further bytes of the request will come. Unless all of it has come, the copy is dropped.
  void leave();
  /// Called when the client is gone, so that the copy is not needed any more.
  void cancel();

  /// Called when a suspended step of its Backend has its answer, or the body had to give way to others.
  void onStepAnswer(processing::Ticket ticket, bool dropped);

  /// Read by the observer.
  const routing::ServedListener& listener() const { return listener_; }
  const routing::Rule& rule() const { return rule_; }
  const routing::RequestMirror& target() const { return target_; }
  /// Returns the caller of the request that it is a copy of; null if nothing is known of it.
  const base::Caller* caller() const { return caller_.get(); }
  http::Method method() const { return message_.head.method; }
  /// Returns the status of its Backend's answer; 0 if there was none.
  std::uint16_t status() const { return status_; }
  /// See upstream::AsyncRequest.
  bool attempted() const { return request_.attempted(); }
  const std::optional<base::Error>& error() const { return error_; }
  /// Returns when it was sent; until then, when it was made.
  base::MonotonicTime begun() const { return request_.begun(); }

 private:
  enum class State : std::uint8_t {
    kPreparing,  // steps of its Backend decide
    kStarted,
    kEnded,  // its request is over
    kReported
  };

  // net::Timer, for a step that has waited too long
  void onTimer() override;
  // MirrorStepsOwner
  void onRefused(const base::Error& error) override { request_.fail(error); }
  // upstream::AsyncRequestOwner
  upstream::PlaceClaim claim() const override;
  std::optional<base::Error> refusalOf(const upstream::Request& claimed) override {
    return steps_ ? steps_->refusalOf(claimed) : std::nullopt;
  }
  void onAddresses() override;
  void onResponse(http::ResponseMessage&& message) override { status_ = message.head.status; }
  void onResponseBody(std::string_view bytes) override { request_.grant(bytes.size()); }
  void onRequestTaken() override;
  void onResponseEnd(std::optional<http::Trailers> trailers) override;
  void onFailed(const base::Error& error) override;

  void record();
  void end();
  void process();
  bool resolve();
  void start();
  std::size_t heldBytes() const;
  bool makeRoom(std::size_t count);
  void failForRoom();
  base::ByteQueue& incoming() { return steps_ && steps_->carries() ? steps_->source() : request_.body().bytes; }

  const base::Handle<Mirror> self_;
  ExchangeContext& context_;
  MirrorTable& table_;
  const routing::ServedListener& listener_;
  const routing::Rule& rule_;
  const routing::RequestMirror& target_;
  std::shared_ptr<const routing::Rule> pin_;
  std::shared_ptr<const routing::ServedListener> listenerPin_;
  const net::ClientNetwork client_;  // the key of its share
  const std::shared_ptr<const base::Caller> caller_;
  base::MonotonicTime brought_;  // when bytes of the body came from the client
  http::RequestMessage message_;
  /// Pays for a body that was there when the copy was made, if that is longer than limits.exchangeBuffer.
  processing::BufferShare share_;
  const routing::EgressScope scope_;  // of callouts of its steps
  OwnDial dial_;
  std::optional<std::uint64_t> hash_;  // by which consistent hashing chooses the endpoint
  upstream::AsyncRequest request_;
  std::unique_ptr<MirrorSteps> steps_;  // null unless its Backend has some
  State state_ = State::kPreparing;
  bool ended_ = false;       // the client's side has ended
  bool worthAsking_ = true;  // the Backend's addresses may be known by now
  std::uint16_t status_ = 0;
  std::optional<base::Error> error_;
};

}  // namespace sluice::exchange
