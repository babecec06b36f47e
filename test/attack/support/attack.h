// An attack on a gateway and its measure: what its victims feel, and what it costs in memory and in CPU time.
//
// A victim is asked before the attack, and again while it stands. What must hold on any machine is checked always: the
// victim is served, and memory and CPU time stay below their bounds. How long it waits is checked in a long run alone,
// which attacks the optimised binary.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "test/integration/support/gateway.h"

namespace sluice::test {

/// True in a run with --long, which asks more often, attacks with more, and has time.
bool isLongRun();
/// Returns how many there are in this run.
inline int inThisRun(int usually, int inLongRun) { return isLongRun() ? inLongRun : usually; }

struct AttackBounds {
  /// What the gateway may hold more than before the attack; a binary under sanitizers keeps in quarantine what it
  /// freed.
  std::size_t grownKib = 64 * 1024;
  /// What the gateway may use from the first question on.
  double cpuSeconds = 20;
  /// The longest that a victim may wait in a long run.
  std::chrono::milliseconds waits{100};
};

class Attack {
 public:
  /// Asks the victim a few times, which says whether it was served. Nothing has attacked the gateway yet.
  Attack(Gateway& gateway, std::function<bool()> victim, const AttackBounds& bounds = {});
  /// Adds a line to the table.
  ~Attack();
  Attack(const Attack&) = delete;
  Attack& operator=(const Attack&) = delete;

  /// Asks the victim while the attack stands, and checks the bounds.
  void stands();

  /// Lines of the table: the first one names its columns, the others are of the attacks so far.
  static std::string tableHead();
  static std::string tableRows();

 private:
  using Waits = std::vector<std::chrono::duration<double, std::milli>>;

  void ask(int times, Waits& waits, const char* when);
  std::size_t grownKib() const;
  double cpuSeconds() const { return gateway_.process().cpuSeconds() - cpuBefore_; }

  Gateway& gateway_;
  const std::function<bool()> victim_;
  const AttackBounds bounds_;
  std::size_t residentBefore_ = 0;
  double cpuBefore_ = 0;
  Waits alone_;
  Waits beside_;
  std::size_t grownMost_ = 0;
};

}  // namespace sluice::test
