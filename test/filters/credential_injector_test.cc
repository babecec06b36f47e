#include "filters/credential_injector.h"

#include <gtest/gtest.h>

#include "test/filters/filter_rig.h"

namespace sluice::filters {
namespace {

using processing::Phase;
using processing::Verdict;
using test::FilterRig;

constexpr const char* kOnlyTheRef = "{secretRef: {name: token}}";

class CredentialInjector : public ::testing::Test {
 protected:
  CredentialInjector() { rig_.keep("demo/token/key", "k-1"); }

  FilterRig rig_{credentialInjector()};
};

TEST_F(CredentialInjector, SendsABearerTokenForASecretRefAlone) {
  ASSERT_EQ(rig_.make(kOnlyTheRef), "");
  rig_.request({{"accept", "*/*"}});
  EXPECT_EQ(rig_.run(Phase::kRequestHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.requestFields(), "accept=*/*;authorization=Bearer k-1;");
}

TEST_F(CredentialInjector, ReadsTheKeyOfAnotherNamespace) {
  rig_.keep("platform-secrets/openai/a", "wrong");
  rig_.keep("platform-secrets/openai/b", "right");
  ASSERT_EQ(rig_.make("{secretRef: {name: openai, namespace: platform-secrets, key: b}}"), "");
  rig_.request({});
  rig_.run(Phase::kBackendRequest);
  EXPECT_EQ(rig_.requestFields(), "authorization=Bearer right;");
}

TEST_F(CredentialInjector, ReplacesTheClientsCredential) {
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, header: X-Api-Key}"), "");
  rig_.request({{"x-api-key", "a"}, {"x_api_key", "b"}, {"x-api_key", "c"}, {"x-api-key2", "d"}, {"x-api-key", "e"}});
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "x-api-key2=d;x-api-key=k-1;");
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, header: x_api_key}"), "");
  rig_.request({{"x-api-key", "a"}});
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "x_api_key=k-1;");
}

TEST_F(CredentialInjector, RemovesWhatTheClientSentInOtherWellKnownFields) {
  const FilterRig::Fields all = {{"authorization", "mine"}, {"x_api_key", "mine"},      {"x-api-key", "mine"},
                                 {"api-key", "mine"},       {"x-goog-api-key", "mine"}, {"accept", "*/*"}};
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, header: x-api-key}"), "");
  rig_.sent(all);
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "accept=*/*;x-api-key=k-1;");
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, queryParam: key}"), "");
  rig_.sent(all);
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "accept=*/*;");
}

TEST_F(CredentialInjector, KeepsWhatOtherStepsHavePutInOtherFields) {
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, header: x-api-key}"), "");
  rig_.request({{"authorization", "of a filter"}});
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "authorization=of a filter;x-api-key=k-1;");
}

TEST_F(CredentialInjector, WritesThePrefixBeforeTheCredential) {
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, prefix: 'Token '}"), "");
  rig_.request({});
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "authorization=Token k-1;");
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, prefix: ''}"), "");
  rig_.request({{"authorization", "Basic mine"}});
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "authorization=k-1;");
}

TEST_F(CredentialInjector, MakesBasicOfUsernameAndPassword) {
  rig_.keep("demo/login/username", "Aladdin\n");
  rig_.keep("demo/login/password", "open sesame\n");
  ASSERT_EQ(rig_.make("{secretRef: {name: login}, basic: true}"), "");
  rig_.request({});
  rig_.run(Phase::kRequestHeaders);
  EXPECT_EQ(rig_.requestFields(), "authorization=Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==;");
}

TEST_F(CredentialInjector, ReplacesTheClientsQueryParameter) {
  rig_.keep("demo/odd/key", "a&b=c");
  ASSERT_EQ(rig_.make("{secretRef: {name: odd}, queryParam: api key}"), "");
  rig_.request({{"authorization", "mine"}}, "/v1?api+key=x&q=1&API%20KEY=y");
  EXPECT_EQ(rig_.run(Phase::kRequestHeaders).kind(), Verdict::Kind::kContinue);
  EXPECT_EQ(rig_.target(), "/v1?q=1&api%20key=a%26b%3Dc");
  EXPECT_EQ(rig_.requestFields(), "authorization=mine;");
}

TEST_F(CredentialInjector, RefusesAQueryParameterForARequestWithoutAPath) {
  ASSERT_EQ(rig_.make("{secretRef: {name: token}, queryParam: key}"), "");
  rig_.request({}, "*");
  const Verdict verdict = rig_.run(Phase::kRequestHeaders);
  ASSERT_EQ(verdict.kind(), Verdict::Kind::kReply);
  EXPECT_EQ(verdict.reply().error.status, 400);
  EXPECT_EQ(rig_.target(), "*");
}

TEST_F(CredentialInjector, RefusesTraceWhichWouldEchoTheCredential) {
  for (const char* config : {kOnlyTheRef, "{secretRef: {name: token}, queryParam: key}"}) {
    ASSERT_EQ(rig_.make(config), "");
    rig_.request({});
    rig_.method(http::Method::kTrace);
    const Verdict verdict = rig_.run(Phase::kRequestHeaders);
    ASSERT_EQ(verdict.kind(), Verdict::Kind::kReply);
    EXPECT_EQ(verdict.reply().error.status, 403);
    EXPECT_EQ(rig_.requestFields() + rig_.target(), "/");
  }
}

TEST_F(CredentialInjector, DropsOneLineBreakAtTheEnd) {
  for (const char* bytes : {"k-2\n", "k-2\r\n"}) {
    rig_.keep("demo/token/key", bytes);
    ASSERT_EQ(rig_.make(kOnlyTheRef), "");
    rig_.request({});
    rig_.run(Phase::kRequestHeaders);
    EXPECT_EQ(rig_.requestFields(), "authorization=Bearer k-2;");
  }
}

TEST_F(CredentialInjector, RefusesBytesThatCouldSplitAMessageAndNeverQuotesThem) {
  for (const char* bytes : {"k\r\nX-Inj: 1", "k\n\n", "k\r", "k\tk", "k\x7F"}) {
    rig_.keep("demo/token/key", bytes);
    EXPECT_EQ(rig_.make(kOnlyTheRef), "InvalidSecretRef: secretRef: what Secret token holds holds control characters");
  }
  rig_.keep("demo/token/key", std::string("k\0k", 3));
  EXPECT_EQ(rig_.make("{secretRef: {name: token, key: key}, queryParam: k}"),
            "InvalidSecretRef: secretRef: what Secret token holds in key holds control characters");
  rig_.keep("demo/token/key", "\n");
  EXPECT_EQ(rig_.make(kOnlyTheRef), "InvalidSecretRef: secretRef: what Secret token holds is empty");
  rig_.keep("demo/token/key", "k ");
  EXPECT_EQ(rig_.make(kOnlyTheRef), "InvalidSecretRef: secretRef: what Secret token holds begins or ends with a space");
}

TEST_F(CredentialInjector, ReportsWhyTheSecretIsMissing) {
  EXPECT_EQ(rig_.make("{secretRef: {name: none}}"), "InvalidSecretRef: secretRef: Secret demo/none/ does not exist");
  EXPECT_EQ(rig_.make("{secretRef: {name: token, namespace: other}}"),
            "RefNotPermitted: secretRef: no ReferenceGrant permits it");
  rig_.keep("demo/login/username", "a:b");
  EXPECT_EQ(rig_.make("{secretRef: {name: login}, basic: true}"),
            "InvalidSecretRef: secretRef: username holds a colon");
  rig_.keep("demo/login/username", "a");
  EXPECT_EQ(rig_.make("{secretRef: {name: login}, basic: true}"),
            "InvalidSecretRef: secretRef: Secret demo/login/password does not exist");
}

TEST_F(CredentialInjector, SendsNoCredentialInPlaintextUnlessAllowed) {
  rig_.exposed = true;
  EXPECT_TRUE(rig_.make(kOnlyTheRef).starts_with("InsecureCredential: "));
  EXPECT_TRUE(rig_.make("{secretRef: {name: token}, allowPlaintext: false}").starts_with("InsecureCredential: "));
  EXPECT_EQ(rig_.make("{secretRef: {name: token}, allowPlaintext: true}"), "");
}

TEST_F(CredentialInjector, RefusesConfigsThatContradictThemselves) {
  EXPECT_EQ(rig_.make("{secretRef: {name: token}, header: a, queryParam: b}"),
            "InvalidConfig: header and queryParam exclude each other");
  EXPECT_EQ(rig_.make("{secretRef: {name: token}, basic: true, queryParam: b}"),
            "InvalidConfig: basic and queryParam exclude each other");
  EXPECT_EQ(rig_.make("{secretRef: {name: token}, basic: true, prefix: b}"),
            "InvalidConfig: basic and prefix exclude each other");
  EXPECT_EQ(rig_.make("{secretRef: {name: token, key: key}, basic: true}"),
            "InvalidConfig: basic takes username and password, and no secretRef.key");
  EXPECT_EQ(rig_.make("{secretRef: {name: token}, header: Host}"),
            "InvalidConfig: header: host belongs to the gateway and cannot be changed");
  EXPECT_EQ(rig_.make("{secretRef: {name: token}, prefix: \"a\\r\\nb: \"}"),
            "InvalidConfig: prefix: holds control characters or begins with a space");
}

}  // namespace
}  // namespace sluice::filters
