// Decides which of several controllers is the leader that writes: the one that holds a Lease. The rules are those of
// client-go's leaderelection, so that our controllers and tools of others understand the Lease alike.
//
// It is a state machine of one thread without sockets and clocks. Its owner gets the request to send from next(), sends
// it, and reports exactly one outcome: read(), absent(), written(), conflicted() or failed(). A request that has no
// answer within kRequestTimeout is given up by the owner and has failed(), whether or not the API server has executed
// it; an answer that comes later is dropped.
//
// At no moment is isLeader() true in two processes, however late or lost their requests are and whatever their wall
// clocks show:
//
// - A holder leads until kRenewDeadline after it sent the last request that renewed the Lease, which is before the
//   server executed it. When that time has passed it does not lead any more, without any event.
// - Others take the Lease when they have seen no change of it for leaseDurationSeconds, by their own monotonic clocks
//   and counted from the answer that showed the last change, which is after the server executed it. Times in the Lease
//   are for people.
// - Each write names the resourceVersion that its sender has seen, so that only one of several writers succeeds.
//
// This holds if the rates of the monotonic clocks differ by less than a half, and if the Lease is not deleted or edited
// by hand. A clock that stops while its machine is suspended breaks the first condition; writes of such a leader must
// be refused by the resourceVersion of their objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/base/random.h"
#include "proxy/kubernetes/lease/lease_record.h"

namespace sluice::kubernetes {

/// The Lease, and the identity of the candidate.
struct Candidacy {
  std::string nameSpace;
  std::string lease;
  std::string identity;  // differs between any two processes that may run at one time; not empty
};

class LeaderElection {
 public:
  static constexpr base::Duration kLeaseDuration = std::chrono::seconds(15);
  static constexpr base::Duration kRenewDeadline = std::chrono::seconds(10);
  static constexpr base::Duration kRetryPeriod = std::chrono::seconds(2);
  static constexpr double kJitter = 1.2;  // a candidate waits for kRetryPeriod times 1 to 1 + kJitter
  static constexpr base::Duration kRequestTimeout = kRenewDeadline / 2;

  enum class Step : std::uint8_t {
    kWait,    // until `at`, or if that is the end of time, until the outcome of the last request
    kRead,    // GET leasePath()
    kCreate,  // POST `body` to leasesPath(); 409 is conflicted()
    kUpdate,  // PATCH leasePath() with the merge patch `body`; 409 is conflicted(). As a PUT, it removes what others
              // added
    kDone     // the Lease is released, and nothing follows
  };
  struct Action {
    Step step = Step::kWait;
    base::MonotonicTime at = base::MonotonicTime::max();
    std::string body = {};
  };

  /// `seed` must not be 0.
  LeaderElection(Candidacy candidacy, std::uint64_t seed) : candidacy_(std::move(candidacy)), random_(seed) {}

  /// Returns the next step. After any other step than kWait and kDone, it waits for the outcome.
  Action next(base::MonotonicTime now, base::WallTime wall);

  /// Reports that the Lease was read.
  void read(LeaseRecord record, base::MonotonicTime now);
  /// Reports that there is no Lease: 404 on reading or updating.
  void absent(base::MonotonicTime now);
  /// Reports that kCreate or kUpdate succeeded, with the Lease of the answer.
  void written(LeaseRecord record, base::MonotonicTime now);
  /// Reports that the write was refused, because the Lease is there already or has changed.
  void conflicted(base::MonotonicTime now);
  /// Reports any other or an unknown outcome.
  void failed(base::MonotonicTime now);

  bool isLeader(base::MonotonicTime now) const { return now < leaderUntil_; }
  /// Returns when isLeader() becomes false unless the Lease is renewed; a time in the past if it does not lead.
  base::MonotonicTime leaderUntil() const { return leaderUntil_; }
  /// Returns the holder of the Lease when it was last seen; empty if it had none.
  const std::string& holder() const { return seen_.holderIdentity; }

  /// Ends the leadership at once, and gives the Lease back if this process holds it, so that another candidate need not
  /// wait for its end. It is tried once. next() returns kDone when that is over.
  void release(base::MonotonicTime now);

 private:
  /// The states in which a request is due begin with kTo.
  enum class State : std::uint8_t { kToRead, kReading, kToCreate, kToUpdate, kWriting, kToRelease, kReleasing, kDone };

  bool holds() const { return seen_.holderIdentity == candidacy_.identity; }
  bool isExpired(base::MonotonicTime now) const;
  void see(LeaseRecord record, base::MonotonicTime now);
  void schedule(State state, base::MonotonicTime due);
  void retry(base::MonotonicTime now);
  Action send(State state, Step step, base::MonotonicTime now, std::string body);
  std::string createBody(base::WallTime wall) const;
  std::string updateBody(base::WallTime wall) const;
  std::string releaseBody(base::WallTime wall) const;
  std::string body(const LeaseRecord& record) const;

  const Candidacy candidacy_;
  base::Random random_;
  State state_ = State::kToRead;
  base::MonotonicTime due_ = base::MonotonicTime::min();
  LeaseRecord seen_;
  base::MonotonicTime changedAt_{};  // when `seen_` was first seen
  base::MonotonicTime sentAt_{};     // when the write was sent that is under way
  base::MonotonicTime leaderUntil_ = base::MonotonicTime::min();
  bool stopping_ = false;
};

}  // namespace sluice::kubernetes
