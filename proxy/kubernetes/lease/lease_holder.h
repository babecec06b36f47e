// Acquires a Lease, renews it, and gives it back: it has the requests and timers of a LeaderElection
// (leader_election.h).
//
// Lives on the main thread.
#pragma once

#include <functional>
#include <memory>

#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/kubernetes/lease/leader_election.h"
#include "proxy/kubernetes/lease/leadership.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

class LeaseHolder final : private net::Timer {
 public:
  /// Both outlive it. `user` is notified whenever leads() has changed.
  LeaseHolder(ApiClient& client, Candidacy candidacy, LeadershipUser& user);

  void start() { step(); }
  /// Gives the Lease back, if it is held, and calls `done` inside a Turn when that is over, whether or not it
  /// succeeded.
  void release(std::function<void()> done);
  bool leads() const { return leads_; }
  /// Returns the known holder of the Lease; empty if it has none.
  const std::string& holder() const { return election_.holder(); }

 private:
  void onTimer() override;
  void step();
  void send(const LeaderElection::Action& action);
  void answered(LeaderElection::Step step, const base::Result<ApiAnswer>& answer);
  void tell();
  void tellFault(const std::string& reason);

  ApiClient& client_;
  const Candidacy candidacy_;
  LeadershipUser& user_;
  LeaderElection election_;
  std::unique_ptr<ApiExchange> exchange_;
  base::MonotonicTime giveUpAt_ = base::MonotonicTime::max();
  std::function<void()> released_;
  std::string told_;  // the fault that was logged last
  bool leads_ = false;
};

}  // namespace sluice::kubernetes
