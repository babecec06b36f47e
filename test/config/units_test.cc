#include <gtest/gtest.h>

#include "config/fields/quantity.h"
#include "config/ground/patterns.h"
#include "proxy/base/duration.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Duration, ReadsTheSpellingsOfGep2257) {
  EXPECT_EQ(base::parseDuration("10s"), seconds(10));
  EXPECT_EQ(base::parseDuration("0s"), base::Duration::zero());
  EXPECT_EQ(base::parseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(base::parseDuration("1h30m"), hours(1) + minutes(30));
  EXPECT_EQ(base::parseDuration("1h2m3s4ms"), hours(1) + minutes(2) + seconds(3) + milliseconds(4));
  EXPECT_EQ(base::parseDuration("99999h"), hours(99999));
}

TEST(Duration, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "10", "s", "-1s", "+1s", "1.5s", "1d", "1us", "10 s", "10s ", "100000s", "1h1m1s1ms1s", "1S"}) {
    EXPECT_EQ(base::parseDuration(text), std::nullopt) << text;
  }
}

TEST(Duration, IsWrittenAsItIsRead) {
  for (const std::string_view text : {"0s", "10s", "1h30m", "1h2m3s4ms", "500ms"}) {
    EXPECT_EQ(base::formatDuration(*base::parseDuration(text)), text);
  }
}

TEST(CanonicalIp, IsTheOnlySpellingOfAnAddress) {
  EXPECT_EQ(canonicalIp("0:0:0:0:0:0:0:1"), "::1");
  EXPECT_EQ(canonicalIp("FD00::A"), "fd00::a");
  EXPECT_EQ(canonicalIp("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(canonicalIp(""), "");
}

TEST(Quantity, ReadsBinaryAndDecimalSuffixes) {
  EXPECT_EQ(parseQuantity("0"), 0u);
  EXPECT_EQ(parseQuantity("100"), 100u);
  EXPECT_EQ(parseQuantity("64Ki"), 65536u);
  EXPECT_EQ(parseQuantity("2Mi"), 2097152u);
  EXPECT_EQ(parseQuantity("1Gi"), 1073741824u);
  EXPECT_EQ(parseQuantity("3k"), 3000u);
  EXPECT_EQ(parseQuantity("3M"), 3000000u);
  EXPECT_EQ(parseQuantity("3G"), 3000000000u);
  EXPECT_EQ(parseQuantity("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parseQuantity("17179869183Gi"), UINT64_MAX - (1u << 30) + 1);
}

TEST(Quantity, RefusesOtherFormsAndOverflow) {
  for (const std::string_view text :
       {"", "Ki", "-1", "+1", "1.5Gi", "1K", "1ki", "1 Ki", "1Kib", "0x10", "18446744073709551616", "17179869184Gi"}) {
    EXPECT_EQ(parseQuantity(text), std::nullopt) << text;
  }
}

TEST(Patterns, RecognizeHostnames) {
  EXPECT_TRUE(isHostname("example.com"));
  EXPECT_TRUE(isHostname("*.example.com"));
  for (const std::string_view text :
       {"", "*", "Example.com", "-a.com", "a..b", "a.com.", "*.*.com", "a.*.com", "1.2.3.4", "a_b.com"}) {
    EXPECT_FALSE(isHostname(text)) << text;
  }
}

TEST(Patterns, DistinguishDomainNamesFromAddresses) {
  for (const std::string_view text : {"api.openai.com", "API.OpenAI.com.", "_srv.a.b", "localhost", "1.a"}) {
    EXPECT_TRUE(isDomainName(text)) << text;
  }
  for (const std::string_view text :
       {"", ".", "127.0.0.1", "127.1", "0x7f000001", "::1", "a..b", "a b", "2130706433", "*.a"}) {
    EXPECT_FALSE(isDomainName(text)) << text;
  }
}

TEST(Patterns, RecognizePathsThatMatchesAccept) {
  for (const std::string_view text : {"/", "/a/b", "/a%20b", "/a/..b", "/a;b=c"})
    EXPECT_TRUE(isPathValue(text)) << text;
  for (const std::string_view text :
       {"", "a", "//", "/a//b", "/./a", "/a/.", "/a/../b", "/..", "/a%2fb", "/a%2Fb", "/a#b", "/a%2", "/a b", "/?a"}) {
    EXPECT_FALSE(isPathValue(text)) << text;
  }
}

TEST(Patterns, RecognizeAddressesWithPortsAndPrefixes) {
  for (const std::string_view text : {"1.1.1.1", "1.1.1.1:53", "2606::1111", "[2606::1111]:53"}) {
    EXPECT_TRUE(isIpWithPort(text)) << text;
  }
  for (const std::string_view text :
       {"", "1.1.1", "1.1.1.1:0", "1.1.1.1:65536", "[2606::1111]", "dns:53", "[1.1.1.1]:53"}) {
    EXPECT_FALSE(isIpWithPort(text)) << text;
  }
  for (const std::string_view text : {"10.0.0.0/8", "0.0.0.0/0", "::/0", "::1/128"}) EXPECT_TRUE(isCidr(text)) << text;
  for (const std::string_view text : {"10.0.0.0", "10.0.0.0/33", "::1/129", "/8", "10.0.0.0/", "a/8"}) {
    EXPECT_FALSE(isCidr(text)) << text;
  }
}

TEST(Patterns, RecognizeHeaderNamesAndValues) {
  EXPECT_TRUE(isHeaderName("X-Api_Key"));
  for (const std::string_view text : {"", "a b", "a:", ":path", "h\xC3\xA9"}) EXPECT_FALSE(isHeaderName(text)) << text;
  EXPECT_TRUE(isHeaderValue("a b\tc"));
  for (const std::string_view text : {"", " a", "a ", "a  b", "a\r\nb", "\x01", "h\xC3\xA9"}) {
    EXPECT_FALSE(isHeaderValue(text)) << text;
  }
}

TEST(Patterns, RecognizeNamesOfControllersKindsAndProcessors) {
  EXPECT_TRUE(isControllerName("sluice.dev/egress-gateway"));
  EXPECT_FALSE(isControllerName("sluice.dev"));
  EXPECT_FALSE(isControllerName("sluice.dev/"));
  EXPECT_TRUE(isKind("HTTPRoute"));
  EXPECT_FALSE(isKind("1Kind"));
  EXPECT_TRUE(isProcessorType("acme.example.com/PIIDetector:v1"));
  for (const std::string_view text : {"PIIDetector:v1", "a.com/PII", "a.com/:v1", "a.com/PII:", ":a/b"}) {
    EXPECT_FALSE(isProcessorType(text)) << text;
  }
}

TEST(Text, SuggestsTheClosestWord) {
  constexpr std::string_view kWords[] = {"hostname", "port", "protocol", "name"};
  EXPECT_EQ(base::closestWord("hostnam", kWords), "hostname");
  EXPECT_EQ(base::closestWord("HostName", kWords), "hostname");
  EXPECT_EQ(base::closestWord("prot", kWords), "port");
  EXPECT_EQ(base::closestWord("nmae", kWords), "name");
  EXPECT_EQ(base::closestWord("something", kWords), "");
}

TEST(Text, QuotesWithAllControlCharactersEscaped) {
  EXPECT_EQ(base::quote("a\"b\n\x80"), "\"a\\\"b\\x0a\\x80\"");
  EXPECT_EQ(base::quote(std::string(80, 'x')).size(), 82u);
  EXPECT_EQ(base::quote(std::string(81, 'x')), "\"" + std::string(80, 'x') + "...\"");
}

TEST(Text, JoinsChoices) {
  constexpr std::string_view kWords[] = {"a", "b", "c"};
  EXPECT_EQ(base::joinChoices(kWords), "a, b or c");
  EXPECT_EQ(base::joinChoices(std::span(kWords, 1)), "a");
}

}  // namespace
}  // namespace sluice::config
