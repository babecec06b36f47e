// Tests that config/reference/identity.md has the refusals of the binary, and no others, and that callers have the
// names that it gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/wall_clock.h"
#include "test/support/reference_page.h"

namespace sluice::test {
namespace {

/// The outcome by its situation: "48 unknown_ca", "401 authentication_required", "200" or "closed".
using Refusals = std::map<std::string, std::string>;

Refusals refusalsOfTheIdentityPage() {
  Refusals refusals;
  for (const PageRow& row : pageTable(referencePage("identity.md"), "| situation | `AllowValidOnly` | what to do |")) {
    refusals[row.at(0)] = row.at(1);
  }
  return refusals;
}

/// The names of alerts that RFC 8446 section 6 gives them.
std::string alertName(int code) {
  static const std::map<int, std::string> kNames = {{42, "bad_certificate"},      {43, "unsupported_certificate"},
                                                    {44, "certificate_revoked"},  {45, "certificate_expired"},
                                                    {46, "certificate_unknown"},  {48, "unknown_ca"},
                                                    {116, "certificate_required"}};
  const auto found = kNames.find(code);
  return found != kNames.end() ? found->second : "alert " + std::to_string(code);
}

/// A gateway that refuses clients for every reason.
class RefusingListeners {
 public:
  RefusingListeners() {
    stage_.revoked = revocationList(stage_.authority, {revoked_});
    stage_.spec.startedBy = clock_.startedBy();
    for (const std::string& word : passed_.startedBy()) stage_.spec.startedBy.push_back(word);
    stage_.start();
  }

  Refusals refusals() {
    const std::string cart = spiffeId("shop", "cart");
    CertificateSpec expired;
    expired.notBefore = std::chrono::hours(-48);
    expired.notAfter = std::chrono::hours(-24);
    CertificateSpec server;
    server.extendedKeyUsage = "serverAuth";
    note("No certificate", std::nullopt);
    note("The certificate is of an authority that is not trusted", clientOf(makeAuthority(), {cart}));
    note("The certificate has expired", clientOf(stage_.authority, {cart}, expired));
    note("The certificate is revoked", revoked_);
    note("The certificate is not for clients", clientOf(stage_.authority, {cart}, server));
    noteLongConnections();
    return found_;
  }

 private:
  static std::string outcome(const TlsDoor& door, const ReceivedResponse& answer) {
    if (answer.status == 200) return "200";
    if (answer.status != 0) return "`" + std::to_string(answer.status) + "` `" + memberOf(answer.body, "code") + "`";
    return door.alert() != 0 ? "alert `" + alertName(door.alert()) + "`" : "closed";
  }
  void note(const std::string& situation, const std::optional<CertifiedKey>& client) {
    const TlsDoor door = stage_.door(stage_.secure, client);
    found_[situation] = outcome(door, askRaw(door.port()));
  }
  /// Two connections whose certificate expires, one of them to the proxy, and one without a certificate.
  void noteLongConnections() {
    const CertifiedKey cart = stage_.account("shop", "cart");
    const std::string host = "origin.test:" + std::to_string(stage_.origin.port());
    const std::string absolute = "GET " + stage_.originUrl() + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    const TlsDoor door = stage_.door(stage_.secure, cart);
    const TlsDoor proxyDoor = stage_.door(stage_.proxy, cart);
    const TlsDoor unaskedDoor = stage_.door(stage_.unasked, std::nullopt);
    BlockingSocket client = BlockingSocket::connect(door.port());
    BlockingSocket unasked = BlockingSocket::connect(unaskedDoor.port());
    BlockingSocket proxied = BlockingSocket::connect(proxyDoor.port());
    EXPECT_EQ(askRaw(client).status, 200);
    EXPECT_EQ(askRaw(proxied, absolute).status, 200);
    EXPECT_EQ(askRaw(unasked).status, 200);
    clock_.setOff(std::chrono::hours(25));
    passed_.pass(*stage_.gateway, std::chrono::seconds(2));
    found_["The connection is open, and the certificate does not pass any more"] = outcome(door, askRaw(client));
    found_["The same at a forward proxy"] = outcome(proxyDoor, askRaw(proxied, absolute));
    stage_.asksEverywhere = true;
    stage_.makeListeners();
    stage_.reload();
    found_["The connection is open without a certificate, and the listener asks for one now"] =
        outcome(unaskedDoor, askRaw(unasked));
  }

  WallClock clock_;
  PassedTime passed_;
  CallerStage stage_;
  const CertifiedKey revoked_ = stage_.account("shop", "till");
  Refusals found_;
};

TEST(IdentityReference, ListsEveryRefusal) {
  RefusingListeners listeners;
  EXPECT_EQ(listeners.refusals(), refusalsOfTheIdentityPage());
}

/// A certificate, and its principal in the words of the page and in those of the gateway.
struct NamedClient {
  CertifiedKey certificate;
  std::string words;
  std::string principal;
};

TEST(IdentityReference, ListsTheNamesOfCallers) {
  CallerStage stage;
  stage.start();
  CertificateSpec named;
  named.dnsNames = {"cart.shop.test"};
  CertificateSpec plain;
  plain.commonName = "cart";
  const std::string foreign = spiffeId("shop", "cart", "elsewhere.test");
  const std::map<std::string, NamedClient> clients = {
      {"a SPIFFE ID of a trust domain, `/ns/NAMESPACE/sa/ACCOUNT`",
       {stage.account("shop", "cart"), "the ID", spiffeId("shop", "cart")}},
      {"any other SPIFFE ID", {clientOf(stage.authority, {foreign}), "the ID", foreign}},
      {"other URIs", {clientOf(stage.authority, {"urn:a", "urn:b"}), "the first of them", "urn:a"}},
      {"a DNS name, and no URI", {clientOf(stage.authority, {}, named), "the first DNS name", "cart.shop.test"}},
      {"none of these", {clientOf(stage.authority, {}, plain), "the subject, as RFC 4514 writes it", "CN=cart"}}};
  std::size_t rows = 0;
  for (const PageRow& row :
       pageTable(referencePage("identity.md"), "| the certificate has | namespace and account | principal |")) {
    SCOPED_TRACE(row.at(0));
    ASSERT_TRUE(clients.contains(row.at(0)));
    const NamedClient& client = clients.at(row.at(0));
    EXPECT_EQ(row.at(2), client.words);
    EXPECT_EQ(stage.status(stage.secure, client.certificate), 200);
    const LoggedCaller caller = stage.logged(++rows);
    EXPECT_EQ(caller.principal, client.principal);
    EXPECT_EQ(caller.serviceAccount.empty(), row.at(1) == "none");
    EXPECT_EQ(caller.assurance, "Certificate");
  }
  EXPECT_EQ(rows, clients.size());
}

}  // namespace
}  // namespace sluice::test
