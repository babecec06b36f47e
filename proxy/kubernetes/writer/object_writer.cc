#include "proxy/kubernetes/writer/object_writer.h"

#include <algorithm>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

constexpr const char* kSilence = "no answer";  // a cause

WriteOutcome outcomeOf(const WriteKey& key, const base::Result<ApiAnswer>& answer) {
  constexpr int kUnauthorizedStatus = 401;
  constexpr int kForbiddenStatus = 403;
  constexpr int kNotFoundStatus = 404;
  constexpr int kConflictStatus = 409;
  constexpr int kBusyStatus = 429;
  constexpr int kFaultStatus = 500;
  if (!answer.ok()) return WriteOutcome::kNoAnswer;
  if (answer->ok()) return WriteOutcome::kDone;
  switch (answer->status) {
    case kUnauthorizedStatus:
      return WriteOutcome::kUnauthorized;
    case kForbiddenStatus:
      return WriteOutcome::kForbidden;
    case kNotFoundStatus: {
      // Otherwise its namespace, its kind, or the status of that kind does not exist.
      const std::string_view missing = textIn(valueIn(&answer->body, "details"), "name");
      return !missing.empty() && missing == key.name ? WriteOutcome::kMissing : WriteOutcome::kRefused;
    }
    case kConflictStatus:
      return WriteOutcome::kConflict;
    case kBusyStatus:
      return WriteOutcome::kBusy;
    default:
      return answer->status >= kFaultStatus ? WriteOutcome::kBusy : WriteOutcome::kRefused;
  }
}

}  // namespace

// --- objects to check ------------------------------------------------------------------------------------------------

void ObjectWriter::want(const WriteKey& key, base::MonotonicTime at) {
  if (const auto open = open_.find(key); open != open_.end()) {
    open->second.again = std::min(open->second.again, at);
    return;
  }
  const auto [known, isNew] = wants_.try_emplace(key, at);
  if (!isNew) {
    if (known->second <= at) return;
    later_.erase({known->second, key});
    known->second = at;
  }
  at <= client_.worker().now() ? makeDue(key) : void(later_.emplace(at, key));
  wake();
}

void ObjectWriter::clear() {
  wants_.clear();
  later_.clear();
  due_.clear();
  open_.clear();
  forbidden_.clear();
  cancel();
}

void ObjectWriter::endPause() {
  pause_ = {};
  wake();
}

void ObjectWriter::makeDue(const WriteKey& key) {
  wants_[key] = base::MonotonicTime::min();
  due_[key.nameSpace].push_back(key);
}

/// Schedules the objects that are due: for the end of this turn, or for the next round of the loop if this round had
/// its share, so that other work is done in between.
void ObjectWriter::wake() {
  base::MonotonicTime at = later_.empty() ? base::MonotonicTime::max() : later_.begin()->first;
  if (!due_.empty() && open_.size() < rules_.most) {
    at = std::min(at, client_.worker().now() < pause_.until ? pause_.until : base::MonotonicTime::min());
  }
  if (at == base::MonotonicTime::max()) return;
  const base::MonotonicTime now = client_.worker().now();
  if (at <= now && looked_ != now) return mark();
  client_.worker().timers().set(*this, at);
}

void ObjectWriter::lookAtDue() {
  const base::MonotonicTime now = looked_ = client_.worker().now();
  while (!later_.empty() && later_.begin()->first <= now) makeDue(later_.extract(later_.begin()).value().second);
  for (std::size_t i = 0; i < kLookedAtPerTurn && !due_.empty() && open_.size() < rules_.most; ++i) {
    if (now < pause_.until) break;
    look(takeNext());
  }
  wake();
}

/// Takes an object of the namespace whose turn it is.
WriteKey ObjectWriter::takeNext() {
  auto next = due_.upper_bound(turn_);
  if (next == due_.end()) next = due_.begin();
  turn_ = next->first;
  WriteKey key = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) due_.erase(next);
  wants_.erase(key);
  return key;
}

void ObjectWriter::look(const WriteKey& key) {
  const auto forbidden = forbidden_.find({key.group, key.kind, key.nameSpace});
  if (forbidden != forbidden_.end() && client_.worker().now() < forbidden->second.until) {
    return want(key, forbidden->second.until);
  }
  open_.try_emplace(key);  // so that the user may call want() for it again
  const std::optional<ApiRequest> request = user_.requestFor(key);
  if (!request) {
    const auto open = open_.extract(key);
    if (!open.empty() && open.mapped().again != base::MonotonicTime::max()) want(key, open.mapped().again);
    return;
  }
  ApiExchange::TakeItem takes;
  if (request->listed) takes = [this](const content::Value& item) { user_.onItem(item); };
  open_[key].exchange = std::make_unique<ApiExchange>(
      client_, *request, std::move(takes), [this, key](base::Result<ApiAnswer>&& answer) { ended(key, answer); });
}

// --- answers ---------------------------------------------------------------------------------------------------------

void ObjectWriter::ended(const WriteKey& key, const base::Result<ApiAnswer>& answer) {
  const auto write = open_.extract(key);  // the exchange must live until this returns
  const WriteOutcome outcome = outcomeOf(key, answer);
  outcome == WriteOutcome::kDone ? succeeded(key) : failed(key, outcome, answer);
  if (write.mapped().again != base::MonotonicTime::max()) want(key, write.mapped().again);
  user_.onWritten(key, outcome, answer);
  wake();
}

void ObjectWriter::succeeded(const WriteKey& key) {
  pause_.times = 0;
  forbidden_.erase({key.group, key.kind, key.nameSpace});
  std::erase_if(told_, [&](const auto& told) { return told.first == kSilence || told.second == key; });
}

void ObjectWriter::failed(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) {
  switch (outcome) {
    case WriteOutcome::kDone:
    case WriteOutcome::kConflict:
    case WriteOutcome::kMissing:
      return;
    case WriteOutcome::kRefused:
      break;
    case WriteOutcome::kForbidden:
      if (rules_.longestPause > base::Duration::zero()) prolong(forbidden_[{key.group, key.kind, key.nameSpace}], {});
      break;
    case WriteOutcome::kUnauthorized:
    case WriteOutcome::kBusy:
      prolong(pause_, std::min(answer->retryAfter, rules_.longestAsked));
      break;
    case WriteOutcome::kNoAnswer:
      prolong(pause_, {});
      return tell(key, kSilence, answer.error().detail);
  }
  tell(key, std::string(key.kind) + std::to_string(answer->status), answer->fault());
}

void ObjectWriter::prolong(WritePause& pause, base::Duration asked) const {
  constexpr unsigned kMostDoublings = 16;
  const base::MonotonicTime now = client_.worker().now();
  base::Duration delay = asked;
  if (now >= pause.until) {  // within the pause, further failures are of writes that were already in progress
    const base::Duration own = kShortestPause * (1U << std::min(pause.times++, kMostDoublings));
    delay = std::max(delay, std::min(own, rules_.longestPause));
  }
  pause.until = std::max(pause.until, now + delay);
}

void ObjectWriter::tell(const WriteKey& key, const std::string& cause, const std::string& reason) {
  if (rules_.trouble.empty() || told_.size() >= kMostTold || !told_.insert_or_assign(cause, key).second) return;
  const std::string name = key.name.empty() ? "" : " " + key.nameSpace + "/" + key.name;
  client_.log().warn(rules_.trouble, {{"object", std::string(key.kind) + name}, {"reason", reason}});
}

}  // namespace sluice::kubernetes
