#include "proxy/pki/names/dns_name.h"

#include <gtest/gtest.h>

namespace sluice::pki {
namespace {

struct NameCase {
  const char* pattern;
  const char* host;
  bool matches;
};

class DnsNameMatches : public ::testing::TestWithParam<NameCase> {};

TEST_P(DnsNameMatches, FollowsRfc6125) {
  EXPECT_EQ(dnsNameMatches(GetParam().pattern, GetParam().host), GetParam().matches)
      << GetParam().pattern << " and " << GetParam().host;
}

TEST(WildcardMatchesUnderscore, InTheOneLabelAlone) {
  for (const char* host :
       {"a_b.example.com", "_a.example.com", "a_.example.com", "_.example.com", "a-b_1.example.com"}) {
    EXPECT_TRUE(wildcardMatchesUnderscore("*.example.com", host)) << host;
  }
  const NameCase refused[] = {{"a_b.example.com", "a_b.example.com", false},      // no wildcard
                              {"axb.example.com", "a_b.example.com", false},      //
                              {"*.example.com", "ab.example.com", false},         // no underscore
                              {"*.example.com", "a_b.c.example.com", false},      // two labels
                              {"*.example.com", "a.b_c.example.com", false},      //
                              {"*.b_c.example.com", "a.b_c.example.com", false},  // behind the one label
                              {"*.example.com", "a_b.example.org", false},        //
                              {"*.example.com", "a_b", false},                    //
                              {"*.example.com", "a_*.example.com", false},        //
                              {"*.example.com", "a_ b.example.com", false},       //
                              {"*_b.example.com", "a_b.example.com", false},      // part of a label
                              {"a_*.example.com", "a_b.example.com", false},      //
                              {"*.*.com", "a_b.example.com", false},              //
                              {"*.com", "a_b.com", false},                        //
                              {"*", "a_b", false},                                //
                              {"", "a_b.example.com", false}};
  for (const NameCase& each : refused) {
    EXPECT_FALSE(wildcardMatchesUnderscore(each.pattern, each.host)) << each.pattern << " and " << each.host;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, DnsNameMatches,
                         ::testing::Values(NameCase{"example.com", "example.com", true},              //
                                           NameCase{"example.com", "www.example.com", false},         //
                                           NameCase{"www.example.com", "example.com", false},         //
                                           NameCase{"*.example.com", "www.example.com", true},        //
                                           NameCase{"*.example.com", "example.com", false},           //
                                           NameCase{"*.example.com", ".example.com", false},          //
                                           NameCase{"*.example.com", "a.b.example.com", false},       //
                                           NameCase{"*.example.com", "wwwexample.com", false},        //
                                           NameCase{"*.example.com", "www.example.com.evil", false},  //
                                           NameCase{"w*.example.com", "www.example.com", false},      //
                                           NameCase{"*w.example.com", "www.example.com", false},      //
                                           NameCase{"www.*.com", "www.example.com", false},           //
                                           NameCase{"*.*.com", "www.example.com", false},             //
                                           NameCase{"*.com", "example.com", false},                   //
                                           NameCase{"*.", "example.", false},                         //
                                           NameCase{"*", "localhost", false},                         //
                                           NameCase{"", "", false},                                   //
                                           NameCase{"*.example.com", "", false}));

}  // namespace
}  // namespace sluice::pki
