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
