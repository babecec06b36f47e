#include "proxy/pki/names/admitted_names.h"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "test/support/peer_chains.h"

namespace sluice::pki {
namespace {

using Kind = AdmittedName::Kind;
using Match = AdmittedName::Match;

struct AdmittedCase {
  Kind kind;
  Match match;
  std::string admitted;
  std::string shown;
  bool matches;
};

test::CertificateSpec certificateWith(Kind kind, const std::string& name) {
  test::CertificateSpec spec;
  auto& names = kind == Kind::kDns     ? spec.dnsNames
                : kind == Kind::kUri   ? spec.uris
                : kind == Kind::kEmail ? spec.emails
                                       : spec.ipAddresses;
  names = {name};
  return spec;
}

TEST(AdmittedNames, AreComparedByTheirKind) {
  const std::vector<AdmittedCase> table = {
      {Kind::kDns, Match::kExact, "api.test", "API.test", true},
      {Kind::kDns, Match::kExact, "API.test", "api.test", true},
      {Kind::kDns, Match::kExact, "api.example.test", "*.example.test", true},
      {Kind::kDns, Match::kExact, "a.api.example.test", "*.example.test", false},
      {Kind::kDns, Match::kExact, "example.test", "*.example.test", false},
      {Kind::kDns, Match::kExact, "api.test", "*.test", false},
      {Kind::kDns, Match::kExact, "api.test", std::string("api.test\0.evil", 14), false},
      {Kind::kDns, Match::kPrefix, "api.test", std::string("api.test\0.evil", 14), false},
      {Kind::kDns, Match::kPrefix, "api.", "api.example.test", true},
      {Kind::kDns, Match::kPrefix, "api.", "*.example.test", false},
      {Kind::kDns, Match::kSuffix, ".example.test", "a.EXAMPLE.test", true},
      {Kind::kDns, Match::kSuffix, ".example.test", "example.test", false},
      {Kind::kUri, Match::kExact, "spiffe://a/b", "spiffe://a/b", true},
      {Kind::kUri, Match::kExact, "spiffe://a/b", "spiffe://a/B", false},
      {Kind::kUri, Match::kExact, "spiffe://a/b", "spiffe://a/bc", false},
      {Kind::kUri, Match::kExact, "spiffe://a/b", std::string("spiffe://a/b\0c", 14), false},
      {Kind::kUri, Match::kPrefix, "spiffe://a/", "spiffe://a/b", true},
      {Kind::kUri, Match::kPrefix, "spiffe://a/", "spiffe://b/a", false},
      {Kind::kUri, Match::kPrefix, "spiffe://a/", std::string("spiffe://a/\0c", 13), false},
      {Kind::kUri, Match::kSuffix, "/sa/api", "spiffe://a/ns/b/sa/api", true},
      {Kind::kUri, Match::kSuffix, "/sa/api", "spiffe://a/ns/b/sa/api2", false},
      {Kind::kEmail, Match::kExact, "a@example.test", "a@EXAMPLE.test", true},
      {Kind::kEmail, Match::kExact, "a@example.test", "A@example.test", false},
      {Kind::kEmail, Match::kSuffix, "@example.test", "a@Example.test", true},
      {Kind::kEmail, Match::kSuffix, "@example.test", "a@example.test.evil", false},
      {Kind::kIp, Match::kExact, "10.0.0.1", "10.0.0.1", true},
      {Kind::kIp, Match::kExact, "10.0.0.1", "10.0.0.10", false},
      {Kind::kIp, Match::kExact, "10.0.0.0/8", "10.0.0.0", false},
      {Kind::kIp, Match::kExact, "fd00:0:0::1", "fd00::1", true},
      {Kind::kIp, Match::kExact, "FD00::1", "fd00::1", true},
      {Kind::kIp, Match::kPrefix, "10.0.", "10.0.3.4", true},
      {Kind::kIp, Match::kPrefix, "10.0.", "10.10.3.4", false},
  };
  for (const AdmittedCase& each : table) {
    const auto chain = test::shownBy(test::selfSigned(certificateWith(each.kind, each.shown)));
    const std::vector<AdmittedName> names = {{each.kind, each.match, each.admitted}};
    EXPECT_EQ(hasAdmittedName(chain->leaf(), names), each.matches) << each.admitted << " and " << each.shown;
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST(AdmittedNames, AreNotComparedAcrossKinds) {
  for (const Kind shown : {Kind::kDns, Kind::kUri, Kind::kEmail}) {
    const auto chain = test::shownBy(test::selfSigned(certificateWith(shown, "10.0.0.1")));
    for (const Kind kind : {Kind::kDns, Kind::kUri, Kind::kEmail, Kind::kIp}) {
      EXPECT_EQ(hasAdmittedName(chain->leaf(), {{kind, Match::kExact, "10.0.0.1"}}), kind == shown);
    }
  }
}

TEST(AdmittedNames, AreNeverTheCommonName) {
  test::CertificateSpec spec;
  spec.commonName = "api.test";
  const auto chain = test::shownBy(test::selfSigned(spec));
  EXPECT_FALSE(hasAdmittedName(chain->leaf(), {{Kind::kDns, Match::kExact, "api.test"}}));
  EXPECT_FALSE(hasAdmittedName(chain->leaf(), {}));
}

TEST(AdmittedNames, MatchIfOneOfThemDoes) {
  test::CertificateSpec spec;
  spec.uris = {"a:b", "c:d"};
  spec.dnsNames = {"api.test"};
  const auto chain = test::shownBy(test::selfSigned(spec));
  EXPECT_TRUE(hasAdmittedName(chain->leaf(), {{Kind::kIp, Match::kExact, "10.0.0.1"},  //
                                              {Kind::kUri, Match::kExact, "c:d"}}));
}

}  // namespace
}  // namespace sluice::pki
