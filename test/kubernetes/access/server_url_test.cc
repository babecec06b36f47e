// Tests the URLs of API servers.
#include "proxy/kubernetes/access/server_url.h"

#include <gtest/gtest.h>

namespace sluice::kubernetes {
namespace {

struct GoodUrl {
  const char* text;
  bool tls;
  const char* host;
  std::uint16_t port;
  const char* pathPrefix;
};

TEST(ServerUrls, HaveSchemeHostPortAndPrefix) {
  for (const GoodUrl& good : {
           GoodUrl{"https://api.example.com", true, "api.example.com", 443, ""},
           GoodUrl{"https://API.Example.com:6443/", true, "api.example.com", 6443, ""},
           GoodUrl{"HTTPS://10.0.0.1:6443", true, "10.0.0.1", 6443, ""},
           GoodUrl{"https://[FD00:0::1]:6443", true, "fd00::1", 6443, ""},
           GoodUrl{"https://[fd00::1]", true, "fd00::1", 443, ""},
           GoodUrl{"https://rancher.example.com/k8s/clusters/c-1", true, "rancher.example.com", 443,
                   "/k8s/clusters/c-1"},
           GoodUrl{"https://rancher.example.com:8443/k8s/clusters/c-1//", true, "rancher.example.com", 8443,
                   "/k8s/clusters/c-1"},
           GoodUrl{"https://kubernetes.default.svc.", true, "kubernetes.default.svc.", 443, ""},
           GoodUrl{"http://127.0.0.1:8001", false, "127.0.0.1", 8001, ""},
           GoodUrl{"http://[::1]:8001", false, "::1", 8001, ""},
           GoodUrl{"http://localhost", false, "localhost", 80, ""},
           GoodUrl{"https://api.example.com:65535", true, "api.example.com", 65535, ""},
       }) {
    const base::Result<ServerUrl> url = parseServerUrl(good.text);
    ASSERT_TRUE(url.ok()) << good.text << ": " << url.error().detail;
    EXPECT_EQ(url->tls, good.tls) << good.text;
    EXPECT_EQ(url->host, good.host) << good.text;
    EXPECT_EQ(url->port, good.port) << good.text;
    EXPECT_EQ(url->pathPrefix, good.pathPrefix) << good.text;
  }
}

TEST(ServerUrls, AreRefusedWithAReason) {
  const std::pair<const char*, const char*> table[] = {
      {"", "https://"},
      {"https", "https://"},
      {"https:/api.example.com", "https://"},
      {"api.example.com:6443", "https://"},
      {"unix:///run/api.sock", "https://"},
      {"http://api.example.com", "this machine"},
      {"http://10.0.0.1:8080", "this machine"},
      {"http://127.0.0.1.example.com", "this machine"},
      {"http://notlocalhost", "this machine"},
      {"https://", "must name a host"},
      {"https:///path", "must name a host"},
      {"https://:6443", "must name a host"},
      {"https://api..example.com", "must name a host"},
      {"https://-a.example.com", "must name a host"},
      {"https://127.1", "must name a host"},
      {"https://0x7f000001", "must name a host"},
      {"https://fd00::1", "must name a host"},
      {"https://[10.0.0.1]", "must name a host"},
      {"https://[fd00::1%25eth0]", "must name a host"},
      {"https://[api.example.com]", "must name a host"},
      {"https://[]", "must name a host"},
      {"https://[fd00::1", "without a ]"},
      {"https://[fd00::1]6443", "a port between"},
      {"https://api.example.com:", "a port between"},
      {"https://api.example.com:0", "a port between"},
      {"https://api.example.com:65536", "a port between"},
      {"https://api.example.com:-1", "a port between"},
      {"https://api.example.com:64 43", "a port between"},
      {"https://api.example.com:6443?a=b", "a query"},
      {"https://api.example.com#a", "a query"},
      {"https://api.example.com/k8s?a=b", "a query"},
      {"https://api.example.com/a/../b", "a path like"},
      {"https://api.example.com/a//b", "a path like"},
      {"https://api.example.com/a b", "a path like"},
      {"https://api.example.com/a\r\nHost: b", "a path like"},
      {"https://api.example.com/%2e%", "a path like"},
      {"https://api.example.com\n", "must name a host"},
  };
  for (const auto& [text, reason] : table) {
    const base::Result<ServerUrl> url = parseServerUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_NE(url.error().detail.find(reason), std::string::npos) << text << ": " << url.error().detail;
  }
}

TEST(ServerUrls, AreNotQuotedIfTheyHoldCredentials) {
  for (const char* text : {"https://admin:hunter2@api.example.com", "https://hunter2@api.example.com/",
                           "https://admin:hunter2/hunter2@api.example.com"}) {
    const base::Result<ServerUrl> url = parseServerUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().detail.find("hunter2"), std::string::npos) << url.error().detail;
  }
}

TEST(ServerUrls, AreAtMost4096BytesLong) {
  const std::string start = "https://api.example.com/";
  EXPECT_TRUE(parseServerUrl(start + std::string(4096 - start.size(), 'a')).ok());
  EXPECT_FALSE(parseServerUrl(start + std::string(4097 - start.size(), 'a')).ok());
}

}  // namespace
}  // namespace sluice::kubernetes
