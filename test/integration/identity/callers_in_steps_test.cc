// Tests what payload processors learn of callers through the binary: nothing before authentication, whatever the way,
// and everything after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/support/node/grpc_origin.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The value of a field that a step sets: the four facts about the caller, each behind a bar.
constexpr const char* kToldByExpression =
    R"('"|" + source.namespace + "|" + source.serviceAccount + "|" + source.principal + "|" + source.assurance')";
constexpr const char* kToldByLua = R"(function request_headers(m)
  local source = m.source
  m.headers:set(m.config.field, "|" .. (source.namespace or "") .. "|" .. (source.serviceAccount or "") .. "|" ..
      (source.principal or "") .. "|" .. (source.assurance or ""))
end)";

std::string toldOf(const LoggedCaller& caller) {
  return "|" + caller.nameSpace + "|" + caller.serviceAccount + "|" + caller.principal + "|" + caller.assurance;
}

/// Returns two uses of a type, one of which runs before authentication.
std::string beforeAndAfter(const std::string& name, const std::string& type, const std::string& early,
                           const std::string& late) {
  const std::string begin = ", type: '" + type + "', phase: request-headers, config: {";
  return "{name: " + name + "-early" + begin + early + "}, preAuth: true}, {name: " + name + "-late" + begin + late +
         "}}";
}
std::string setting(const std::string& field) {
  return "request: {setHeaders: [{name: " + field + ", value: " + kToldByExpression + "}]}";
}

class CallersInSteps : public testing::Test {
 protected:
  static std::string rules(const std::string& uses) {
    return CallerStage::routed("    - filters: [" + inlined(uses) + "]\n" + backendRefs());
  }
  /// Returns the head that the origin has got of a request.
  std::string headOf(std::uint16_t listener, const std::optional<CertifiedKey>& client) const {
    EXPECT_EQ(stage_.status(listener, client), 200);
    return stage_.origin.heads().empty() ? std::string() : stage_.origin.heads().back();
  }
  void expectTold(const std::string& early, const std::string& late) const {
    const std::string known = headOf(stage_.secure, stage_.account("shop", "cart"));
    EXPECT_THAT(known, HasSubstr(late + ": " + toldOf(certifiedCaller("shop", "cart")) + "\r\n"));
    for (const std::string& head : {known, headOf(stage_.lenient, std::nullopt)}) {
      // Not even the level None is told, which would say that there is no caller.
      EXPECT_THAT(head, HasSubstr(early + ": ||||\r\n"));
    }
  }

  CallerStage stage_;
};

TEST_F(CallersInSteps, AreUnknownToExpressionsBeforeAuthentication) {
  stage_.documents = rules(beforeAndAfter("told", "sluice.dev/InProcess:v1", setting("x-early"), setting("x-late")));
  stage_.start();
  expectTold("x-early", "x-late");
}

TEST_F(CallersInSteps, AreUnknownToScriptsBeforeAuthentication) {
  stage_.spec.settings += "processorCatalogs: [{namespace: test, name: types}]\n";
  stage_.documents = rules(beforeAndAfter("told", "acme.test/Script:v1", "field: x-early", "field: x-late")) +
                     configMapOf("types", {{"script.yaml", entryOf("acme.test/Script:v1", "lua", "request-headers",
                                                                   "lua:\n" + blockOf("script", kToldByLua, "  "))}}) +
                     configMapOf("schema", {{"schema.json", R"({"type": "object"})"}});
  stage_.start();
  expectTold("x-early", "x-late");
}

// A step of the Backend runs later than those of the route, with the same caller.
TEST_F(CallersInSteps, AreKnownToStepsOfTheBackend) {
  stage_.spec.backends[0].extensions =
      "[{name: told, type: 'sluice.dev/InProcess:v1', phase: request-headers, config: {" + setting("x-late") + "}}]";
  stage_.start();
  EXPECT_THAT(headOf(stage_.secure, stage_.account("bank", "teller")),
              HasSubstr("x-late: " + toldOf(certifiedCaller("bank", "teller")) + "\r\n"));
}

class CallersOfServers : public CallersInSteps {
 protected:
  /// Starts the gateway with a server that gets attributes of requests, before authentication or after it.
  void start(bool early) {
    stage_.spec.backends.push_back({.name = "guard", .hostname = "guard.test", .port = server_.port()});
    stage_.documents =
        rules("{name: guard, type: 'sluice.dev/ExtProc:v1'" + std::string(early ? ", preAuth: true" : "") +
              ", config: {backendRefs: [" + backendRef("guard") +
              "], requestAttributes: [source.namespace, source.serviceAccount, source.principal, "
              "source.assurance], processingMode: {responseHeaders: Skip}}}");
    stage_.start();
  }
  /// Returns the parts and attributes that the server has received on its next stream that is over.
  std::string heard() {
    const auto line = server_.process().waitForLine("heard ");
    return line ? *line : "nothing";
  }

  GrpcOrigin server_{std::nullopt, "ext_proc_server.mjs"};
};

TEST_F(CallersOfServers, AreNotToldBeforeAuthentication) {
  start(true);
  headOf(stage_.secure, stage_.account("shop", "cart"));
  EXPECT_THAT(heard(), AllOf(HasSubstr("request_headers"), Not(HasSubstr("shop")), Not(HasSubstr("Certificate")),
                             Not(HasSubstr("spiffe"))));
}

TEST_F(CallersOfServers, AreToldAfterAuthentication) {
  start(false);
  headOf(stage_.secure, stage_.account("shop", "cart"));
  EXPECT_THAT(heard(), HasSubstr("source.assurance=Certificate source.namespace=shop source.principal=" +
                                 spiffeId("shop", "cart") + " source.serviceAccount=cart"));
}

}  // namespace
}  // namespace sluice::test
