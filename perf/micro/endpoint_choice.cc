// endpoint_choice TYPE ENDPOINTS: chooses among that many endpoints of a cluster, for perf/lookup.py to count the
// instructions of lookUpAllChoices() under callgrind.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/terms/load_balancing.h"
#include "proxy/upstream/balance/balancer.h"

namespace sluice::upstream {
namespace {

constexpr std::size_t kChoices = 1000;

struct Type {
  const char* name;
  base::BalancerType type;
};

constexpr Type kTypes[] = {{"LeastRequest", base::BalancerType::kLeastRequest},
                           {"RoundRobin", base::BalancerType::kRoundRobin},
                           {"Random", base::BalancerType::kRandom},
                           {"RingHash", base::BalancerType::kRingHash},
                           {"Maglev", base::BalancerType::kMaglev}};

/// Endpoints of which one in ten does not serve.
struct MostlyHealthy {
  std::vector<std::string> allNames;

  std::size_t count() const { return allNames.size(); }
  static bool serves(std::size_t i) { return i % 10 != 3; }
  static std::size_t load(std::size_t i) { return i % 7; }
  static base::Duration age(std::size_t) { return base::Duration::max(); }
  std::span<const std::string> names() const { return allNames; }
  static bool isWhole() { return true; }
};

/// Callgrind counts this function. Returns how many choices found an endpoint that serves.
[[gnu::noinline]] std::size_t lookUpAllChoices(Balancer& balancer, const MostlyHealthy& endpoints, bool hashes) {
  std::mt19937_64 random(1);
  std::size_t found = 0;
  for (std::size_t i = 0; i < kChoices; ++i) {
    const auto chosen =
        balancer.choose(endpoints, hashes ? std::optional(random()) : std::nullopt, [&random] { return random(); });
    found += chosen && MostlyHealthy::serves(*chosen) ? 1 : 0;
  }
  return found;
}

int runType(std::string_view name, std::size_t count) {
  for (const Type& each : kTypes) {
    if (each.name != name) continue;
    base::LoadBalancing terms;
    terms.type = each.type;
    MostlyHealthy endpoints;
    for (std::size_t i = 0; i < count; ++i) endpoints.allNames.push_back("10.0.0.0 " + std::to_string(i));
    Balancer balancer(terms);
    balancer.choose(endpoints, 1, [] { return std::uint64_t{0}; });  // makes the table
    std::printf("%zu\n", kChoices);
    return lookUpAllChoices(balancer, endpoints, terms.hashes()) == kChoices ? 0 : 1;
  }
  return 2;
}

}  // namespace
}  // namespace sluice::upstream

int main(int argc, char** argv) {
  if (argc == 3) return sluice::upstream::runType(argv[1], std::strtoul(argv[2], nullptr, 10));
  for (const auto& type : sluice::upstream::kTypes) std::printf("%s\n", type.name);
}
