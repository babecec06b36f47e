#include "proxy/kubernetes/lease/leader_election.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

constexpr std::int64_t kLeaseSeconds = LeaderElection::kLeaseDuration / std::chrono::seconds(1);

}  // namespace

LeaderElection::Action LeaderElection::next(base::MonotonicTime now, base::WallTime wall) {
  switch (state_) {
    case State::kReading:
    case State::kWriting:
    case State::kReleasing:
      return {};
    case State::kDone:
      return {Step::kDone};
    case State::kToRead:
    case State::kToCreate:
    case State::kToUpdate:
    case State::kToRelease:
      break;
  }
  if (now < due_) return {Step::kWait, due_};
  if (state_ == State::kToRead) return send(State::kReading, Step::kRead, now, {});
  if (state_ == State::kToCreate) return send(State::kWriting, Step::kCreate, now, createBody(wall));
  if (state_ == State::kToUpdate) return send(State::kWriting, Step::kUpdate, now, updateBody(wall));
  return send(State::kReleasing, Step::kUpdate, now, releaseBody(wall));
}

LeaderElection::Action LeaderElection::send(State state, Step step, base::MonotonicTime now, std::string body) {
  state_ = state;
  sentAt_ = now;
  return {step, base::MonotonicTime::max(), std::move(body)};
}

void LeaderElection::read(LeaseRecord record, base::MonotonicTime now) {
  assert(state_ == State::kReading);
  see(std::move(record), now);
  if (!holds()) leaderUntil_ = base::MonotonicTime::min();
  if (stopping_) {
    schedule(holds() ? State::kToRelease : State::kDone, now);
  } else if (holds() || seen_.holderIdentity.empty() || isExpired(now)) {
    schedule(State::kToUpdate, now);
  } else {
    retry(now);
  }
}

void LeaderElection::absent(base::MonotonicTime now) {
  // It was deleted, and another candidate may have created it again by now.
  leaderUntil_ = base::MonotonicTime::min();
  const bool mayCreate = state_ == State::kReading && !stopping_;
  seen_ = {};
  if (stopping_) {
    schedule(State::kDone, now);
  } else if (mayCreate) {
    schedule(State::kToCreate, now);
  } else {
    retry(now);
  }
}

void LeaderElection::written(LeaseRecord record, base::MonotonicTime now) {
  assert(state_ == State::kWriting || state_ == State::kReleasing);
  see(std::move(record), now);
  if (state_ == State::kReleasing) {
    schedule(State::kDone, now);
  } else if (!holds()) {
    leaderUntil_ = base::MonotonicTime::min();
    retry(now);
  } else if (stopping_) {
    schedule(State::kToRelease, now);
  } else {
    leaderUntil_ = std::max(leaderUntil_, sentAt_ + kRenewDeadline);
    schedule(State::kToUpdate, now + kRetryPeriod);
  }
}

void LeaderElection::conflicted(base::MonotonicTime now) { failed(now); }

void LeaderElection::failed(base::MonotonicTime now) {
  // The known state of the Lease may be old, especially after a write, so it is read first.
  const bool over = state_ == State::kReleasing || (stopping_ && state_ == State::kReading);
  if (over) {
    schedule(State::kDone, now);
  } else if (stopping_) {
    schedule(State::kToRead, now);
  } else {
    retry(now);
  }
}

void LeaderElection::release(base::MonotonicTime now) {
  leaderUntil_ = base::MonotonicTime::min();
  stopping_ = true;
  switch (state_) {
    case State::kToRead:
      schedule(holds() ? State::kToRead : State::kDone, now);
      return;
    case State::kToUpdate:
      schedule(holds() ? State::kToRelease : State::kDone, now);
      return;
    case State::kToCreate:
      schedule(State::kDone, now);
      return;
    case State::kReading:
    case State::kWriting:
    case State::kToRelease:
    case State::kReleasing:
    case State::kDone:
      return;
  }
}

bool LeaderElection::isExpired(base::MonotonicTime now) const {
  // If the holder states no duration, it holds the Lease for as long as this process would.
  return now - changedAt_ >= leaseDuration(seen_, kLeaseDuration);
}

void LeaderElection::see(LeaseRecord record, base::MonotonicTime now) {
  // The resourceVersion is compared, too, because a holder whose wall clock does not move writes the same renewTime
  // again and again.
  if (record == seen_) return;
  seen_ = std::move(record);
  changedAt_ = now;
}

void LeaderElection::schedule(State state, base::MonotonicTime due) {
  state_ = state;
  due_ = due;
}

void LeaderElection::retry(base::MonotonicTime now) {
  // A leader has a deadline, and has lost time if the answer took long. Candidates must not ask all at once.
  if (isLeader(now)) {
    schedule(State::kToRead, std::max(now, sentAt_ + kRetryPeriod));
    return;
  }
  const double random = static_cast<double>(random_.next() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
  const auto wait = std::chrono::duration_cast<base::Duration>(kRetryPeriod * (1 + kJitter * random));
  schedule(State::kToRead, now + wait);
}

std::string LeaderElection::createBody(base::WallTime wall) const {
  const std::string now = apiMicroTime(wall);
  return body({candidacy_.identity, kLeaseSeconds, now, now, 0, ""});
}

std::string LeaderElection::updateBody(base::WallTime wall) const {
  const std::string now = apiMicroTime(wall);
  LeaseRecord record{candidacy_.identity,    kLeaseSeconds,        seen_.acquireTime, now,
                     seen_.leaseTransitions, seen_.resourceVersion};
  if (!holds()) ++record.leaseTransitions;
  if (!holds() || record.acquireTime.empty()) record.acquireTime = now;
  return body(record);
}

std::string LeaderElection::releaseBody(base::WallTime wall) const {
  const std::string now = apiMicroTime(wall);
  return body({"", 1, now, now, seen_.leaseTransitions, seen_.resourceVersion});
}

std::string LeaderElection::body(const LeaseRecord& record) const {
  base::JsonWriter json;
  json.beginObject().member("apiVersion", "coordination.k8s.io/v1").member("kind", "Lease");
  json.key("metadata").beginObject().member("name", candidacy_.lease).member("namespace", candidacy_.nameSpace);
  if (!record.resourceVersion.empty()) json.member("resourceVersion", record.resourceVersion);
  json.endObject();
  writeLeaseSpec(json, record);
  return json.endObject().take();
}

}  // namespace sluice::kubernetes
