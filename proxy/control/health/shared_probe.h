// The probes of all checks that ask one destination the same question. However many objects lead to a destination, and
// whosever they are, it is asked once for all of them; each check judges the results by its own thresholds.
//
// Owned by the health checker; destroying it ends the probe that is under way. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proxy/control/health/backend_probe.h"
#include "proxy/control/health/check_dials.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/dial/dialer.h"
#include "proxy/upstream/upstreams.h"

namespace sluice::control {

struct ProbeFinding {
  std::string wrong;  // empty if the destination serves
  bool ofOwnLimit;    // the fault is a limit of the gateway's own, and says nothing about the destination
  base::MonotonicTime at;
};

/// A check that waits for a result.
class ProbeWaiter {
 public:
  /// Called when the probe begins for which it waits, perhaps because another check has asked for it.
  virtual void onProbeBegun() = 0;
  /// Called with the result. The check does not wait any more.
  virtual void onProbed(const ProbeFinding& result) = 0;

 protected:
  ~ProbeWaiter() = default;
};

class SharedProbe;

/// The interface by which the shared probes report to the health checker.
struct ProbeBoard {
  std::vector<SharedProbe*> due;  // those that must be driven; each leaves it at its end
  std::uint64_t numbers = 0;      // of plans; no two plans have the same
  bool hasOtherPlans = false;     // a plan has changed
};

/// All references outlive the probes.
struct SharedProbeParts {
  upstream::Upstreams& upstreams;
  upstream::Dialer& dialer;
  ProbeBoard& board;
};

class SharedProbe final : private ProbeUser {
 public:
  /// `target` is the plan of planOfChecks() for a check whose settings are those of `check`, or differ from them only
  /// in what each check decides by itself.
  SharedProbe(const SharedProbeParts& parts, std::shared_ptr<const routing::BackendPlan> target,
              std::shared_ptr<const routing::ActiveCheck> check);
  ~SharedProbe();
  SharedProbe(const SharedProbe&) = delete;
  SharedProbe& operator=(const SharedProbe&) = delete;

  /// Sets the policies that judge the addresses of later probes; empty: any address may be dialled.
  void judgeBy(std::vector<routing::EgressCoverage> covers) { covers_ = std::move(covers); }
  /// Returns the plan of the connections, which is another one after a failure.
  const std::shared_ptr<const routing::BackendPlan>& plan() const { return plan_; }
  bool isUnderWay() const { return probe_ != nullptr; }
  /// Returns the last result if it is younger than that; else nullptr.
  const ProbeFinding* resultWithin(base::Duration age) const;
  /// Has the result told to that check once. It may be told in the next beat.
  void join(ProbeWaiter& waiter) { waiting_.insert(&waiter); }
  /// Forgets that check; to be called before its end.
  void leave(ProbeWaiter& waiter) { waiting_.erase(&waiter); }
  /// Begins a probe. None is under way.
  void start();
  /// Continues the probe, in a beat.
  void drive();

 private:
  void mark();
  void connectAnew();
  base::MonotonicTime now() const { return parts_.upstreams.worker().now(); }
  void onProbeDue() override { mark(); }

  const SharedProbeParts parts_;
  const std::shared_ptr<const routing::BackendPlan> target_;
  const std::shared_ptr<const routing::ActiveCheck> check_;
  std::vector<routing::EgressCoverage> covers_;
  std::shared_ptr<const routing::BackendPlan> plan_;
  std::optional<CheckDials> dials_;  // of the probe
  std::unique_ptr<BackendProbe> probe_;
  std::optional<ProbeFinding> result_;  // the last one
  std::set<ProbeWaiter*> waiting_;
  bool isDue_ = false;
};

}  // namespace sluice::control
