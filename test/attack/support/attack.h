// Measures an attack on a gateway: how long its victims wait, and what it costs in memory and in CPU time.
//
// The victim's requests are measured before the attack, and again during it. Bounds that hold on any machine are
// checked always: the victim is served, and memory and CPU time stay below their bounds. How long the victim waits is
// checked only in a long run, which attacks the optimised binary.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {

/// Returns true in a run with --long, which measures more often, attacks with more, and takes longer.
bool isLongRun();
/// Returns true if a gateway with GatewaySpec::release is the optimised program, whose memory and CPU can be bounded
/// closely.
inline bool isMeasured() { return isLongRun() || programPath("sluice", true) != programPath("sluice"); }
/// Returns the number for this run.
inline int inThisRun(int usually, int inLongRun) { return isLongRun() ? inLongRun : usually; }

struct AttackBounds {
  /// Memory that the gateway may hold in addition to that before the attack; a binary under sanitizers also keeps freed
  /// memory in quarantine.
  std::size_t grownKib = 64 * 1024;
  /// CPU time that the gateway may use from the first question on.
  double cpuSeconds = 20;
  /// The longest time that a victim may wait in a long run.
  std::chrono::milliseconds waits{100};
};

class Attack {
 public:
  /// Measures the victim a few times before the attack; `victim` returns whether it was served.
  Attack(GatewayProcess& gateway, std::function<bool()> victim, const AttackBounds& bounds = {});
  /// Adds a line to the table.
  ~Attack();
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;

  /// Measures the victim during the attack, and checks the bounds.
  void stands();

  /// The lines of the table: its header, and one for each attack so far.
  static std::string tableHead();
  static std::string tableRows();

 private:
  using Waits = std::vector<std::chrono::duration<double, std::milli>>;

  void ask(int times, Waits& waits, const char* when);
  std::size_t grownKib() const;
  double cpuSeconds() const { return gateway_.process().cpuSeconds() - cpuBefore_; }

  GatewayProcess& gateway_;
  const std::function<bool()> victim_;
  const AttackBounds bounds_;
  std::size_t residentBefore_ = 0;
  double cpuBefore_ = 0;
  Waits alone_;
  Waits beside_;
  std::size_t grownMost_ = 0;
};

}  // namespace sluice::test
