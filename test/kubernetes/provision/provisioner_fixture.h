// A Provisioner whose requests a test answers, and objects for it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "proxy/kubernetes/provision/provisioner.h"
#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {

inline ProvisionedObject deployment(const std::string& name, const std::string& body = "{}") {
  return {&provisioned::kDeployment, "demo", name, body, "Gateway demo/" + name};
}
inline ProvisionedObject account(const std::string& owner) {
  return {&provisioned::kServiceAccount, "demo", "a", "{}", "Gateway demo/a", owner};
}
inline ProvisionedObject objectOfA(const ProvisionedKind& kind, const std::string& nameSpace = "demo") {
  return {&kind, nameSpace, "a", "{}", "Gateway demo/a"};
}
inline std::string itemOf(const std::string& name, int generation, const std::string& gateway = "egress") {
  return R"({"metadata":{"namespace":"demo","name":")" + name + R"(","uid":"u-)" + name + R"(","generation":)" +
         std::to_string(generation) + R"(,"labels":{"sluice.dev/gateway-namespace":"demo",)" +
         R"("gateway.networking.k8s.io/gateway-name":")" + gateway + R"("}}})";
}

class ProvisionerTest : public testing::Test, public ProvisionerUser {
 protected:
  void want(ProvisionPlan plan) {
    rig.inTurn([&] { provisioner->want(std::move(plan)); });
  }
  void lead(bool leads = true) {
    rig.inTurn([&] { provisioner->lead(leads); });
  }
  /// Answers the lists of all kinds; that of Deployments has these items.
  void answerLists(const std::string& deployments = "") {
    for (std::size_t i = 0; i < provisionedKinds().size(); ++i) {
      const std::string target = rig.target(answered);
      EXPECT_THAT(target, testing::HasSubstr("?labelSelector=app.kubernetes.io/managed-by%3Dsluice-controller"));
      const bool ofDeployments = target.starts_with("/apis/apps/v1/deployments");
      answer(R"({"items":[)" + (ofDeployments ? deployments : "") + "]}");
    }
  }
  /// Answers the lists of all kinds before that one, whose list is requested next.
  void answerListsBefore(const ProvisionedKind& kind) {
    while (!rig.target(answered).starts_with(kind.path() + "?")) answer(R"({"items":[]})");
  }
  void answerListsFrom(const ProvisionedKind& kind) {
    answerListsBefore(kind);
    for (bool seen = false; !seen;) {
      seen = rig.target(answered).starts_with(provisionedKinds().back()->path() + "?");
      answer(R"({"items":[]})");
    }
  }
  /// Answers the requests that create this object, whose name is free.
  void answerCreationOf(const ProvisionedObject& object, std::uint16_t status = 201) {
    EXPECT_THAT(rig.target(answered), testing::StartsWith(object.kind->path(object.nameSpace) + "?fieldSelector="));
    answer(R"({"items":[]})");
    EXPECT_EQ(rig.target(answered), object.path() + "?fieldManager=sluice-controller");
    answer(status == 201 ? itemOf(object.name, 1) : statusBody(status, "no " + object.path()), status);
  }
  void answer(const std::string& body, std::uint16_t status = 200) { rig.answer(answered++, status, body); }
  /// Answers whether something has the name of an object that is to be made.
  void answerFind(const std::string& name, const std::string& items = "") {
    EXPECT_EQ(rig.target(answered), "/apis/apps/v1/namespaces/demo/deployments?fieldSelector=metadata.name%3D" + name);
    answer(R"({"items":[)" + items + "]}");
  }
  /// Answers the requests that create a Deployment, whose name is free.
  void answerCreation(const std::string& name) {
    answerFind(name);
    EXPECT_EQ(rig.target(answered), std::string(kPath) + name + "?fieldManager=sluice-controller");
    answer(itemOf(name, 1), 201);
  }
  bool asksMore() const { return rig.requests() > answered; }
  void TearDown() override {
    const net::Worker::Turn turn(rig.worker);
    provisioner.reset();
  }

  static constexpr const char* kPath = "/apis/apps/v1/namespaces/demo/deployments/";
  std::size_t answered = 0;
  int changes = 0;
  ApiRig rig;
  std::unique_ptr<Provisioner> provisioner = std::make_unique<Provisioner>(rig.client, *this);

 private:
  void onProvisioned() override { ++changes; }
};

}  // namespace sluice::kubernetes
