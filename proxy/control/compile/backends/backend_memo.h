// The BackendPlans of the last compilation: one that did not change stays the same object, so that what was made of it
// stays too.
//
// What comes out of compile() never depends on it. Loading thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "proxy/routing/snapshot.h"

namespace sluice::control {

class BackendMemo {
 public:
  /// Between two of these is one compilation; the plans that it had no more are forgotten.
  void begin() { ++round_; }
  void end() {
    std::erase_if(plans_, [this](const auto& each) { return each.second.round != round_; });
  }
  /// `plan`, or the one before that says the same.
  std::shared_ptr<const routing::BackendPlan> shared(std::shared_ptr<const routing::BackendPlan> plan);

 private:
  struct Entry {
    std::shared_ptr<const routing::BackendPlan> plan;
    std::uint64_t round = 0;
  };
  std::map<std::pair<std::string, std::string>, Entry> plans_;  // by name and identity
  std::uint64_t round_ = 0;
};

}  // namespace sluice::control
