// Steps that follow each other, and the body between where it comes from and where it goes to. Owned by what the steps
// belong to; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "proxy/http/body_pipe.h"
#include "proxy/http/message.h"
#include "proxy/processing/run.h"

namespace sluice::exchange {

class Stretch {
 public:
  struct Leg {
    processing::Phase phase;
    processing::Round round = processing::Round::kBoth;
  };

  /// Says what a stretch is made for: `carries` if a step of it wants the body, which then goes through it; `flows` if
  /// there is one.
  struct Load {
    bool carries;
    bool flows;
  };
  /// Returns the load of a message with that body, if steps of `chains` in `phases` (a bit each) may want to see it.
  static Load loadOf(const processing::Chains& chains, std::uint8_t phases, http::Body body);

  Stretch(processing::RunHost& host, const processing::RunTarget& target, base::ChunkPool& pool, const Load& load)
      : run(host, target, pool, load.carries && load.flows),
        source(pool),
        carries(load.carries),
        sourceEnded_(!load.carries || !load.flows) {}

  /// Appends the steps of one round of a request.
  void appendRequest(const processing::Chains& chains, processing::Round round);
  /// Appends steps behind those that are left.
  void append(const processing::Chains& chains, Leg leg);
  /// Forgets the steps that have not begun, because the route is another one: its steps are to be appended, from the
  /// first round on, and none of the Gateway's runs again.
  void leave();
  /// Its body shall come through here after all; it has not, so far.
  void carry(bool flows);
  /// Says that nothing more will be appended, so that what comes through may leave.
  void seal() { sealed_ = true; }
  /// Moves on as far as it can. `to`: where what has come through is put. `beyond`: what is there, or further, already.
  processing::Run::Outcome go(base::ByteQueue& to, std::size_t beyond);
  /// Returns how many bytes have left `source` since it was last asked.
  std::size_t takeFed() { return std::exchange(fed_, 0); }
  void end(std::optional<http::Trailers> behind);
  /// Says once that all of the body has come through.
  bool tookEnd();
  /// Says that nothing which came in was told to be the last.
  bool isOpen() const { return !sourceEnded_; }
  /// On its way into the steps and out of them.
  std::uint64_t held() const { return source.size() + run.out().bytes.size(); }
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

  bool feed(std::size_t beyond);

  /// These are the legs of a request, which has the most.
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

}  // namespace sluice::exchange
