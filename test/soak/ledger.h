// Counts what one actor did: rounds, checks that held, and errors, of which the first ones are printed as they happen.
// Written by the actor's thread, read by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "test/soak/soak_course.h"

namespace sluice::soak {

/// Prints a line on the standard output, with the time since the beginning before it.
void say(const SoakCourse& course, std::string_view text);

class Ledger {
 public:
  Ledger(std::string actor, const SoakCourse& course) : actor_(std::move(actor)), course_(course) {}

  void round() { ++rounds_; }
  void right(std::uint64_t count = 1) { checks_ += count; }
  void wrong(const std::string& what);
  /// Records the check, and returns `holds`.
  bool expect(bool holds, const std::string& otherwise);

  const std::string& actor() const { return actor_; }
  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t checks() const { return checks_; }
  std::uint64_t errors() const { return errors_; }

 private:
  const std::string actor_;
  const SoakCourse& course_;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::atomic<std::uint64_t> checks_ = 0;
  std::atomic<std::uint64_t> errors_ = 0;
};

}  // namespace sluice::soak
