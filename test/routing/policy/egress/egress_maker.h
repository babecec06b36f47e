// Draws EgressPolicies and facts at random, out of small alphabets, so that names, networks, ports and paths overlap.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/policy/egress/egress_facts.h"

namespace sluice::routing::test {

/// The facts of one judgement, and the bytes that they refer to.
struct EgressCase {
  EgressFacts facts;
  std::vector<std::uint8_t> client;
  std::optional<base::Caller> caller;
  std::vector<std::uint8_t> address;
  std::string name;
  std::optional<std::string> serverName;

  /// Returns the facts. They refer to this object.
  EgressFacts view() const {
    EgressFacts seen = facts;
    seen.client = client;
    seen.caller = caller ? &*caller : nullptr;
    seen.address = address;
    seen.name = name;
    if (serverName) seen.serverName = *serverName;
    return seen;
  }
};

class EgressMaker {
 public:
  explicit EgressMaker(std::uint32_t seed) : random_(seed) {}

  base::EgressTerms terms();
  EgressCase facts(EgressWay way);
  /// Makes known what is unknown in the facts, or a part of it.
  EgressCase learnt(EgressCase before);
  std::mt19937& engine() { return random_; }

 private:
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random_() % choices.size()));
  }
  std::string text(std::initializer_list<std::string_view> choices) { return std::string(oneOf(choices)); }
  bool oneIn(std::uint32_t n) { return random_() % n == 0; }
  template <typename Make>
  auto some(Make&& make) {
    std::vector<decltype(make())> made;
    for (std::size_t left = 1 + random_() % 3; left > 0; --left) made.push_back(make());
    return made;
  }
  base::EgressRule rule(std::size_t number);
  void giveHttp(base::EgressRule& rule);
  base::EgressCallers callers();
  std::string hostname();
  base::IpNetwork network();
  base::EgressPorts ports();
  base::EgressPath path();
  std::string name();
  std::vector<std::uint8_t> address();
  EgressHttp http();
  base::Caller caller();
  void seeFirstBytes(EgressCase& made);
  void seeCaller(EgressCase& made);

  std::mt19937 random_;
};

}  // namespace sluice::routing::test
