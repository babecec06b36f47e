// Tells controllers of one GatewayClass apart that run in several namespaces, each with a Lease of its own: only the
// one leads that has claimed the class.
//
// The claim is an annotation of the GatewayClass, which only the platform may write, and says in which namespace the
// Lease stands that counts. So whoever may write Leases elsewhere keeps no controller from leading. A controller that
// gets its Lease claims the class anew; one that finds the claim of another namespace follows the Lease there, and
// takes the claim over when nobody holds that Lease any more, or when it has seen no change of it for
// leaseDurationSeconds by its own clock.
//
// No two lead at one time, by the same reasons as within a namespace (leader_election.h). Each claim changes the object
// and names the resourceVersion that was read before the other Lease was looked at. So a claim that was made meanwhile
// makes this one fail, and a holder whose Lease is older than that does not lead any more. Who removes the annotation
// by hand ends that: the leader looks for its claim every kRetryPeriod, and does not lead without it.
//
// Where the class may be read and not be written, the Lease alone decides, as it would without a class. Such a leader
// looks at the class every kRetryPeriod all the same: it leads no more once another namespace has claimed it whose
// Lease is held, and tries to claim it itself every kTryToClaimAgainAfter.
//
// If the claim cannot be written at the moment, because the server or an admission webhook fails, a process leads only
// if the claim is that of its own namespace, and it has seen no other one for kLeaseDuration since it holds its Lease.
// By then, whoever has seen that Lease without a holder has given up his own claim, and others see it renewed. In all
// other cases nobody leads until the claim can be written.
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

/// The annotation is this, a slash and the name of the Lease.
inline constexpr std::string_view kClaimDomain = "leader.sluice.dev";

class ClassClaim final : public LeadershipUser, private net::Timer {
 public:
  /// A leader that could not write its claim tries again.
  static constexpr base::Duration kTryToClaimAgainAfter = std::chrono::seconds(30);

  /// Both outlive it. `user` is told whenever leads() is another value than before.
  ClassClaim(ApiClient& client, Candidacy candidacy, LeadershipUser& user);

  /// Says whether this process holds its own Lease. Inside a Turn, as all others.
  void onLeads(bool holds) override;
  /// Sets the path of the GatewayClass; empty: the cluster has none of ours. Before that, nobody leads.
  void want(const std::string& gatewayClass);
  bool leads() const { return leads_; }

 private:
  /// By what it leads.
  enum class Ground : std::uint8_t {
    kNone,      // it does not
    kClaim,     // it has claimed the class
    kStanding,  // the claim of its namespace stands, and cannot be written anew
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
  std::string claim_;  // what was written last since it holds its Lease
  bool classIsKnown_ = false;
  bool holds_ = false;
  Ground ground_ = Ground::kNone;
  bool leads_ = false;
  std::unique_ptr<ApiExchange> exchange_;
  bool writing_ = false;           // exchange_ writes, or the last one did
  base::MonotonicTime triedAt_{};  // when a claim was sent last
  std::string standing_;           // the claim as it was read last
  base::MonotonicTime standsSince_{};
  std::string classVersion_;  // the resourceVersion of the class when it was read last
  std::string other_;         // the namespace that has claimed it, as it was read last
  LeaseRecord seen_;          // of `other_`
  base::MonotonicTime changedAt_{};
  std::string standsByFor_;  // who was logged as the leader
  std::string told_;         // the fault that was logged last, and what follows from it
};

}  // namespace sluice::kubernetes
