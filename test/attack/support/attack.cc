#include "test/attack/support/attack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace sluice::test {
namespace {

/// One row of the table of attacks.
struct AttackRow {
  std::string name;
  double aloneMedian = 0;
  double aloneMost = 0;
  double besideMedian = 0;
  double besideMost = 0;
  std::size_t grownKib = 0;
  std::size_t grownBound = 0;
  double cpuSeconds = 0;
};

std::vector<AttackRow>& lines() {
  static std::vector<AttackRow> all;
  return all;
}

std::string currentTest() {
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test.test_suite_name()) + "." + test.name();
}

/// Returns median and largest of the waits, or 0 if there are none.
template <typename Waits>
std::pair<double, double> summary(Waits waits) {
  if (waits.empty()) return {0, 0};
  std::sort(waits.begin(), waits.end());
  return {waits[waits.size() / 2].count(), waits.back().count()};
}

}  // namespace

Attack::Attack(GatewayProcess& gateway, std::function<bool()> victim, const AttackBounds& bounds)
    : gateway_(gateway), victim_(std::move(victim)), bounds_(bounds) {
  cpuBefore_ = gateway_.process().cpuSeconds();
  ask(inThisRun(5, 200), alone_, "before the attack");
  residentBefore_ = gateway_.process().residentKib();
}

Attack::~Attack() {
  const auto [aloneMedian, aloneMost] = summary(alone_);
  const auto [besideMedian, besideMost] = summary(beside_);
  lines().push_back(
      {currentTest(), aloneMedian, aloneMost, besideMedian, besideMost, grownMost_, bounds_.grownKib, cpuSeconds()});
}

void Attack::stands() {
  const std::size_t asked = beside_.size();
  grownMost_ = std::max(grownMost_, grownKib());
  ask(inThisRun(20, 500), beside_, "while the attack stands");
  grownMost_ = std::max(grownMost_, grownKib());
  EXPECT_LE(grownMost_, bounds_.grownKib) << "KiB";
  EXPECT_LE(cpuSeconds(), bounds_.cpuSeconds) << "seconds of CPU time";
  if (!isLongRun()) return;
  const Waits now(beside_.begin() + static_cast<std::ptrdiff_t>(asked), beside_.end());
  EXPECT_LE(summary(now).second, static_cast<double>(bounds_.waits.count())) << "milliseconds of the victim";
}

void Attack::ask(int times, Waits& waits, const char* when) {
  for (int i = 0; i < times; ++i) {
    const auto began = std::chrono::steady_clock::now();
    const bool served = victim_();
    waits.push_back(std::chrono::steady_clock::now() - began);
    ASSERT_TRUE(served) << "the victim's request " << i << ", " << when;
  }
}

std::size_t Attack::grownKib() const {
  const std::size_t now = gateway_.process().residentKib();
  return now - std::min(now, residentBefore_);
}

std::string Attack::tableHead() {
  return "    alone, ms     most | attacked     most |     grown, KiB    bound | CPU, s | attack\n";
}

std::string Attack::tableRows() {
  std::string text;
  for (const AttackRow& line : lines()) {
    char row[512];
    std::snprintf(row, sizeof row, "%16.1f %8.1f | %8.1f %8.1f | %14zu %8zu | %6.2f | %s\n", line.aloneMedian,
                  line.aloneMost, line.besideMedian, line.besideMost, line.grownKib, line.grownBound, line.cpuSeconds,
                  line.name.c_str());
    text += row;
  }
  return text;
}

}  // namespace sluice::test
