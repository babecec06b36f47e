#include "proxy/pki/peer_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include "test/support/peer_chains.h"

namespace sluice::pki {
namespace {

using ::testing::ElementsAre;

TEST(PeerChain, KeepsItsCertificatesAfterTheHandshake) {
  const auto root = test::makeAuthority();
  const auto middle = test::makeIntermediate(root);
  const auto chain = test::shownBy(test::withChain(test::issueClient(middle, "a"), middle));
  EXPECT_EQ(chain->subject(), "CN=a");
  ASSERT_EQ(chain->others().size(), 1U);
  EXPECT_EQ(X509_NAME_entry_count(X509_get_subject_name(chain->others().front())), 1);
}

TEST(PeerChain, LeavesItsLeafOutOfTheOthersAndHasABound) {
  X509* const leaf = X509_new();
  STACK_OF(X509)* const others = sk_X509_new_null();
  sk_X509_push(others, leaf);
  EXPECT_TRUE(PeerChain(leaf, others).others().empty());
  EXPECT_TRUE(PeerChain(leaf, nullptr).others().empty());
  X509* const other = X509_new();
  for (std::size_t i = 0; i <= PeerChain::kMostCertificates; ++i) sk_X509_push(others, other);
  EXPECT_EQ(PeerChain(leaf, others).others().size(), PeerChain::kMostCertificates);
  sk_X509_free(others);
  X509_free(other);
  X509_free(leaf);
}

TEST(PeerChain, ReturnsTheNamesOfItsLeaf) {
  test::CertificateSpec spec;
  spec.uris = {"spiffe://a/b", std::string("https://a\0b", 11), "https://c"};
  spec.dnsNames = {"API.test", "*.test", std::string("a.test\0.b", 9), "not a host"};
  const auto chain = test::shownBy(test::selfSigned(spec));
  EXPECT_THAT(chain->uris(), ElementsAre("spiffe://a/b", "https://c"));
  EXPECT_THAT(chain->dnsNames(), ElementsAre("api.test", "*.test"));
}

TEST(PeerChain, WritesItsSubjectInPrintableAscii) {
  test::CertificateSpec spec;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"a,b=c", "CN=a\\,b=c"},
      {" a ", "CN=\\ a\\ "},
      {"a\r\nb", "CN=a\\0D\\0Ab"},
      {"M\xC3\xBCller", "CN=M\\C3\\BCller"},
  };
  for (const auto& [name, text] : cases) {
    spec.commonName = name;
    EXPECT_EQ(test::shownBy(test::selfSigned(spec))->subject(), text);
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

}  // namespace
}  // namespace sluice::pki
