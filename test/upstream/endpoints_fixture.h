// A fixture of a Backend with endpoints, whose dials the test answers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {

inline PoolOptions service(const std::vector<std::string>& endpoints) {
  PoolOptions options;
  options.endpoints = endpoints;
  return options;
}

class EndpointsFixture : public ::testing::Test {
 protected:
  void begin(const PoolOptions& options) {
    options_ = options;
    rig_ = std::make_unique<PoolRig>(options);
  }
  void become(const std::vector<std::string>& endpoints) {
    options_.endpoints = endpoints;
    rig_->plan = PoolRig::planOf("backend", options_);
    rig_->adopt(PoolRig::policyOf(options_), {rig_->plan});
  }
  std::string ip(std::size_t wire) { return rig_->wire(wire).address().ip(); }
  /// Accepts or refuses each dialled connection, until none is dialled any more.
  void answerDials(const std::set<std::string>& dead = {}) {
    for (; next_ < rig_->dialled(); ++next_) {
      if (dead.contains(ip(next_))) {
        rig_->wire(next_).refuse();
      } else {
        rig_->accept(next_);
      }
    }
  }
  /// Returns the address to which a request went.
  std::string endpointOf(std::size_t request) {
    Connection* connection = rig_->upstreams->find(rig_->connectionOf(request));
    return connection == nullptr ? "none" : connection->peer().ip();
  }

  PoolOptions options_;
  std::unique_ptr<PoolRig> rig_;
  std::size_t next_ = 0;
};

}  // namespace sluice::upstream
