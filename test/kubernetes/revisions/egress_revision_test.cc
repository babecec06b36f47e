#include "proxy/kubernetes/revisions/egress_revision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/kubernetes/revisions/revision_objects.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;
using testing::Not;

const RevisedGateway kRevisedGateway{"gateway.networking.k8s.io/v1", "Gateway", "demo", "egress", "u-1"};

TEST(EgressRevision, BelongsToItsGateway) {
  EXPECT_EQ(
      egressRevisionJson(kRevisedGateway, {"abc", "", "ZGF0YQ=="}),
      R"({"apiVersion":"sluice.dev/v1alpha1","kind":"EgressRevision","metadata":{"name":"egress-abc","namespace":"demo",)"
      R"("labels":{"gateway.networking.k8s.io/gateway-name":"egress"},"ownerReferences":[{"apiVersion":)"
      R"("gateway.networking.k8s.io/v1","kind":"Gateway","name":"egress","uid":"u-1"}]},"spec":{"gatewayRef":{"group":)"
      R"("gateway.networking.k8s.io","kind":"Gateway","name":"egress"},"revision":"abc","data":"ZGF0YQ=="}})");
  EXPECT_THAT(egressRevisionJson(kRevisedGateway, {"abc", "", ""}), Not(HasSubstr("\"data\"")));
}

TEST(EgressRevision, NamesItsCanary) {
  EXPECT_THAT(egressRevisionJson(kRevisedGateway, {"abc", "pod-1", ""}),
              HasSubstr(R"("revision":"abc","canary":"pod-1"})"));
  EgressRevision revision = revisionOf(revisionItem("abc", R"(,"canary":"pod-1")"));
  EXPECT_EQ(revision.canary, "pod-1");
  EXPECT_FALSE(revision.validated);
  const std::string pending = revisionStatusPatch(revision, base::someTime());
  EXPECT_THAT(pending, HasSubstr(R"({"type":"Validated","status":"False","reason":"CanaryPending")"));
  revision.validated = true;
  const std::string served = revisionStatusPatch(revision, base::someTime());
  EXPECT_THAT(served, HasSubstr(R"({"type":"Validated","status":"True","reason":"CanaryServes")"));
  const auto patch = content::parseJson(served);
  const EgressRevision read =
      revisionOf(revisionItem("abc", R"(,"canary":"pod-1")", content::writeJson(*patch->find("status"))));
  EXPECT_TRUE(read.validated);
}

TEST(EgressRevision, HasANameThatTheApiServerTakes) {
  RevisedGateway gateway = kRevisedGateway;
  gateway.name = std::string(253, 'g');
  EXPECT_LE(nameOfRevision(gateway.name, "0123456789ab").size(), 253u);
  const std::string name = nameOfRevision(gateway.name, "0123456789ab");
  gateway.name.back() = 'h';
  EXPECT_NE(nameOfRevision(gateway.name, "0123456789ab"), name) << "names that differ at the end";
}

TEST(EgressRevision, IsReadAsItIs) {
  const std::string status =
      R"({"state":"Refused","served":"1/2","lastServed":"2026-11-02T00:00:00Z","conditions":[{"type":"Served",)"
      R"("status":"False","message":"one refuses it","lastTransitionTime":"2026-11-03T00:00:00Z"}]})";
  const EgressRevision read = revisionOf(revisionItem("abc", R"(,"active":true,"data":"ZA==")", status), true);
  EXPECT_EQ(read.path(), "/apis/sluice.dev/v1alpha1/namespaces/demo/egressrevisions/egress-abc");
  EXPECT_EQ(read.gateway, "egress");
  EXPECT_EQ(read.revision, "abc");
  EXPECT_TRUE(read.active);
  EXPECT_EQ(read.data, "ZA==");
  EXPECT_EQ(read.state, RevisionState::kRefused);
  EXPECT_EQ(read.served, "1/2");
  EXPECT_EQ(read.message, "one refuses it");
  EXPECT_EQ(revisionOf(revisionItem("abc", R"(,"data":"ZA==")"), true).data, "") << "nobody reads what is not active";
}

TEST(EgressRevision, IsActiveOnlyOnceTheControllerHasWrittenItsStatus) {
  const std::string active = R"(,"active":true,"data":"ZA==")";
  const EgressRevision created = revisionOf(revisionItem("abc", active), true);
  EXPECT_FALSE(created.judged);
  EXPECT_FALSE(created.active) << "a Pod may have created it so";
  EXPECT_EQ(created.data, "");
  EXPECT_FALSE(revisionOf(revisionItem("abc", active, R"({"state":"Odd"})"), true).active);
  EXPECT_TRUE(revisionOf(revisionItem("abc", active, R"({"state":"Pending"})"), true).active);
}

TEST(EgressRevision, WasServedIfTheControllerHasWrittenSo) {
  const auto wasServed = [](const std::string& status) {
    return revisionOf(revisionItem("abc", "", status)).wasServed();
  };
  EXPECT_FALSE(wasServed(""));
  EXPECT_FALSE(wasServed(R"({"lastServed":"2026-11-02T00:00:00Z"})")) << "it has no state";
  EXPECT_FALSE(wasServed(R"({"state":"Pending"})"));
  EXPECT_FALSE(wasServed(R"({"state":"Tainted"})"));
  EXPECT_TRUE(wasServed(R"({"state":"Refused","lastServed":"2026-11-02T00:00:00Z"})"));
  for (const char* state : {"Served", "PartlyServed", "Superseded"}) {
    EXPECT_TRUE(wasServed(R"({"state":")" + std::string(state) + "\"}")) << state;
  }
}

TEST(EgressRevision, CountsOnlyByTheNameOfItsGatewayAndRevision) {
  const auto refusal = [](const std::string& from, const std::string& to) {
    std::string text = revisionItem("abc");
    text.replace(text.find(from), from.size(), to);
    const auto read = readEgressRevision(*content::parseJson(text), false);
    return read.ok() ? "" : read.error().detail;
  };
  EXPECT_EQ(refusal("abc", "abc"), "");
  EXPECT_EQ(refusal("egress-abc", "mine"), "its Gateway and revision have the name egress-abc");
  EXPECT_EQ(refusal(R"("revision":"abc")", R"("revision":"abd")"), "its Gateway and revision have the name egress-abd");
  EXPECT_EQ(refusal(R"("kind":"Gateway","name":"egress")", R"("kind":"Gateway","name":"other")"),
            "its Gateway and revision have the name other-abc");
}

TEST(EgressRevision, KeepsTheTimeOfAConditionThatHasNotChanged) {
  const std::string status = R"({"state":"Served","conditions":[{"type":"Served","status":"True","message":"",)"
                             R"("lastTransitionTime":"2026-11-03T00:00:00Z"},{"type":"Tainted","status":"False",)"
                             R"("message":"","lastTransitionTime":"2026-11-02T00:00:00Z"}]})";
  EgressRevision revision = revisionOf(revisionItem("abc", "", status));
  revision.state = RevisionState::kTainted;
  revision.message = "all fail";
  const std::string patch = revisionStatusPatch(revision, base::someTime());
  const std::string now = R"("lastTransitionTime":"2026-01-31T23:59:58Z")";
  EXPECT_THAT(patch, HasSubstr(R"({"type":"Served","status":"False","reason":"Tainted","message":"all fail",)" + now));
  EXPECT_THAT(
      patch,
      HasSubstr(R"({"type":"Tainted","status":"True","reason":"AllReplicasFailing","message":"all fail",)" + now));
  revision.state = RevisionState::kServed;
  EXPECT_THAT(revisionStatusPatch(revision, base::someTime()), HasSubstr("2026-11-03T00:00:00Z"));
}

TEST(EgressRevision, SaysWhichSecretsItsPodsCouldRead) {
  EgressRevision revision = revisionOf(revisionItem("b", "", R"({"secrets":[{"namespace":"demo","name":"s"}]})"));
  EXPECT_EQ(revision.secrets, (std::set<ApiObjectKey>{{"demo", "s"}}));
  revision.secrets.emplace("vault", "t");
  EXPECT_THAT(revisionStatusPatch(revision, base::someTime()),
              HasSubstr(R"("secrets":[{"namespace":"demo","name":"s"},{"namespace":"vault","name":"t"}])"));
}

TEST(EgressRevision, IsRefusedIfAFieldIsMissing) {
  for (const char* field : {"revision", "gatewayRef", "uid"}) {
    std::string text = revisionItem("abc");
    text.replace(text.find("\"" + std::string(field) + "\""), 3, "\"xx");
    const auto object = content::parseJson(text);
    EXPECT_FALSE(readEgressRevision(*object, false).ok()) << field;
  }
}

}  // namespace
}  // namespace sluice::kubernetes
