#include "proxy/server/command_line/origin_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::server {
namespace {

using testing::HasSubstr;

TEST(OriginUrl, HasASchemeAHostAndAPort) {
  struct Good {
    const char* text;
    const char* host;
    std::uint16_t port;
    bool isAddress;
    const char* portMembers;
    const char* allowance;
  };
  for (const Good& good :
       std::vector<Good>{{"https://api.example.com", "api.example.com", 443, false, ", tls: {mode: Simple}", ""},
                         {"https://api.example.com:8443/", "api.example.com", 8443, false, ", tls: {mode: Simple}", ""},
                         {"http://a.test", "a.test", 80, false, "", ""},
                         {"h2c://a.test:50051", "a.test", 50051, false, ", protocol: HTTP2", ""},
                         {"http://127.0.0.1:3000", "127.0.0.1", 3000, true, "", "127.0.0.1/32"},
                         {"http://[::1]:3000", "::1", 3000, true, "", "::1/128"},
                         {"http://[0:0::1]", "::1", 80, true, "", "::1/128"},
                         {"https://10.1.2.3", "10.1.2.3", 443, true, ", tls: {mode: Simple}", "10.1.2.3/32"},
                         {"http://169.254.169.254", "169.254.169.254", 80, true, "", "169.254.169.254/32"},
                         {"https://1.1.1.1", "1.1.1.1", 443, true, ", tls: {mode: Simple}", ""},
                         {"https://[2606:4700::1111]", "2606:4700::1111", 443, true, ", tls: {mode: Simple}", ""}}) {
    const auto url = parseOriginUrl(good.text);
    ASSERT_TRUE(url.ok()) << good.text << ": " << url.error().detail;
    EXPECT_EQ(url->host, good.host) << good.text;
    EXPECT_EQ(url->port, good.port) << good.text;
    EXPECT_EQ(url->isAddress, good.isAddress) << good.text;
    EXPECT_EQ(url->portMembers, good.portMembers) << good.text;
    EXPECT_EQ(url->allowance, good.allowance) << good.text;
  }
}

TEST(OriginUrl, HasNothingElse) {
  const std::pair<const char*, const char*> kBad[] = {
      {"", "must begin with https://"},
      {"api.example.com", "must begin with https://"},
      {"HTTP//a", "must begin with https://"},
      {"ftp://a.test", "must begin with https://"},
      {"https://a.test/v1", "must end after the host or its port"},
      {"https://a.test//", "must end after the host or its port"},
      {"https://a.test?x=y", "must end after the host or its port"},
      {"https://a.test#x", "must end after the host or its port"},
      {"https://user:secret@a.test", "cannot have a user or a password"},
      {"https://user@a.test/v1", "cannot have a user or a password"},
      {"https://a.test:", "its port must be a number"},
      {"https://a.test:0", "its port must be a number"},
      {"https://a.test:65536", "its port must be a number"},
      {"https://a.test:-1", "its port must be a number"},
      {"https://a.test:80x", "its port must be a number"},
      {"http://::1:3000", "an IPv6 address is written in brackets"},
      {"http://", "its host must be a domain name"},
      {"http://:3000", "its host must be a domain name"},
      {"http://a b", "its host must be a domain name"},
      {"http://a,b", "its host must be a domain name"},
      {"http://\"a\"", "its host must be a domain name"},
      {"http://[::1", "its host must be a name, not an address"},
      {"http://[]", "its host must be a name, not an address"},
      {"http://[127.0.0.1]", "its host must be a name, not an address"},
      {"http://[fe80::1%25eth0]", "its host must be a name, not an address"},
      {"http://127.1", "its host must be a name, not an address"},
      {"http://0x7f000001", "its host must be a name, not an address"},
      {"http://localhost:3000", "must not name the gateway's own machine; name a server that is not public by its"},
      {"http://models.demo.svc.cluster.local", "must not name a Service of the cluster"},
      {"http://[::ffff:127.0.0.1]", "must have the IPv4 address itself"}};
  for (const auto& [text, message] : kBad) {
    const auto url = parseOriginUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_THAT(url.error().detail, HasSubstr(message)) << text;
    EXPECT_EQ(url.error().detail.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::server
