#include "proxy/routing/policy/backend_reach.h"

#include "proxy/processing/verdict.h"

namespace sluice::routing {
namespace {

/// Shortens a text in UTF-8 without cutting a character in two.
std::string clippedText(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

/// Returns the error's sentence with what its log line has beside it: a note, and where it happened.
std::string reachTextOf(const base::Error& error) {
  std::string also = error.note;
  if (!error.address.empty() && also.find(error.address) == std::string::npos) {
    also += (also.empty() ? "" : ", ") + error.address;
  }
  return clippedText(also.empty() ? error.detail : error.detail + " (" + also + ")", BackendReach::kMostText);
}

}  // namespace

void BackendReach::onFailure(const base::Error& error, base::WallTime now, ConnectionStage stage) const {
  {
    const std::lock_guard lock(mutex_);
    const bool isRecent = last_.isOf(error) && now >= last_.told && now - last_.told < kSteady;
    if (!isRecent) last_ = {error.type, error.detail, reachTextOf(error), now};
    lastAt_ = now;
  }
  isLate_.store(stage == ConnectionStage::kUnanswered, std::memory_order_relaxed);
  // It is counted last, so that a thread that sees the count also sees the text.
  health_.onFailure(processing::causeOf(error), now);
}

ReachReport BackendReach::announced() const {
  const std::lock_guard lock(mutex_);
  return announced_;
}

ReachReport BackendReach::announce(base::WallTime now) const {
  const processing::ServerReport state = health_.announce(now);
  const std::lock_guard lock(mutex_);
  const bool isNew = announced_.reach != processing::ServerReach::kDegraded;
  if (state.reach != processing::ServerReach::kDegraded) {
    if (!isNew) recoveredAt_ = now;
    return announced_ = {state.reach};
  }
  // A Backend that comes and goes would have everything compiled again each time.
  if (isNew && now >= recoveredAt_ && now - recoveredAt_ < kSteady) return announced_;
  const bool isOther = !last_.isLike(told_);
  if (isNew || (isOther && now - stoodAt_ >= kSteady)) {
    told_ = last_;
    announced_ = {state.reach, state.since, told_.text};
    stoodAt_ = now;
  } else if (!isOther) {
    stoodAt_ = now;
  }
  return announced_;
}

ReachFailures BackendReach::failures() const {
  const std::uint32_t count = health_.failures();
  if (count == 0) return {};
  const std::lock_guard lock(mutex_);
  return {count, lastAt_, last_.type, last_.text};
}

}  // namespace sluice::routing
