// The admin and health ports, as operators, probes and strangers meet them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/integration/support/gateway.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/socket.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

RawResponse ask(std::uint16_t port, const std::string& request) {
  Socket client = Socket::connect(port);
  client.send(request);
  return readResponse(client);
}

TEST(Admin, StatusNamesEveryObjectWithItsConditions) {
  const Gateway gateway({.backends = {{.port = 9}}});
  const RawResponse got = ask(gateway.adminPort(), "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_EQ(got.status, 200);
  for (const char* part : {"\"kind\":\"Gateway\"", "\"kind\":\"HTTPRoute\"", "\"kind\":\"Backend\"",
                           "\"type\":\"Accepted\"", "\"state\":\"InSync\""}) {
    EXPECT_THAT(got.body, HasSubstr(part));
  }
}

TEST(Admin, AnswersOnlyToAddressesAndLocalhost) {
  const Gateway gateway({.backends = {{.port = 9}}});
  for (const char* host : {"127.0.0.1:9901", "localhost", "[::1]:9901", "10.1.2.3"}) {
    EXPECT_EQ(ask(gateway.adminPort(), "GET /metrics HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n").status, 200)
        << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example"}) {
    EXPECT_EQ(ask(gateway.adminPort(), "GET /metrics HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n").status, 403)
        << host;
  }
}

TEST(Admin, ChangesNothingWhateverIsAsked) {
  const Gateway gateway({.backends = {{.port = 9}}});
  EXPECT_EQ(ask(gateway.adminPort(), "POST /status HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").status, 405);
  EXPECT_EQ(ask(gateway.adminPort(), "GET /quitquitquit HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 404);
  EXPECT_EQ(ask(gateway.adminPort(), "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 200);
}

TEST(Admin, AWebPageOfSomebodyElseGetsNothingOutOfIt) {  // row 67
  const Gateway gateway({.backends = {{.port = 9}}});
  const std::string origin = "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n";
  const RawResponse read = ask(gateway.adminPort(), "GET /status HTTP/1.1\r\nHost: localhost\r\n" + origin + "\r\n");
  EXPECT_FALSE(read.field("access-control-allow-origin"));
  for (const std::string method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const RawResponse got = ask(gateway.adminPort(), method + " /status HTTP/1.1\r\nHost: localhost\r\n" + origin +
                                                         "Content-Length: 0\r\n\r\n");
    EXPECT_EQ(got.status, 405) << method;
    EXPECT_FALSE(got.field("access-control-allow-origin")) << method;
  }
  EXPECT_EQ(ask(gateway.adminPort(), "GET http://evil.example/status HTTP/1.1\r\nHost: evil.example\r\n\r\n").status,
            403);
  H2Client client(gateway.adminPort());
  client.send(h2::headers(1, h2::get("/status"), true));  // at example.com
  ASSERT_TRUE(client.readStream(1));
  EXPECT_EQ(client.status(1), "403");
}

}  // namespace
}  // namespace sluice::test
