#include "proxy/pki/client_rules.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <algorithm>

#include "test/support/peer_chains.h"

namespace sluice::pki {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class ClientVerification : public ::testing::Test {
 protected:
  ClientVerification() {
    spec.commonName = "workload";
    spec.extendedKeyUsage = "clientAuth";
    trust(root.certificate);
  }

  void trust(const std::string& authorities, const std::string& lists = "") {
    rules.trust = std::make_shared<const TrustStore>(TrustStore::parse(authorities, lists).value());
  }

  /// Returns the rule that the client breaks; "" if it is admitted.
  std::string brokenBy(const test::CertifiedKey& client, base::Duration later = {}) {
    const auto chain = test::shownBy(client);
    const auto verified = rules.verify(*chain, now + later);
    const int code = rules.check(*chain, now + later);
    EXPECT_EQ(ERR_peek_error(), 0U);
    EXPECT_EQ(verified.ok(), code == X509_V_OK);
    if (verified.ok()) return "";
    EXPECT_EQ(verified.error().type, base::ErrorType::kTlsCertificateError);
    EXPECT_EQ(verified.error().origin, base::ErrorOrigin::kDownstream);
    EXPECT_EQ(verified.error().detail, clientRefused(code).detail);
    const std::string start = "the client's certificate is refused: ";
    EXPECT_TRUE(verified.error().detail.starts_with(start));
    return verified.error().detail.substr(start.size());
  }
  std::string broken(base::Duration later = {}) { return brokenBy(test::issue(root, spec), later); }

  base::WallTime now = base::SystemClock().wallNow();
  test::CertifiedKey root = test::makeAuthority();
  test::CertificateSpec spec;
  ClientRules rules;
};

TEST_F(ClientVerification, AdmitsAGoodCertificate) {
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(brokenBy(test::issueWorkload(root, "spiffe://a/b")), "");
  spec.extendedKeyUsage = "";
  EXPECT_EQ(broken(), "");
  spec.extendedKeyUsage = "serverAuth,clientAuth";
  EXPECT_EQ(broken(), "");
}

TEST_F(ClientVerification, GoesByTheTimeThatItIsGiven) {
  EXPECT_EQ(broken(hours(23)), "");
  EXPECT_EQ(broken(hours(25)), "expired");
  EXPECT_EQ(broken(minutes(-61)), "not yet valid");
  spec.notAfter = minutes(-10);
  EXPECT_EQ(broken(), "expired");
  EXPECT_EQ(broken(minutes(-30)), "");
}

TEST_F(ClientVerification, RefusesOtherIssuers) {
  EXPECT_EQ(brokenBy(test::issueClient(test::makeAuthority("Somebody Else"), "a")), "untrusted issuer");
  EXPECT_EQ(brokenBy(test::issueClient(test::makeAuthority(), "a")), "untrusted issuer") << "of the same name";
  EXPECT_EQ(brokenBy(test::issue(test::issueClient(root, "no authority"), spec)), "untrusted issuer");
}

TEST_F(ClientVerification, RefusesASelfSignedCertificateUnlessItIsGiven) {
  const auto alone = test::selfSigned(spec);
  EXPECT_EQ(brokenBy(alone), "untrusted issuer");
  trust(alone.certificate);
  EXPECT_EQ(brokenBy(alone), "");
}

TEST_F(ClientVerification, RefusesACertificateForAnotherUse) {
  for (const char* use : {"serverAuth", "codeSigning", "emailProtection"}) {
    spec.extendedKeyUsage = use;
    EXPECT_EQ(broken(), "its extendedKeyUsage is not that of a client") << use;
  }
}

TEST_F(ClientVerification, RefusesAWeakKey) {
  spec.keyType = test::KeyType::kRsa2048;
  EXPECT_EQ(broken(), "");
  spec.keyType = test::KeyType::kRsa1024;
  EXPECT_EQ(broken(), "a key or signature of its chain is too weak");
}

TEST_F(ClientVerification, NeedsTheAuthoritiesInBetween) {
  const auto middle = test::makeIntermediate(root);
  const auto client = test::issueClient(middle, "a");
  EXPECT_EQ(brokenBy(client), "untrusted issuer");
  EXPECT_EQ(brokenBy(test::withChain(client, middle)), "");
  trust(middle.certificate);
  EXPECT_EQ(brokenBy(client), "") << "each authority that is given is trusted by itself";
}

TEST_F(ClientVerification, BoundsTheAuthoritiesInBetween) {
  test::CertifiedKey last = root;
  std::string behind;
  for (int i = 1; i <= 12; ++i) {
    last = test::makeIntermediate(last, "Intermediate " + std::to_string(i));
    behind.insert(0, last.certificate);
    if (i != 10 && i != 12) continue;
    const auto client = test::issueClient(last, "a");
    EXPECT_EQ(brokenBy(test::withChain(client, {behind, ""})),
              i == 10 ? "" : "too many authorities between it and a trusted one");
  }
}

TEST_F(ClientVerification, GoesByTheRevocationLists) {
  const auto client = test::issue(root, spec);
  const auto other = test::issueClient(root, "other");
  trust(root.certificate, test::revocationList(root, {client}));
  EXPECT_EQ(brokenBy(client), "revoked");
  EXPECT_EQ(brokenBy(other), "");
  trust(root.certificate, test::revocationList(root, {client}, hours(1)));
  EXPECT_EQ(brokenBy(other, hours(2)), "the revocation list of its issuer has expired");
  trust(root.certificate);
  EXPECT_EQ(brokenBy(client), "") << "without a list, nothing is revoked";
}

TEST_F(ClientVerification, RefusesAClientWhoseIssuerHasNoListIfThereAreLists) {
  const auto another = test::makeAuthority("Another");
  trust(root.certificate + another.certificate, test::revocationList(another, {}));
  EXPECT_EQ(broken(), "there is no revocation list of its issuer");
  EXPECT_EQ(brokenBy(test::issueClient(another, "a")), "");
}

TEST_F(ClientVerification, GoesByTheListsOfAuthoritiesInBetween) {
  const auto middle = test::makeIntermediate(root);
  const auto client = test::withChain(test::issueClient(middle, "a"), middle);
  trust(root.certificate, test::revocationList(middle, {}));
  EXPECT_EQ(brokenBy(client), "") << "a list of the root is not needed";
  trust(root.certificate, test::revocationList(middle, {}) + test::revocationList(root, {middle}));
  EXPECT_EQ(brokenBy(client), "revoked");
}

TEST_F(ClientVerification, HoldsWhileAllCertificatesAndListsAreValid) {
  const auto validity = [this](const test::CertifiedKey& client) {
    return rules.verify(*test::shownBy(client), now).value();
  };
  const auto near = [](base::WallTime time, base::WallTime expected) {
    return time <= expected + std::chrono::seconds(1) && time >= expected - minutes(2);
  };
  spec.notBefore = minutes(-30);
  spec.notAfter = hours(30);
  auto held = validity(test::issue(root, spec));
  EXPECT_TRUE(near(held.from, now - minutes(30)) || held.from > now - minutes(30));
  EXPECT_TRUE(near(held.until, now + hours(24))) << "the authority's end";
  EXPECT_TRUE(held.covers(now));
  spec.notAfter = hours(3);
  EXPECT_TRUE(near(validity(test::issue(root, spec)).until, now + hours(3)));
  test::CertificateSpec authority;
  authority.authority = true;
  authority.commonName = "short";
  authority.notAfter = hours(2);
  const auto middle = test::issue(root, authority);
  const auto below = test::withChain(test::issue(middle, spec), middle);
  EXPECT_TRUE(near(validity(below).until, now + hours(2)));
  trust(root.certificate, test::revocationList(root, {}, hours(1)));
  EXPECT_TRUE(near(validity(test::issue(root, spec)).until, now + hours(1)));
}

TEST_F(ClientVerification, IsNotLimitedByAListThatHadExpiredBefore) {
  const auto another = test::makeAuthority("Another");
  trust(root.certificate + another.certificate,
        test::revocationList(root, {}, hours(2)) + test::revocationList(another, {}, minutes(-1)));
  const auto held = rules.verify(*test::shownBy(test::issue(root, spec)), now).value();
  EXPECT_TRUE(held.covers(now + hours(1)));
  EXPECT_FALSE(held.covers(now + hours(2) + minutes(1)));
}

TEST_F(ClientVerification, AdmitsOneOfTheKeysOrCertificates) {
  const auto one = test::issueClient(root, "one");
  const auto two = test::issueClient(root, "two");
  const auto three = test::issueClient(root, "three");
  const std::string refusal = "neither its key nor the certificate is one of those admitted";
  rules.keys = {parseSpkiPin(test::spkiPin(one)).value()};
  EXPECT_EQ(brokenBy(one), "");
  EXPECT_EQ(brokenBy(two), refusal);
  Sha256Digest digest;
  EXPECT_EQ(X509_digest(test::shownBy(two)->leaf(), EVP_sha256(), digest.data(), nullptr), 1);
  rules.certificates = {digest};
  EXPECT_EQ(brokenBy(one), "");
  EXPECT_EQ(brokenBy(two), "");
  EXPECT_EQ(brokenBy(three), refusal);
  rules.keys.clear();
  EXPECT_EQ(brokenBy(one), refusal);
  EXPECT_EQ(brokenBy(two), "");
  rules.keys = {parseSpkiPin(test::spkiPin(root)).value()};
  EXPECT_EQ(brokenBy(one), refusal) << "only its own key counts";
  EXPECT_EQ(brokenBy(test::issueClient(test::makeAuthority("Somebody Else"), "a")), "untrusted issuer");
}

TEST_F(ClientVerification, WantsANameBesideAKey) {
  const auto client = test::issueWorkload(root, "spiffe://a/b");
  rules.keys = {parseSpkiPin(test::spkiPin(client)).value()};
  rules.names = {{AdmittedName::Kind::kUri, AdmittedName::Match::kExact, "spiffe://a/c"}};
  EXPECT_EQ(brokenBy(client), "none of its names is admitted");
  rules.names.push_back({AdmittedName::Kind::kUri, AdmittedName::Match::kExact, "spiffe://a/b"});
  EXPECT_EQ(brokenBy(client), "");
}

}  // namespace
}  // namespace sluice::pki
