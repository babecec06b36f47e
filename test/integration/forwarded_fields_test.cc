// Tests what the gateway accepts of a client's forwarded fields, and which of them an origin gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSpoofed =
    "X-Forwarded-For: 127.0.0.1\r\nX-FORWARDED-FOR: 10.9.9.9\r\nX-Forwarded-Host: inner.spoofed\r\n"
    "X-Forwarded-Proto: gopher\r\nX-Forwarded-Port: 99\r\nX-Real-IP: 10.8.8.8\r\nForwarded: for=10.7.7.7\r\n"
    "X_Forwarded_For: 10.6.6.6\r\nX-Real_IP: 10.6.6.6\r\n";

/// Returns the head that the origin got, in lower case.
class ForwardedFields : public testing::Test {
 protected:
  std::string askWith(const std::string& mode) {
    const GatewayProcess gateway(
        {.backends = {{.port = origin_.port()}}, .settings = "forwardedHeaders: " + mode + "\n"});
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET / HTTP/1.1\r\nHost: asked.test\r\n" + std::string(kSpoofed) +
                "Connection: x-forwarded-for, x-forwarded-proto\r\n\r\n");
    EXPECT_EQ(readResponse(client).status, 200);
    std::string head = origin_.heads().back();
    std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
    return head;
  }

  RawOrigin origin_{RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")};
};

TEST_F(ForwardedFields, AreRemovedByDefault) {
  const std::string head = askWith("\"Off\"");
  for (const char* gone : {"forwarded", "x-real-ip", "127.0.0.1\r\n", "10.9.9.9", "10.6.6.6", "spoofed", "gopher"}) {
    EXPECT_THAT(head, Not(HasSubstr(gone)));
  }
}

TEST_F(ForwardedFields, EndWithTheGatewaysEntryIfAppended) {
  const std::string head = askWith("Append");
  EXPECT_THAT(head, HasSubstr("x-forwarded-for: 127.0.0.1, 10.9.9.9, 127.0.0.1\r\n"));
  EXPECT_THAT(head, HasSubstr("x-forwarded-proto: http\r\n"));
  EXPECT_THAT(head, HasSubstr("x-forwarded-host: asked.test\r\n"));
  for (const char* gone : {"gopher", "spoofed", "10.7.7.7", "10.8.8.8", "10.6.6.6", "x-forwarded-port"}) {
    EXPECT_THAT(head, Not(HasSubstr(gone)));
  }
}

TEST_F(ForwardedFields, HoldOnlyTheGatewaysEntryIfOverwritten) {
  const std::string head = askWith("Overwrite");
  EXPECT_THAT(head, HasSubstr("x-forwarded-for: 127.0.0.1\r\n"));
  EXPECT_THAT(head, HasSubstr("x-forwarded-host: asked.test\r\n"));
  for (const char* gone : {"10.9.9.9", "10.6.6.6", "spoofed", "gopher"}) EXPECT_THAT(head, Not(HasSubstr(gone)));
}

TEST_F(ForwardedFields, AreTrustedOnlyAsFarAsATrustedProxyWroteThem) {
  const std::string head = askWith("{mode: Overwrite, trustedHops: 1}");
  EXPECT_THAT(head, HasSubstr("x-forwarded-for: 10.9.9.9\r\n"));
  EXPECT_THAT(head, HasSubstr("x-forwarded-host: inner.spoofed\r\n"));
  EXPECT_THAT(head, HasSubstr("x-forwarded-proto: http\r\n")) << "there is no such scheme";
}

}  // namespace
}  // namespace sluice::test
