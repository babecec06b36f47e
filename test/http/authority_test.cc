#include "proxy/http/authority.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sluice::http {
namespace {

std::string normalAuthority(std::string_view authority) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  auto result = normalizeAuthority(arena, authority);
  return result ? std::string(*result) : "refused " + std::to_string(result.error().status);
}

TEST(Authority, HasOneNormalForm) {
  EXPECT_EQ(normalAuthority("Example.COM"), "example.com");
  EXPECT_EQ(normalAuthority("example.com:8080"), "example.com:8080");
  EXPECT_EQ(normalAuthority("a_b-c.d."), "a_b-c.d.");
  EXPECT_EQ(normalAuthority("127.0.0.1:0"), "127.0.0.1:0");
  EXPECT_EQ(normalAuthority("[::1]"), "[::1]");
  EXPECT_EQ(normalAuthority("[2001:DB8::1]:443"), "[2001:db8::1]:443");
  EXPECT_EQ(normalAuthority("[::ffff:127.0.0.1]:65535"), "[::ffff:127.0.0.1]:65535");
  EXPECT_EQ(normalAuthority("[1:2:3:4:5:6:7:8]"), "[1:2:3:4:5:6:7:8]");
}

TEST(Authority, IsRefusedIfItIsNoHostAndPort) {
  for (const std::string_view sent : {"",
                                      ":80",
                                      "a::",
                                      ":",
                                      "a:65536",
                                      "a:999999",
                                      "a:8x",
                                      "a:+8",
                                      "a:80:80",
                                      "user@a",
                                      "user:pw@a",
                                      "a b",
                                      "a/b",
                                      "a?b",
                                      "a,b",
                                      "a%",
                                      "a%4",
                                      "a%4g",
                                      "a%2541",
                                      "a%7e",
                                      "a%00",
                                      "a%3a80",
                                      "a%2fb",
                                      "a%40b",
                                      "a%5d",
                                      "a%c3%a9",
                                      "a%2e%2eb",
                                      "%2e",
                                      "a:%38",
                                      ".a",
                                      "a..b",
                                      ".",
                                      "a..",
                                      "[::1",
                                      "::1",
                                      "[]",
                                      "[::1]x",
                                      "[::1]::",
                                      "[:",
                                      "[%3a%3a1]",
                                      "[::%31]",
                                      "[:::1]",
                                      "[1:2]",
                                      "[1::2::3]",
                                      "[12345::]",
                                      "[::1.2.3]",
                                      "[::1.2.3.256]",
                                      "[fe80::1%eth0]",
                                      "[1.2.3.4::]",
                                      "[1:2:3:4:5:6:7:8:9]",
                                      "[1:2:3:4:5:6:7::8:9]",
                                      "a\r\nb",
                                      "a\x01",
                                      "\xc3\xa9",
                                      "http://a"}) {
    EXPECT_EQ(normalAuthority(sent), "refused 400") << sent;
  }
  EXPECT_EQ(normalAuthority(std::string_view("a\0b", 3)), "refused 400");
}

TEST(Authority, LosesAnEmptyPortAndEncodingsThatNameTheSame) {
  EXPECT_EQ(normalAuthority("example.com:"), "example.com");
  EXPECT_EQ(normalAuthority("[::1]:"), "[::1]");
  EXPECT_EQ(normalAuthority("ex%41mple%2Ecom%2d%5F%39:80"), "example.com-_9:80");
  EXPECT_EQ(normalAuthority("%61:"), "a");
  EXPECT_EQ(normalAuthority("127%2e0%2e0%2e1"), "127.0.0.1");
  EXPECT_EQ(normalAuthority("localhost%2E"), "localhost.");
}

TEST(Authority, HostsAreBoundedTo255Bytes) {
  const std::string longest(255, 'a');
  EXPECT_EQ(normalAuthority(longest), longest);
  EXPECT_EQ(normalAuthority(longest + "a"), "refused 400");
}

TEST(Authority, IsTakenApart) {
  EXPECT_EQ(hostOf("example.com"), "example.com");
  EXPECT_EQ(hostOf("example.com.:8080"), "example.com");
  EXPECT_EQ(hostOf("[::1]:80"), "::1");
  EXPECT_EQ(hostOf("[::1]"), "::1");
  EXPECT_EQ(hostOf(""), "");
  EXPECT_EQ(portOf("example.com"), 0);
  EXPECT_EQ(portOf("example.com:8080"), 8080);
  EXPECT_EQ(portOf("[::1]:65535"), 65535);
  EXPECT_EQ(portOf("[::1]"), 0);
}

TEST(KnownAuthorities, AreThoseThatWereFoundToBeNormal) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  KnownAuthorities known;
  EXPECT_FALSE(known.has(""));
  const std::string first = "a.test:80";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(normalizeAuthority(arena, first, &known)->data(), first.data());
  EXPECT_TRUE(known.has("a.test:80"));
  for (const char* other : {"", "a.test:8", "a.test:81", "a.test:800", "A.test:80"}) EXPECT_FALSE(known.has(other));
}

TEST(KnownAuthorities, AreNeitherRefusedNorInNeedOfACopy) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  KnownAuthorities known;
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(normalizeAuthority(arena, "a..test", &known).ok());
    EXPECT_FALSE(normalizeAuthority(arena, "", &known).ok());
    EXPECT_EQ(*normalizeAuthority(arena, "A.test", &known), "a.test");
  }
  for (const char* other : {"a.test:", "%61.test"}) EXPECT_EQ(*normalizeAuthority(arena, other, &known), "a.test");
  for (const char* each : {"a..test", "", "A.test", "a.test:", "%61.test"}) EXPECT_FALSE(known.has(each));
}

// A worker has requests for many names of one domain, and for many ports of one host.
TEST(KnownAuthorities, AreSeveralAtATime) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  KnownAuthorities known;
  std::vector<std::string> names = {"a.test", "b.test", "a1", "a2", "127.0.0.1:8080", "127.0.0.1:8090"};
  for (const char* each : {"1", "2", "3", "4"}) names.push_back("europe-west" + std::string(each) + ".example.com");
  for (const std::string& name : names) EXPECT_TRUE(normalizeAuthority(arena, name, &known).ok());
  const auto kept = std::count_if(names.begin(), names.end(), [&](const auto& name) { return known.has(name); });
  EXPECT_GE(kept, 8) << "few of them share a place";
}

TEST(KnownAuthorities, MayBeLong) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  KnownAuthorities known;
  for (std::size_t size = 40; size < 60; ++size) {
    const std::string name(size, 'a');
    for (int i = 0; i < 2; ++i) EXPECT_EQ(*normalizeAuthority(arena, name, &known), name);
    EXPECT_EQ(known.has(name), size <= 47) << "longer ones are not kept";
  }
}

}  // namespace
}  // namespace sluice::http
