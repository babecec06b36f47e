// A copy of one request on its way to the Backend of a RequestMirror filter: its own head, body and stream. Its answer
// is discarded, and nobody waits for it. Owned by Mirrors; one thread.
//
// What the client's side and the sinks tell it is recorded; flush() alone moves it, in the drive beat. It is tried
// once: a copy that can not be sent, or whose Backend takes it more slowly than the client brings it, is dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/base/slab.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/steps/mirror_steps.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/net/timers.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/routing/served_listener.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class Context;
class Mirror;

/// A copy is made of this. The objects of the configuration live as long as the snapshot, or until pin(); the rest
/// lives for the call alone.
struct MirrorSource {
  const routing::ServedListener& listener;
  const routing::Rule& rule;
  const routing::RequestMirror& target;
  const http::RequestHead& request;
  RuleFilters filters;  // of the rule, in `request`
  Client client;
};

/// The table that a mirror stands in.
class MirrorTable {
 public:
  /// It has something to do in this beat.
  virtual void mark(Mirror& mirror) = 0;

 protected:
  ~MirrorTable() = default;
};

class Mirror final : private net::Timer, private MirrorStepsOwner {
 public:
  /// Tells the token of a mirror from that of an exchange: the highest bit of the slot's number, which no slab reaches.
  static constexpr http::Token kMark = http::Token{1} << 31;

  /// `cluster` was entered for it.
  Mirror(base::Handle<Mirror> self, Context& context, MirrorTable& table, upstream::Cluster& cluster,
         const MirrorSource& source);
  ~Mirror() override;

  base::Handle<Mirror> handle() const { return self_; }
  http::Token token() const { return self_.toToken() | kMark; }
  bool dead() const { return state_ == State::kOver; }
  void flush();
  bool dirty = false;  // for Mirrors
  /// The snapshot goes.
  void pin() {
    if (pin_) return;
    pin_ = rule_.shared_from_this();
    listenerPin_ = listener_.shared_from_this();
  }

  /// The client's side. What of the body is there when the copy is made it may hold whole, as far as
  /// limits.processorBufferTotal has room for it. Beyond that, and beyond limits.exchangeBuffer, bytes that its Backend
  /// has not taken end it.
  void beginBody(const base::ByteQueue& bytes);
  void addBody(std::string_view bytes);
  void endBody(const http::Headers* trailers);
  /// There will be no more of the request: without all of it the copy goes too.
  void leave();
  /// The client is gone, and with it the purpose.
  void cancel();

  /// The backend's side.
  /// As upstream::WaiterSink.
  bool onPoolReady();
  bool onPoolFailed(const base::Error& error);
  void onResponse(const http::ResponseHead& head);
  void onResponseBody(std::size_t count);
  void onResponseEnd();
  void onReset(const base::Error& error) {
    stream_ = 0;
    fail(error);
  }
  void onRequestTaken();

  /// The steps of its Backend.
  void onStepAnswer(processing::Ticket ticket, bool dropped);
  void onRequestSent() { sent_ = true; }
  http::BodyPipe& body() { return body_; }

  /// For reports.
  const routing::ServedListener& listener() const { return listener_; }
  const routing::Rule& rule() const { return rule_; }
  const routing::RequestMirror& target() const { return target_; }
  /// 0 if there was neither an answer nor a failure.
  std::uint16_t status() const;
  const std::optional<base::Error>& error() const { return error_; }
  /// Of its request, or of the wait for a connection to send it on.
  base::MonotonicTime begun() const { return begun_; }

 private:
  enum class State : std::uint8_t {
    kPreparing,  // steps of its Backend decide
    kWaiting,    // for a connection
    kSending,    // the upstream codec has it
    kOver
  };

  void onTimer() override;
  void onRefused(const base::Error& error) override { error_ = error; }
  base::MonotonicTime deadline() const;
  void record();
  void fail(const base::Error& error);
  void prepare();
  bool resolve();
  void acquire();
  void begin(base::Handle<upstream::Connection> leased);
  void feed();
  void finish();
  bool makeRoom(std::size_t count);
  base::ByteQueue& incoming() { return steps_ && steps_->carries() ? steps_->source() : body_.bytes; }

  const base::Handle<Mirror> self_;
  Context& context_;
  MirrorTable& table_;
  const routing::ServedListener& listener_;
  const routing::Rule& rule_;
  const routing::RequestMirror& target_;
  std::shared_ptr<const routing::Rule> pin_;
  std::shared_ptr<const routing::ServedListener> listenerPin_;
  upstream::Cluster& cluster_;
  http::RequestMessage request_;
  http::BodyPipe body_;
  /// Pays for a body that was there when the copy was made, if that is longer than limits.exchangeBuffer.
  processing::BufferShare share_;
  std::unique_ptr<MirrorSteps> steps_;  // null unless its Backend has some
  bool ended_ = false;                  // the client's side
  base::Handle<upstream::Connection> connection_;
  http::StreamId stream_ = 0;
  State state_ = State::kWaiting;
  bool ready_ = true;      // the pool is worth asking
  bool sent_ = false;      // the whole request
  bool answered_ = false;  // the whole response
  std::uint16_t status_ = 0;
  std::size_t discarded_ = 0;         // response bytes not yet granted again
  std::optional<base::Error> error_;  // the reason to end
  const base::MonotonicTime started_;
  base::MonotonicTime begun_;
  base::MonotonicTime lastProgress_;
};

}  // namespace sluice::exchange
