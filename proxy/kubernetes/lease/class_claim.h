// Elects the leader among controllers of one GatewayClass that run in several namespaces, each with a Lease of its own:
// only the controller that has claimed the class leads.
//
// The claim is an annotation of the GatewayClass, which only the platform may write, and names the namespace of the
// leader's Lease. So Leases in other namespaces cannot keep a controller from leading. A controller that gets its Lease
// claims the class again. If it finds the claim of another namespace, it follows the Lease there, and takes the claim
// over when that Lease has no holder any more, or when it has seen no change of it for leaseDurationSeconds by its own
// clock.
//
// No two lead at one time, for the same reasons as within a namespace (leader_election.h). Each claim changes the
// object and names the resourceVersion that was read before the other Lease was looked at. So a claim that was made
// meanwhile makes this one fail, and a holder whose Lease is older than that does not lead any more. Removing the
// annotation by hand ends the leadership: the leader checks its claim every kRetryPeriod, and does not lead without it.
//
// If the class may be read but not written, the Lease alone decides, as it would without a class. Such a leader still
// checks the class every kRetryPeriod. It stops leading once another namespace has claimed the class and its Lease is
// held, and it tries to claim the class itself every kTryToClaimAgainAfter.
//
// If the claim cannot be written at the moment, because the server or an admission webhook fails, a process leads only
// if the claim is that of its own namespace, and it has seen no other one for kLeaseDuration since it holds its Lease.
// By then, a controller that has seen that Lease without a holder has given up its own claim, and others see the Lease
// renewed. In all other cases no controller leads until the claim can be written.
//
// Lives on the main thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/random.h"
#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/kubernetes/lease/leader_election.h"
#include "proxy/kubernetes/lease/leadership.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

/// The name of the annotation is this, a slash and the name of the Lease.
inline constexpr std::string_view kClaimDomain = "leader.sluice.dev";

class ClassClaim final : public LeadershipUser, private net::Timer {
 public:
  /// A leader that could not write its claim tries again.
  static constexpr base::Duration kTryToClaimAgainAfter = std::chrono::seconds(30);

  /// Both outlive it. `user` is notified whenever leads() has changed.
  ClassClaim(ApiClient& client, Candidacy candidacy, LeadershipUser& user);

  /// Called with whether this process holds its own Lease. Inside a Turn, like all others.
  void onLeads(bool holds) override;
  /// Sets the path of the GatewayClass; empty: the cluster has no class of this program. Before the first call, it does
  /// not lead.
  void want(const std::string& gatewayClass);
  bool leads() const { return leads_; }

 private:
  /// The ground on which it leads.
  enum class Ground : std::uint8_t {
    kNone,      // it does not lead
    kClaim,     // it has claimed the class
    kStanding,  // the class has the claim of its namespace, which cannot be written again
    kLease      // it may not claim the class, and no other claim is alive
  };

  void onTimer() override;
  void begin();
  void leadBy(Ground ground);
  void ask(ApiRequest request, void (ClassClaim::*take)(const ApiAnswer& answer));
  void takeClass(const ApiAnswer& answer);
  void takeLease(const ApiAnswer& answer);
  void takeWritten(const ApiAnswer& answer);
  bool keepsGround(const std::string& nameSpace, bool changed) const;
  void write();
  void read();
  void failed(const std::string& reason);
  void tellFault(const std::string& reason);
  void tell();

  ApiClient& client_;
  const Candidacy candidacy_;
  const std::string annotation_;
  LeadershipUser& user_;
  base::Random random_;
  std::string class_;  // its path
  std::string claim_;  // the claim that it has written last since it holds its Lease
  bool classIsKnown_ = false;
  bool holds_ = false;
  Ground ground_ = Ground::kNone;
  bool leads_ = false;
  std::unique_ptr<ApiExchange> exchange_;
  bool writing_ = false;           // exchange_ is a write, or the last one was
  base::MonotonicTime triedAt_{};  // when a claim was sent last
  std::string standing_;           // the claim as it was read last
  base::MonotonicTime standsSince_{};
  std::string classVersion_;  // the resourceVersion of the class when it was read last
  std::string other_;         // the namespace that has claimed it, as it was read last
  LeaseRecord seen_;          // of `other_`
  base::MonotonicTime changedAt_{};
  std::string standsByFor_;  // the leader that was logged
  std::string told_;         // the fault that was logged last, with its consequence
};

}  // namespace sluice::kubernetes
