// One request and its response on their way through the gateway. Owned by Exchanges' slab, found by handle, on one
// thread.
//
// Sinks record events; drive() alone moves the exchange, by the tables of phase.h. Everything that it does is a call
// downwards (router, pool, codecs) whose outcome comes back as another event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/downstream.h"
#include "proxy/exchange/mirror.h"
#include "proxy/exchange/phase.h"
#include "proxy/exchange/reply/exchange_names.h"
#include "proxy/exchange/retries.h"
#include "proxy/exchange/session/session.h"
#include "proxy/exchange/steps/exchange_steps.h"
#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"
#include "proxy/net/timers.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class Context;

/// Where an exchange came from. Who it was stays known when the connection is gone, as it is when a client breaks off.
struct Origin {
  http::Token connection = http::kNoToken;
  http::StreamId stream = 0;
  const routing::RouteTable* routes = nullptr;
  net::Address client = {};
  bool secure = false;
};

class Exchange final : private net::Timer, private ExchangeStepsOwner {
 public:
  Exchange(base::Handle<Exchange> self, Context& owner, const Origin& origin, http::RequestMessage&& request);
  ~Exchange() override;

  base::Handle<Exchange> handle() const { return self_; }
  http::Token token() const { return self_.toToken(); }

  /// Records that something happened; drive() follows in this beat.
  void raise(Event event) {
    pending_ |= 1U << static_cast<unsigned>(event);
    if (!scheduled) schedule();
  }
  void raise(Event event, const base::Error& error);
  void drive();
  /// There is nothing to charge: a chunk is part of what a request costs, and limits.concurrentStreams bounds how many
  /// there are.
  bool hasSmallHead() const { return request_.arena.isSmall(); }
  /// Charges what the head holds. An error says that there is no room for it, and that the request can only be refused.
  std::optional<base::Error> chargeHead();
  /// Gives the charge back. Called before the exchange goes.
  void releaseHead();
  /// The snapshot that it was routed by goes: keeps what it uses of it, and by which revision it was served.
  void pin(const std::string& revision);
  bool finished() const { return requestState_ == RequestState::kStopped && responseState_ == ResponseState::kDone; }

  /// The client's side, as its connection tells it.
  void addRequestBody(std::string_view bytes);
  void endRequest(std::optional<http::Trailers> trailers);
  void onRequestReset(const base::Error& error, bool answerable);
  /// The backend's side, as the upstream codec tells it.
  void onInterim(http::ResponseMessage&& message);
  void onResponse(http::ResponseMessage&& message);
  void addResponseBody(std::string_view bytes);
  void endResponse(std::optional<http::Trailers> trailers);
  void onUpstreamReset(const base::Error& error, bool unprocessed);
  void onRequestTaken(std::size_t count);
  void onResponseTaken(std::size_t count);

  /// Of one of its steps, which has waited.
  void onStepAnswer(processing::Ticket ticket, bool dropped);

  /// What the backend is sent, and what the client is.
  http::BodyPipe& requestBody() {
    return carrier(&ExchangeSteps::attempt) != nullptr ? steps_->attemptBody : requestBody_;
  }
  http::BodyPipe& responseBody() { return responseBody_; }

  /// For reports.
  const http::RequestHead& request() const { return request_.head; }
  const Origin& origin() const { return origin_; }
  RequestState requestState() const { return requestState_; }
  ResponseState responseState() const { return responseState_; }
  bool routed() const { return routed_; }
  const routing::Rule* rule() const { return rule_; }
  const routing::ServedListener* listener() const { return listener_; }
  const Attempt& attempt() const { return attempt_; }
  const std::optional<base::Error>& error() const { return error_; }
  /// The processor that answered it or failed; empty if none did.
  std::string_view processor() const {
    return steps_ && steps_->refusal ? std::string_view(steps_->refusal->processor) : std::string_view();
  }
  /// Of the configuration that routed it, if `current` is the one that is served now.
  const std::string& revision(const std::string& current) const { return pin_ ? pin_->revision : current; }
  std::uint16_t status() const { return status_; }
  base::MonotonicTime started() const { return started_; }
  /// Body bytes that came from the client, and that went to it.
  std::uint64_t requestBytes() const { return requestBytes_; }
  std::uint64_t responseBytes() const { return responseBytes_; }

 private:
  void onTimer() override;
  // ExchangeStepsOwner
  processing::Place place() const override;
  void onRefused(const base::Error& error) override { raise(Event::kRejected, error); }
  void arm();
  base::MonotonicTime deadline() const;
  base::MonotonicTime requestDeadline() const;
  base::MonotonicTime attemptDeadline() const;
  base::MonotonicTime retryTime() const;
  base::MonotonicTime stepDeadline() const { return steps_ ? steps_->deadline() : base::MonotonicTime::max(); }
  bool clientStalls() const;
  bool tunnels() const;
  void expire();
  // exchange_memory.cc charges the exchange to its client's memory, and watches how fast the client takes.
  bool hasNothingToSettle() const {
    return responseBody_.bytes.empty() && requestBody_.bytes.empty() && chargedUnits_ == 0 && !requestWide_ &&
           !responseWide_ && clientOwesSince_ == base::MonotonicTime{} && !steps_;
  }
  std::uint64_t heldOfRequest() const;
  std::uint64_t heldOfResponse() const;
  void settleAccounts();
  bool withholds(std::uint64_t held);
  bool earnsWholeWindow(std::uint64_t taken, std::uint64_t held);
  void widenRequest(http::ServerCodec& codec);
  void widenResponse();
  void watchClient();
  base::MonotonicTime takingDeadline() const;
  base::MonotonicTime memoryDeadline() const;
  bool socketMoves();
  bool expireForMemory(base::MonotonicTime now);
  void progress();
  void progressWithin(std::uint64_t total, std::uint64_t mark);

  void step(Event event);
  void schedule();
  void act(Action action);
  void route();
  /// Finds the rule and a share of it; none if the rule answers itself.
  std::optional<base::Error> chooseBackend(const routing::RouteMatch& match);
  routing::RouteMatch matchHead(const routing::RouteTable& routes, const http::RequestHead& head);
  void decide(const routing::RouteMatch& match);
  void takeRule(const routing::Rule* rule);
  void enter();
  void acquire();
  void abandon();
  void begin();
  http::RequestHead headOfAttempt();
  void proceed(Downstream& downstream);
  void forwardRequest();
  void grantClient();
  void dismissClient();
  void cancelUpstream();
  void forwardInterim();
  void startResponse();
  void forwardResponse();
  void grantUpstream();
  // Payload processors: exchange_process.cc, exchange_rule_steps.cc.
  processing::Chains chains() const;
  processing::Chains sharedChains() const {
    const processing::Chains all = chains();
    return {all[0], all[1], nullptr};
  }
  void findPhases();
  bool wants(processing::Phase phase) const { return (phases_ & processing::bitOf(phase)) != 0; }
  bool wantsResponse() const {
    using processing::Phase;
    constexpr unsigned kOfResponse = processing::bitOf(Phase::kBackendResponse) |
                                     processing::bitOf(Phase::kResponseHeaders) |
                                     processing::bitOf(Phase::kResponseBody);
    return (phases_ & kOfResponse) != 0;
  }
  bool hasOwnSteps() const;
  bool hasAttemptSteps() const {
    using processing::Phase;
    constexpr std::uint8_t kOfAll = processing::bitOf(Phase::kConnect) | processing::bitOf(Phase::kBackendRequest);
    return phases_ != 0 && ((phases_ & kOfAll) != 0 || hasOwnSteps());
  }
  bool hasWholeResponse() const {
    const processing::Pipeline* pipeline = carrier(&ExchangeSteps::response);
    return pipeline != nullptr && !pipeline->isOpen();
  }
  ExchangeSteps& steps();
  /// If bodies go through steps there.
  processing::Pipeline* carrier(std::optional<processing::Pipeline> ExchangeSteps::*of) const {
    return steps_ && (*steps_.*of) && (*steps_.*of)->carries() ? &*(*steps_.*of) : nullptr;
  }
  processing::Pipeline* attemptSteps() const { return steps_ && steps_->attempt ? &*steps_->attempt : nullptr; }
  bool starves() const;
  const http::RequestHead& asked() const { return asked_ != nullptr ? *asked_ : request_.head; }
  void processBeforeRouting();
  void processRequest();
  processing::Pipeline& requestSteps(bool carries);
  void processTentative();
  void processSecondRound();
  void applyFilters();
  void rebuildHead();
  void matchAgain();
  void changeRule(const routing::RouteMatch& match);
  routing::RouteMatch matchWithHints(http::RequestHead head);
  void carryRequest();
  processing::Pipeline::Outcome moveSteps();
  void processAttempt();
  void processConnect();
  bool processBackendRequest();
  void process();
  void await();
  processing::Pipeline::Outcome moveRequest();
  processing::Pipeline::Outcome moveAttempt();
  processing::Pipeline::Outcome moveBoth();
  void moveRequestBody();
  void beginResponseSteps();
  void processResponse();
  void processHead();
  void processResponseOn();
  void keepToClient(http::ResponseHead& challenge);
  void judgeStatus();
  void keepResponse() {
    using processing::Phase;
    constexpr unsigned kOfKept = processing::bitOf(Phase::kResponseHeaders) | processing::bitOf(Phase::kResponseBody);
    raise((phases_ & kOfKept) != 0 ? Event::kResponseHead : Event::kResponseReady);
  }
  processing::Pipeline::Outcome moveResponse();
  void releaseResponse();
  void processOwnAnswer();
  /// Of the request: its steps are through; its attempt may be made.
  void onProcessed();
  void prepareAttempt();
  void admit();
  void receiveBody(std::string_view bytes);
  void receiveEnd(std::optional<http::Trailers> trailers);
  void guardTrailers();
  void passRequest(std::size_t count);
  void grant();
  void grantBackend();
  void judgeFailure();
  void judgeResponse();
  bool wentStale();
  bool bodyIntact() const;
  bool planRetry();
  bool budgetAllows(const routing::WeightedBackend& next);
  void rewind();
  void endAttempt();
  void repeat();
  void backOff();
  const routing::WeightedBackend* resumeSession();
  void tellSession();
  RuleFilters ruleFilters() const { return steps_ ? steps_->ruleFilters : RuleFilters::kPending; }
  http::RequestHead headOfMirrors();
  void startMirrors(const std::vector<routing::RequestMirror>& wanted);
  void startMirrorsOfShare();
  void mirrorBody(std::string_view bytes);
  void mirrorEnd();
  void dropMirrors();
  void leaveMirrors();
  /// exchange_unseen.cc guards what comes outside of the heads that filters and steps are shown. What they have set or
  /// removed goes from trailers too; a 1xx head passes the filters, but not steps that must see a response first.
  void guardClientsTrailers();
  void guardBackendsTrailers(http::Headers& trailers) const;
  bool mayPass(http::ResponseMessage& interim) const;
  void answer();
  /// Drops the heads of the request and of an answer of our own that the codec has, but for what reports need of them.
  void dropHeads();
  void breakResponse();
  http::ServerCodec* downstreamCodec();

  const base::Handle<Exchange> self_;
  Context& owner_;
  const Origin origin_;
  http::RequestMessage request_;
  /// The head as the client sent it, if steps may change it; null if none does. An answer of the rule's own is made of
  /// it, so that nothing that a step put in goes where it is not meant to. It lives in the arena, and is framed as the
  /// body that the steps left.
  http::RequestHead* asked_ = nullptr;
  std::unique_ptr<char[]> keptOfHead_;  // what the request's head points to once its arena has gone
  std::size_t headCharge_ = 0;
  http::BodyPipe requestBody_;
  http::BodyPipe responseBody_;
  std::vector<http::ResponseMessage> interims_;  // bounded by limits.informationalResponses
  std::optional<http::ResponseMessage> response_;
  struct Pin {
    std::shared_ptr<const routing::Rule> rule;                // null if it has none
    std::shared_ptr<const routing::ServedListener> listener;  // null if its head was refused
    std::string revision;
  };
  const routing::Rule* rule_ = nullptr;                // the snapshot's; of an earlier one the pin's
  const routing::ServedListener* listener_ = nullptr;  // likewise
  std::unique_ptr<Pin> pin_;
  Attempt attempt_;
  std::unique_ptr<Retries> retries_;  // null unless the rule retries
  std::unique_ptr<Session> session_;  // null unless the rule persists sessions
  struct InArena {
    void operator()(ExchangeSteps* steps) const { steps->~ExchangeSteps(); }
  };
  std::unique_ptr<ExchangeSteps, InArena> steps_;  // null unless processors are concerned
  /// What is under way of the steps: their next event goes on with it.
  enum class Pending : std::uint8_t {
    kNothing,
    kBeforeRouting,
    kFirstRound,  // steps before authentication, of the Gateway and the rule
    kTentative,   // steps before authentication, of the Backend that is chosen for now
    kRequest,
    kAttempt,
    kConnect,
    kBackendRequest
  };
  Pending pendingSteps_ = Pending::kNothing;
  enum class PendingResponse : std::uint8_t { kNothing, kBackendResponse, kKept };
  PendingResponse pendingResponse_ = PendingResponse::kNothing;
  std::uint8_t phases_ = 0;  // that its chains have steps of, a bit each
  std::vector<base::Handle<Mirror>> mirrors_;
  std::optional<base::Error> error_;
  RequestState requestState_ = RequestState::kRouting;
  ResponseState responseState_ = ResponseState::kWaiting;
  std::uint32_t pending_ = 0;  // events, one bit each
  bool routed_ = false;
  bool unprocessed_ = false;  // of the last upstream reset
  bool repeated_ = false;     // an attempt was made once more, unseen
  bool proceeded_ = false;    // the client was told 100 (Continue)
  bool requestWide_ = false;  // its body has the whole of its window
  bool responseWide_ = false;
  bool looked_ = false;  // acknowledgedMark_ is set
  std::uint16_t status_ = 0;
  std::size_t requestTaken_ = 0;  // taken out of the pipe and not yet granted again
  std::size_t responseTaken_ = 0;
  std::uint64_t requestBytes_ = 0;
  std::uint64_t responseBytes_ = 0;
  std::uint64_t requestPassed_ = 0;  // taken by the backend's side, of this attempt
  std::uint64_t receivedMark_ = 0;   // requestBytes_ and requestPassed_ at the last progress
  std::uint64_t passedMark_ = 0;
  std::uint32_t chargedUnits_ = 0;      // to the client's ClientMemory
  std::uint64_t takenMark_ = 0;         // responseBytes_ when clientOwesSince_ was set
  std::uint64_t acknowledgedMark_ = 0;  // of the client's connection, at the last look
  const base::MonotonicTime started_;
  base::MonotonicTime lastProgress_;
  base::MonotonicTime withheldSince_{};    // zero: it is not
  base::MonotonicTime clientOwesSince_{};  // zero: nothing waits for the client

 public:
  bool scheduled = false;  // for Exchanges
};

inline ExchangeNames namesOf(const Exchange& exchange) {
  return namesOf(exchange.listener(), exchange.rule(), exchange.attempt().backend);
}

}  // namespace sluice::exchange
