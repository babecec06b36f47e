// Tests identity.forward through the binary: Backends learn the caller from the gateway, and from nobody else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/support/h2_client.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The request of a client that would like to be somebody else.
constexpr const char* kPretending =
    "GET / HTTP/1.1\r\nHost: a\r\nX-Caller: admin/root\r\nx-caller: admin/second\r\nX_Caller: admin/third\r\n"
    "Connection: x-caller\r\nX-Kept: yes\r\n\r\n";

class ForwardedIdentity : public testing::Test {
 protected:
  void start(const std::string& forward = ", forward: {header: X-Caller}") {
    stage_.spec.settings = CallerStage::identitySettings(forward);
    stage_.start();
  }
  /// Returns the head that the origin has got of such a request.
  std::string headOf(std::uint16_t listener, const std::optional<CertifiedKey>& client) const {
    EXPECT_EQ(stage_.status(listener, client, kPretending), 200);
    return stage_.origin.heads().back();
  }

  CallerStage stage_;
};

TEST_F(ForwardedIdentity, NamesTheAccountAndNobodyElse) {
  start();
  const std::string head = headOf(stage_.secure, stage_.account("shop", "cart"));
  EXPECT_THAT(head, HasSubstr("x-caller: shop/cart\r\n"));
  EXPECT_EQ(countOf(head, "caller"), 1U) << head;
  EXPECT_THAT(head, Not(HasSubstr("admin")));
  EXPECT_EQ(countOf(head, "x-kept: yes"), 1U);
}

TEST_F(ForwardedIdentity, NamesThePrincipalWithoutAnAccount) {
  start();
  const std::string foreign = spiffeId("shop", "cart", "elsewhere.test");
  EXPECT_THAT(headOf(stage_.secure, clientOf(stage_.authority, {foreign})), HasSubstr("x-caller: " + foreign + "\r\n"));
}

TEST_F(ForwardedIdentity, IsRemovedWithoutACaller) {
  start();
  const CertifiedKey forged = clientOf(makeAuthority("Client Authority"), {spiffeId("shop", "cart")});
  for (const auto& [listener, client] :
       {std::pair<std::uint16_t, std::optional<CertifiedKey>>{stage_.lenient, std::nullopt},
        {stage_.lenient, forged},
        {stage_.unasked, stage_.account("shop", "cart")}}) {
    const std::string head = headOf(listener, client);
    EXPECT_EQ(countOf(head, "caller"), 0U) << head;
    EXPECT_EQ(countOf(head, "x-kept: yes"), 1U);
  }
}

TEST_F(ForwardedIdentity, IsRemovedFromHttp2Requests) {
  start();
  H2Lines request = h2::get("/", "https");
  request.emplace_back("x-caller", "admin/root");
  request.emplace_back("x_caller", "admin/second");
  for (const bool known : {true, false}) {
    const TlsDoor door = known ? stage_.door(stage_.secure, stage_.account("shop", "cart"), "h2")
                               : stage_.door(stage_.lenient, std::nullopt, "h2");
    H2Client client(door.port());
    client.send(h2::headers(1, request, true));
    EXPECT_TRUE(client.readStream(1));
    EXPECT_EQ(client.status(1), "200");
    const std::string head = stage_.origin.heads().back();
    EXPECT_EQ(countOf(head, "caller"), known ? 1U : 0U) << head;
    EXPECT_THAT(head, Not(HasSubstr("admin")));
  }
}

TEST_F(ForwardedIdentity, IsRemovedByTheProxy) {
  start();
  const std::string host = "origin.test:" + std::to_string(stage_.origin.port());
  EXPECT_EQ(stage_.status(stage_.proxy, stage_.account("shop", "cart"),
                          "GET " + stage_.originUrl() + " HTTP/1.1\r\nHost: " + host +
                              "\r\nX-Caller: admin/root\r\nX_Caller: admin/second\r\n\r\n"),
            200);
  EXPECT_THAT(stage_.origin.heads().back(), Not(HasSubstr("admin")));
}

TEST_F(ForwardedIdentity, IsTheSameInEachAttempt) {
  const RawOrigin busy(RawOrigin::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
  stage_.spec.backends = {{.port = busy.port()}};
  stage_.documents = CallerStage::routed("    - retry: {codes: [503], attempts: 2, backoff: 1ms}\n" + backendRefs());
  start();
  EXPECT_EQ(stage_.status(stage_.secure, stage_.account("shop", "cart"), kPretending), 503);
  ASSERT_EQ(busy.heads().size(), 3U);
  for (const std::string& head : busy.heads()) {
    EXPECT_THAT(head, HasSubstr("x-caller: shop/cart\r\n"));
    EXPECT_EQ(countOf(head, "caller"), 1U) << head;
  }
}

// No field is configured, so the fields of the client are like any other.
TEST_F(ForwardedIdentity, IsNotSentWithoutAField) {
  start("");
  EXPECT_EQ(stage_.status(stage_.secure, stage_.account("shop", "cart"),
                          "GET / HTTP/1.1\r\nHost: a\r\nX-Caller: own\r\n\r\n"),
            200);
  EXPECT_EQ(countOf(stage_.origin.heads().back(), "x-caller: own"), 1U);
  EXPECT_EQ(countOf(stage_.origin.heads().back(), "shop"), 0U);
}

}  // namespace
}  // namespace sluice::test
