#include "proxy/exchange/steps/stretch.h"

#include <algorithm>
#include <cassert>

namespace sluice::exchange {

using processing::Run;

Stretch::Load Stretch::loadOf(const processing::Chains& chains, std::uint8_t phases, http::Body body) {
  bool carries = false;
  for (const processing::Chain* each : chains)
    carries = carries || (each != nullptr && (each->bodyPhases() & phases) != 0);
  return {carries && body != http::Body::kTunnel, body == http::Body::kLength || body == http::Body::kUntilEnd};
}

void Stretch::append(const processing::Chains& chains, Leg leg) {
  const processing::StepOrder steps(chains, leg.phase, leg.round);
  if (steps.empty()) return;
  // Legs that are done make room: an exchange never has more of them before it than its request has.
  if (entered_ == count_) entered_ = count_ = 0;
  assert(count_ < legs_.size());
  legs_[count_++] = {steps, leg};
}

void Stretch::appendRequest(const processing::Chains& chains, processing::Round round) {
  std::uint8_t phases = 0;
  for (const processing::Chain* each : chains) {
    if (each != nullptr) phases |= each->phases();
  }
  for (const Leg& leg : kOfRequest) {
    if (leg.round == round && (phases & processing::bitOf(leg.phase)) != 0) append(chains, leg);
  }
}

void Stretch::leave() {
  run.leave();
  entered_ = count_ = 0;
  sealed_ = false;
}

void Stretch::carry(bool flows) {
  carries = true;
  sourceEnded_ = !flows;
  if (flows) run.expectBody();
}

Run::Outcome Stretch::go(base::ByteQueue& to, std::size_t beyond) {
  while (true) {
    const bool fed = carries && feed(beyond + to.size());
    const Run::Outcome outcome = run.go();
    if (outcome == Run::Outcome::kRefused || outcome == Run::Outcome::kMatchAgain) return outcome;
    const bool begun = outcome == Run::Outcome::kDone && entered_ == count_;
    if (begun && sealed_ && carries) to.splice(run.out().bytes, run.out().bytes.size());
    if (outcome == Run::Outcome::kDone && !begun) {
      const Entry& next = legs_[entered_++];
      run.enter(next.steps, next.leg.phase);
    } else if (!fed) {
      return outcome;
    }
  }
}

/// Returns true if there was anything to feed.
bool Stretch::feed(std::size_t beyond) {
  if (!carries) return false;
  const std::size_t count = std::min(run.room(beyond), source.size());
  if (count > 0) {
    run.add(source, count);
    fed_ += count;
  }
  if (!sourceEnded_ || !source.empty() || !run.isOpen()) return count > 0;
  run.end();
  return true;
}

void Stretch::end(std::optional<http::Trailers> behind) {
  sourceEnded_ = true;
  if (behind) trailers.emplace(*std::move(behind));
}

bool Stretch::tookEnd() {
  return sealed_ && entered_ == count_ && run.out().ended && run.out().bytes.empty() && !std::exchange(endTold_, true);
}

}  // namespace sluice::exchange
