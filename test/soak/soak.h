// Runs all actors on one gateway for a given time, then judges.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "test/soak/actor.h"
#include "test/soak/health.h"

namespace sluice::soak {

struct SoakOptions {
  std::chrono::seconds length = std::chrono::minutes(20);
  /// seed of the actors' choices
  std::uint32_t seed = 1;
  /// Runs only actors whose name contains this; empty: all.
  std::string only;
};

class Soak {
 public:
  explicit Soak(const SoakOptions& options);
  /// Returns true if nothing was wrong.
  bool run();

 private:
  void perform(const Actor& actor, Ledger& ledger, std::uint32_t seed);
  void watch();
  void judge();
  void judgeTrend(const char* what, double Sample::*member, double share, double slack);
  void judgeEnd();
  void stopGateway();
  void report() const;
  void progress() const;
  std::uint64_t errors() const;

  const SoakOptions options_;
  Testbed testbed_;
  const Sample before_;
  SoakCourse course_;
  std::vector<Actor> actors_;
  std::deque<Ledger> ledgers_;
  Ledger verdict_{"the gateway", course_};
  std::vector<Sample> samples_;
  std::vector<std::string> findings_;  // lines of the summary
};

}  // namespace sluice::soak
