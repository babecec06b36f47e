// What an exchange has of payload processors while it is under way: the steps of its request, of its attempt and of its
// response, each with the body on its way through them.
//
// In the arena of an exchange whose rule or Backend has processors; others have none. The exchange says when what runs;
// what a step decides comes back as events.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/net/resolver.h"
#include "proxy/processing/run.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class Exchange;
class Exchanges;

/// Steps that follow each other, and the body between where it comes from and where it goes to.
class Stretch {
 public:
  struct Leg {
    processing::Phase phase;
    processing::Round round = processing::Round::kBoth;
    friend bool operator==(const Leg&, const Leg&) = default;
  };

  /// What a stretch is made for: `carries` if a step of it wants the body, which then goes through it; `flows` if there
  /// is one.
  struct Load {
    bool carries;
    bool flows;
  };

  Stretch(processing::RunHost& host, const processing::RunTarget& target, base::ChunkPool& pool, const Load& load)
      : run(host, target, pool, load.carries && load.flows),
        source(pool),
        carries(load.carries),
        sourceEnded_(!load.carries || !load.flows) {}

  /// Those of a request, all.
  void appendRequest(const processing::Chains& chains);
  /// Behind those that are left.
  void append(const processing::Chains& chains, Leg leg);
  /// The route is another one: its steps begin from the first round on, those of the Gateway go on where they are.
  void changeRoute(const processing::Chain* gateway, const processing::Chain* route);
  /// Its body shall come through here after all; it has not, so far.
  void carry(bool flows);
  /// Nothing more will be appended: what comes through may leave.
  void seal() { sealed_ = true; }
  /// As far as it goes. `to`: where what has come through is put. `beyond`: what is there, or further, already.
  processing::Run::Outcome go(base::ByteQueue& to, std::size_t beyond);
  /// Since it was last asked: bytes that left `source`.
  std::size_t takeFed() { return std::exchange(fed_, 0); }
  void end(std::optional<http::Trailers> behind);
  /// All of it has come through: said once.
  bool tookEnd();
  /// Nothing that came in was told to be the last.
  bool isOpen() const { return !sourceEnded_; }
  /// It waits for more of the body, which nobody has brought.
  bool starves() const { return run.collects() && source.empty() && isOpen(); }

  processing::Run run;
  base::ByteQueue source;
  std::optional<http::Trailers> trailers;
  bool carries;

 private:
  struct Entry {
    processing::StepOrder steps;
    Leg leg;
  };

  void append(const processing::StepOrder& steps, Leg leg);
  bool feed(std::size_t beyond);

  /// Of a request, which has the most.
  static constexpr std::array<Leg, 4> kOfRequest{{{processing::Phase::kRequestHeaders, processing::Round::kFirst},
                                                  {processing::Phase::kRequestBody, processing::Round::kFirst},
                                                  {processing::Phase::kRequestHeaders, processing::Round::kSecond},
                                                  {processing::Phase::kRequestBody, processing::Round::kSecond}}};

  std::array<Entry, 4> legs_;
  std::uint8_t entered_ = 0;
  std::uint8_t count_ = 0;
  bool sourceEnded_;
  bool sealed_ = false;
  bool endTold_ = false;
  std::size_t fed_ = 0;
};

class ExchangeSteps final : private processing::RunHost {
 public:
  ExchangeSteps(Exchange& exchange, Exchanges& owner, http::RequestMessage& message);

  /// Of the listener and the rule, once; of the Backend, for each attempt; of the response.
  Stretch& beginRequest(const Stretch::Load& load);
  Stretch& beginAttempt(http::RequestHead& head, const Stretch::Load& load);
  Stretch& beginResponse(http::ResponseHead& head, const Stretch::Load& load);
  /// Steps of connect are to see where the attempt may go, and once they have: what they left of it.
  void beginConnect(const routing::BackendPlan& plan, net::Addresses addresses);
  void endConnect();
  /// The same, from endConnect() on; nullptr: they have not decided yet.
  const net::Addresses* allowed() const { return connectEnded_ ? &addresses_ : nullptr; }
  /// The attempt is given up, and with it what its Backend answered.
  void endAttempt();
  /// An answer of the gateway's own sees the steps of response-headers, which can not keep it from the client.
  void passBy(const processing::Chains& chains, http::ResponseHead& head);

  /// max(): no step waits.
  base::MonotonicTime deadline() const { return tickets_ == 0 ? base::MonotonicTime::max() : firstDeadline(); }
  void expire(base::MonotonicTime now);
  bool answer(processing::Ticket ticket, bool dropped);

  std::optional<Stretch> request;
  std::optional<Stretch> attempt;
  std::optional<Stretch> response;
  /// What the Backend is sent: of this attempt.
  http::RequestHead* attemptHead = nullptr;
  bool backendRequestEntered = false;  // of this attempt
  http::BodyPipe attemptBody;

  /// A step has answered, or failed closed.
  struct Refusal {
    std::string processor;  // the name of the use
    processing::Phase phase;
    std::vector<std::pair<std::string, std::string>> fields;
  };
  std::optional<Refusal> refusal;

  processing::RouteWish wish;
  bool matchedAgain = false;
  /// The rule by which it was matched first: steps of it may still be under way.
  std::shared_ptr<const routing::Rule> formerRule;
  /// Where the exchange is, when a stretch begins or the route has changed.
  void findPlace();

 private:
  base::MonotonicTime firstDeadline() const;
  RunHost& host() { return *this; }
  // processing::RunHost
  const base::Clock& clock() const override;
  const processing::Place& place() const override { return place_; }
  const processing::Peer& peer() const override { return peer_; }
  processing::BodyLimits bodyLimits() const override;
  processing::BufferRoom& bufferRoom() override;
  base::Duration patience() const override;
  processing::Ticket newTicket() override { return ++tickets_; }
  processing::Resumer resumer(processing::Ticket ticket) override;
  processing::Waker waker(processing::Ticket ticket) override;
  void answerLater(processing::Ticket ticket) override;
  void onStep(const processing::Step& step, base::Duration time, const processing::Verdict& verdict,
              processing::StepOutcome outcome) override;
  void onLimit(std::string_view limit) override;
  bool ends(const processing::Step& step, const processing::Verdict& verdict) override;

  template <typename Visit>
  void eachRun(Visit&& visit);

  Exchange& exchange_;
  Exchanges& owner_;
  http::RequestMessage& request_;
  const processing::Peer peer_;
  processing::Place place_;
  bool placeKnown_ = false;
  processing::Destination destination_{{}, 0, {}, {}};
  net::Addresses addresses_;   // of this attempt
  bool connectEnded_ = false;  // likewise
  processing::Ticket tickets_ = 0;
  bool heeded_ = true;                // what steps decide counts
  processing::Holds holds_;           // of steps that run once
  processing::Holds holdsOfAttempt_;  // of those that run for each
};

}  // namespace sluice::exchange
