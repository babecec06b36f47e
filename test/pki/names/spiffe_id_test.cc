#include "proxy/pki/names/spiffe_id.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::pki {
namespace {

struct Spelling {
  std::string uri;
  std::string workload;  // "namespace/account", "" if it names none, or "no ID"
};

std::string workloadOf(const std::string& uri) {
  const auto id = SpiffeId::parse(uri);
  if (!id) return "no ID";
  EXPECT_EQ("spiffe://" + std::string(id->trustDomain) + std::string(id->path), uri);
  if (id->nameSpace.empty()) {
    EXPECT_TRUE(id->serviceAccount.empty());
    return "";
  }
  return std::string(id->nameSpace) + "/" + std::string(id->serviceAccount);
}

TEST(SpiffeId, FollowsTheStandard) {
  const std::string label(63, 'a');
  const std::vector<Spelling> table = {
      {"spiffe://cluster.local/ns/payments/sa/api", "payments/api"},
      {"spiffe://a/ns/p/sa/one.two-3", "p/one.two-3"},
      {"spiffe://my_domain-1.example/ns/p/sa/a", "p/a"},
      {"spiffe://a/ns/" + label + "/sa/a", label + "/a"},
      {"spiffe://a/ns/p/sa/" + std::string(253, 'a'), "p/" + std::string(253, 'a')},
      // These are IDs, but of no service account.
      {"spiffe://cluster.local", ""},
      {"spiffe://cluster.local/payments/api", ""},
      {"spiffe://a/ns/p/sa", ""},
      {"spiffe://a/ns/p/sa/a/b", ""},
      {"spiffe://a/x/ns/p/sa/a", ""},
      {"spiffe://a/ns/p/SA/a", ""},
      {"spiffe://a/ns/P/sa/a", ""},
      {"spiffe://a/ns/p.q/sa/a", ""},
      {"spiffe://a/ns/-p/sa/a", ""},
      {"spiffe://a/ns/p/sa/a_b", ""},
      {"spiffe://a/ns/p/sa/.a", ""},
      {"spiffe://a/ns/p/sa/a.", ""},
      {"spiffe://a/ns/p/sa/a..b", ""},
      {"spiffe://a/ns/" + label + "a/sa/a", ""},
      {"spiffe://a/ns/p/sa/" + std::string(254, 'a'), ""},
      // The others are no IDs.
      {"", "no ID"},
      {"spiffe:", "no ID"},
      {"spiffe://", "no ID"},
      {"spiffe:///ns/p/sa/a", "no ID"},
      {"https://a/ns/p/sa/a", "no ID"},
      {"SPIFFE://a/ns/p/sa/a", "no ID"},
      {" spiffe://a/ns/p/sa/a", "no ID"},
      {"spiffe://a/ns/p/sa/a ", "no ID"},
      {"spiffe://A/ns/p/sa/a", "no ID"},
      {"spiffe://a:443/ns/p/sa/a", "no ID"},
      {"spiffe://user@a/ns/p/sa/a", "no ID"},
      {"spiffe://a/ns/p/sa/a?x=y", "no ID"},
      {"spiffe://a/ns/p/sa/a#x", "no ID"},
      {"spiffe://a/", "no ID"},
      {"spiffe://a/ns/p/sa/a/", "no ID"},
      {"spiffe://a//ns/p/sa/a", "no ID"},
      {"spiffe://a/ns/p//sa/a", "no ID"},
      {"spiffe://a/./ns/p/sa/a", "no ID"},
      {"spiffe://a/x/../ns/p/sa/a", "no ID"},
      {"spiffe://a/ns/p/sa/..", "no ID"},
      {"spiffe://a/ns/p/sa/%61", "no ID"},
      {"spiffe://a/ns/p/sa/a%2fb", "no ID"},
      {"spiffe://a\\ns\\p\\sa\\a", "no ID"},
      {"spiffe://a/ns/p/sa/\xC3\xBC", "no ID"},
      {"spiffe://xn--\xC3\xBC/ns/p/sa/a", "no ID"},
      {std::string("spiffe://a/ns/p/sa/a\0b", 22), "no ID"},
      {std::string("spiffe://a\0.b/ns/p/sa/a", 23), "no ID"},
      {"spiffe://a/ns/p/sa/a\n", "no ID"},
      {"spiffe://" + std::string(256, 'a') + "/ns/p/sa/a", "no ID"},
  };
  for (const Spelling& each : table) EXPECT_EQ(workloadOf(each.uri), each.workload) << each.uri;
}

TEST(SpiffeId, HasABound) {
  const std::string start = "spiffe://a/";
  EXPECT_TRUE(SpiffeId::parse(start + std::string(2048 - start.size(), 'a')).has_value());
  EXPECT_FALSE(SpiffeId::parse(start + std::string(2049 - start.size(), 'a')).has_value());
  const std::string longest(255, 'a');
  EXPECT_EQ(SpiffeId::parse("spiffe://" + longest + "/b")->trustDomain, longest);
}

}  // namespace
}  // namespace sluice::pki
