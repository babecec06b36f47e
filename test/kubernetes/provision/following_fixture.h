// Lets a test follow objects of a FakeApi by one of the classes that read those of Gateways.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "test/kubernetes/fake_api.h"

namespace sluice::kubernetes {

/// Returns the members of the metadata of an object with the controller's label that the Gateway with this uid owns.
inline std::string labelledFor(const std::string& owner) {
  return R"("labels":{"app.kubernetes.io/managed-by":"sluice-controller"},)"
         R"("ownerReferences":[{"kind":"Gateway","name":"egress","uid":")" +
         owner + R"("}])";
}

/// A test derives from it with the interface that the follower calls, and counts the calls in `changes`.
template <typename Follower, typename User>
class FollowingFixture : public testing::Test, protected User {
 protected:
  /// `more` are further arguments of the follower's constructor.
  template <typename... More>
  explicit FollowingFixture(More... more)
      : follower(std::make_unique<Follower>(rig.client, static_cast<User&>(*this), std::move(more)...)) {}
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    follower.reset();
  }
  /// Runs something inside a Turn, and answers the requests that follow from it.
  template <typename Do>
  void act(Do&& action) {
    rig.inTurn([&] { action(*follower); });
    api.serve();
  }

  ApiRig rig;
  FakeApi api{rig};
  int changes = 0;
  std::unique_ptr<Follower> follower;
};

}  // namespace sluice::kubernetes
