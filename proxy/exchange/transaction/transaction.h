// A Transaction is the state that the parts of one exchange share: the request and the response with their bodies,
// where they came from, how they were routed, how far they have come, and the events that drive() has not taken yet.
//
// It decides nothing. The parts of the exchange read and write it, and record the outcome of their work by raise(). The
// exchange owns it; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/error.h"
#include "proxy/base/slab.h"
#include "proxy/base/terms/caller.h"
#include "proxy/exchange/reply/exchange_names.h"
#include "proxy/exchange/transaction/context.h"
#include "proxy/exchange/transaction/downstream.h"
#include "proxy/exchange/transaction/forwarded.h"
#include "proxy/exchange/transaction/transitions.h"
#include "proxy/exchange/tunnel/stream_tunnel.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/http/trace_context.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"

namespace sluice::observe {
class Gauge;
}

namespace sluice::exchange {

/// The stream that an exchange came by. The client stays known when its connection is gone.
struct ClientStream {
  http::Token connection = http::kNoToken;
  http::StreamId stream = 0;
  const routing::RouteTable* routes = nullptr;
  net::Address address = {};
  net::IpText ip{address};
  net::ClientNetwork network = net::networkOf(address);
  bool secure = false;
  bool forwardProxy = false;  // the client has chosen the gateway as its proxy

  /// Returns the client as requests tell of it. The scheme is that by which the client has asked: to a forward proxy,
  /// that of the target.
  ForwardedClient forwarded(http::Scheme target) const {
    return {ip.view(), forwardProxy ? target == http::Scheme::kHttps : secure};
  }
};

/// The listener and the rule that serve a request. The snapshot owns them until pin() is called.
struct MatchedRoute {
  const routing::ServedListener* listener = nullptr;  // null until it is found
  const routing::Rule* rule = nullptr;                // null until it is found, and if there is none

  /// Keeps both, because the snapshot will be released. `revision` is the configuration that the request was routed by.
  void pin(const std::string& revision) {
    if (pinned) return;
    pinned = std::make_unique<Pinned>();
    pinned->revision = revision;
    if (rule != nullptr) pinned->rule = rule->shared_from_this();
    if (listener != nullptr) pinned->listener = listener->shared_from_this();
  }
  /// Sets the rule, which may be of a later snapshot than the one that was pinned.
  void take(const routing::Rule* found) {
    rule = found;
    if (pinned) pinned->rule = rule != nullptr ? rule->shared_from_this() : nullptr;
  }

  struct Pinned {
    std::shared_ptr<const routing::Rule> rule;
    std::shared_ptr<const routing::ServedListener> listener;
    std::string revision;
  };
  std::unique_ptr<Pinned> pinned;
};

class Exchange;
struct AuthenticationState;
struct EgressState;

class Transaction {
 public:
  Transaction(Exchange& owner, base::Handle<Exchange> self, ExchangeContext& parts, const ClientStream& stream,
              http::RequestMessage&& message)
      : exchange(owner),
        handle(self),
        context(parts),
        client(stream),
        share(stream.network),
        request(std::move(message)),
        requestBody(parts.worker().chunks()),
        responseBody(parts.worker().chunks()),
        started(parts.worker().now()),
        lastProgress(started) {
    if (request.head.body == http::Body::kNone) requestBody.finish();
  }

  /// Records that something happened; drive() follows in this beat.
  void raise(Event event) {
    pending |= bitOf(event);
    if (!scheduled) schedule();
  }
  /// Records the event and its reason. A reason that is being sent to the client, or was sent, stays.
  void raise(Event event, const base::Error& reason) {
    if (isBeforeHead(responseState) || responseState == ResponseState::kStreaming) error = reason;
    raise(event);
  }
  /// Forgets that the head of a response has come, because the response is broken: the client can still get an error.
  void dropUnsentHead() {
    pending &= ~(bitOf(Event::kResponseArrived) | bitOf(Event::kResponseHead) | bitOf(Event::kResponseReady));
  }
  /// Returns true if the response is broken, and no event has been taken for that yet.
  bool isBroken() const { return (pending & bitOf(Event::kUpstreamReset)) != 0; }
  static constexpr std::uint64_t bitOf(Event event) { return std::uint64_t{1} << static_cast<unsigned>(event); }

  /// Sets the caller, which may become known while the request is routed already. The observer counts a request under
  /// its caller, so it is told that the request leaves its place and takes another one.
  void identify(const std::shared_ptr<const base::Caller>& known) {
    if (routed) return identifyRouted(known);
    caller = known;
  }
  http::Token token() const { return handle.toToken(); }
  Downstream* downstream() const { return context.downstream(client.connection); }
  /// Returns the client's codec, which is then flushed in this beat. Raises kClientGone and returns nullptr if the
  /// connection is gone.
  http::ServerCodec* codec();
  base::MonotonicTime now() const { return context.worker().now(); }
  bool tunnels() const { return tunnel != http::Tunnel::kNone; }
  /// Keeps the reason for the end of a tunnel for bytes of any protocol, if one is open and it has no reason yet.
  void endTunnel(TunnelEnd reason) {
    if (tunnels() && streamTunnel != nullptr) streamTunnel->endBy(reason);
  }
  /// Returns true if the client still waits for 100 (Continue) before it sends its body (RFC 9110 section 10.1.1).
  bool awaitsContinue() const {
    return request.head.expectContinue && !continued && requestBytes == 0 && requestBody.end() == http::PipeEnd::kOpen;
  }
  bool finished() const { return requestState == RequestState::kStopped && responseState == ResponseState::kDone; }
  http::TraceContext trace() const {
    return keptTrace.traceId.empty() ? http::traceContextOf(request.head.headers) : keptTrace;
  }
  /// Records that something moved. The time of a local reply runs from its beginning.
  void progress() {
    if (responseState == ResponseState::kAnswering) return;
    lastProgress = now();
    receivedMark = requestBytes;
    passedMark = passedBytes;
  }
  /// Record progress once enough of the body has come, or was taken, since the last progress.
  void progressOfReceiving() { progressOfBody(requestBytes, receivedMark); }
  void progressOfPassing() { progressOfBody(passedBytes, passedMark); }

  Exchange& exchange;
  const base::Handle<Exchange> handle;
  ExchangeContext& context;
  const ClientStream client;
  /// The key by which its places at Backends are shared: that of the caller if it has a name, else of the network.
  net::ClientNetwork share;

  http::RequestMessage request;
  /// The head as the client sent it, if steps may change it; null if none does. A local reply of the rule is made from
  /// it, so that nothing that a step put in reaches a place for which it is not meant. It lives in the arena of the
  /// request, and is framed as the body that the steps left.
  http::RequestHead* asked = nullptr;
  http::BodyPipe requestBody;
  std::vector<http::ResponseMessage> interims;  // heads not yet passed on; bounded by limits.informationalResponses
  std::optional<http::ResponseMessage> response;
  http::BodyPipe responseBody;
  MatchedRoute route;
  std::unique_ptr<StreamTunnel> streamTunnel;     // null unless the request is a CONNECT that may go on
  AuthenticationState* authentication = nullptr;  // in the arena of the request; null unless the listener authenticates
  /// The caller, as far as it is proven; null if nothing is known. Steps before authentication do not get
  /// it. Set by identify().
  std::shared_ptr<const base::Caller> caller;
  EgressState* egress = nullptr;  // in the arena of the request; null unless policies cover the exchange
  bool fromGateway = false;       // another gateway has passed the request on
  bool routed = false;            // the observer was notified of a route, or that there is none
  bool continued = false;         // the client has got 100 (Continue)
  /// The gauge that counts the request, while one does. The observer's own, which takes the request out of the one that
  /// it has put it into, whatever becomes of their names.
  mutable observe::Gauge* counted = nullptr;

  RequestState requestState = RequestState::kRouting;
  ResponseState responseState = ResponseState::kWaiting;
  std::uint64_t pending = 0;                  // events, one bit each
  bool scheduled = false;                     // it will be driven in this beat
  bool rearm = false;                         // a deadline was changed
  std::uint16_t status = 0;                   // that of the final head; 0 until there is one
  http::Tunnel tunnel = http::Tunnel::kNone;  // the tunnel that the bodies have become
  std::optional<base::Error> error;
  std::string_view requestId;    // empty until it is settled, and if requests have none
  http::TraceContext keptTrace;  // set if the head's fields are dropped while the exchange goes on

  std::uint64_t requestBytes = 0;   // bytes of the body that came from the client
  std::uint64_t responseBytes = 0;  // bytes of the body that went to the client
  std::uint64_t passedBytes = 0;    // bytes of the request's body that the attempt took
  const base::MonotonicTime started;
  base::MonotonicTime lastProgress;

 private:
  /// timeouts.bodyIdle is a window in which a client must bring at least this much of its body.
  static constexpr std::uint64_t kLeastBodyPerWindow = 1024;

  void progressOfBody(std::uint64_t total, std::uint64_t mark) {
    if (total - mark >= kLeastBodyPerWindow || tunnels()) progress();
  }
  void schedule();
  void identifyRouted(const std::shared_ptr<const base::Caller>& known);

  std::uint64_t receivedMark = 0;  // requestBytes and passedBytes at the last progress
  std::uint64_t passedMark = 0;
};

}  // namespace sluice::exchange
