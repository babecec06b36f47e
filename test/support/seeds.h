// Seeds for tests that try random cases: a few are always the same, the others change from day to day, so that a short
// test sees many cases in time. A test names the seed of a case that fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace sluice::test {

/// Returns the seeds 1 to `fixed`, and `daily` others that are those of today, counted in UTC. If SLUICE_SEED is in the
/// environment, it is the only one: to try one case again.
inline std::vector<std::uint32_t> seeds(std::uint32_t fixed, std::uint32_t daily) {
  if (const char* one = std::getenv("SLUICE_SEED")) return {static_cast<std::uint32_t>(std::stoul(one))};
  std::vector<std::uint32_t> all;
  for (std::uint32_t seed = 1; seed <= fixed; ++seed) all.push_back(seed);
  const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()).time_since_epoch().count();
  const std::uint32_t first = static_cast<std::uint32_t>(today) * 100'000;
  for (std::uint32_t i = 0; i < daily; ++i) all.push_back(first + i);
  return all;
}

}  // namespace sluice::test
