// Tests the records of workers about whether a Backend is reachable.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "test/upstream/pool_rig.h"

namespace sluice::upstream {
namespace {

class Reach : public ::testing::Test {
 protected:
  void begin(const PoolOptions& options = {}) {
    rig_ = std::make_unique<PoolRig>(options);
    auto plan = std::make_shared<routing::BackendPlan>(*rig_->plan);
    plan->reach = health_;
    rig_->plan = plan;
  }
  processing::ServerReach announced() { return health_->announce(rig_->worker.clock().wallNow()).reach; }
  void refuseNext() {
    const std::size_t wire = rig_->dialled();
    const std::size_t request = rig_->want();
    ASSERT_EQ(rig_->dialled(), wire + 1);
    rig_->wire(wire).refuse();
    EXPECT_TRUE(rig_->failed(request));
  }

  std::string why() { return health_->announce(rig_->worker.clock().wallNow() + std::chrono::seconds(2)).why; }

  std::shared_ptr<const routing::BackendReach> health_ = std::make_shared<const routing::BackendReach>();
  std::unique_ptr<PoolRig> rig_;
};

TEST_F(Reach, IsLostByConnectionsThatAreRefusedAndComesBackWithOneThatServes) {
  begin();
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) {
    EXPECT_EQ(announced(), processing::ServerReach::kPending);
    refuseNext();
  }
  EXPECT_EQ(announced(), processing::ServerReach::kDegraded);
  const std::size_t wire = rig_->dialled();
  rig_->want();
  rig_->accept(wire);
  EXPECT_EQ(announced(), processing::ServerReach::kActive);
}

TEST_F(Reach, IsNotLostAsLongAsAnotherConnectionServes) {
  begin();
  rig_->want();
  rig_->accept(0);
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) refuseNext();
  EXPECT_EQ(announced(), processing::ServerReach::kActive);
}

TEST_F(Reach, IsLostByANameThatDoesNotResolve) {
  begin();
  base::Error unknown = base::Error::upstream(base::ErrorType::kDnsError, "backend.test: Domain name not found");
  unknown.note = "asked 192.0.2.53:53";
  rig_->resolver.know(PoolRig::kHost, unknown);
  EXPECT_TRUE(rig_->failed(rig_->want()));
  EXPECT_EQ(why(), "backend.test: Domain name not found (asked 192.0.2.53:53)");
}

TEST_F(Reach, IsLostByANameThatDoesNotResolveForRequestsThatAskForAddresses) {
  begin();
  rig_->resolver.know(PoolRig::kHost, base::Error::upstream(base::ErrorType::kDnsError, "no"));
  EXPECT_TRUE(rig_->failed(rig_->ask()));
  EXPECT_EQ(why(), "no");
}

TEST_F(Reach, IsLostByAnAddressThatTheGuardDenies) {
  for (const bool asks : {false, true}) {
    begin();
    rig_->resolver.know(PoolRig::kHost, {"10.1.2.3"});
    EXPECT_TRUE(rig_->failed(asks ? rig_->ask() : rig_->want()));
    EXPECT_EQ(
        why(),
        "the backend's address is not allowed (10.1.2.3:8080 is private, and addressGuard.allow does not name it)");
  }
}

class ReachOfTls : public Reach {
 protected:
  void begin() { Reach::begin({.tls = true}); }
  /// Opens a connection that the server then ends by an alert.
  void reject() {
    const std::size_t wire = rig_->dialled();
    rig_->want();
    rig_->accept(wire);
    rig_->wire(wire).fail(base::Error::upstream(base::ErrorType::kTlsCertificateError, "refused"));
  }
};

// In TLS 1.3 the server refuses a certificate of its client only then.
TEST_F(ReachOfTls, IsLostByConnectionsThatAreRejectedWhenTheyAreOpen) {
  begin();
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) reject();
  EXPECT_EQ(announced(), processing::ServerReach::kDegraded);
  EXPECT_EQ(why(), "refused (192.0.2.1:8080)");
  const std::size_t wire = rig_->dialled();
  rig_->want();
  rig_->accept(wire);
  EXPECT_EQ(announced(), processing::ServerReach::kDegraded) << "the server has not answered";
  rig_->wire(wire).deliver("HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(announced(), processing::ServerReach::kActive);
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) reject();
  EXPECT_EQ(announced(), processing::ServerReach::kActive) << "another connection is answered";
}

}  // namespace
}  // namespace sluice::upstream
