#include "proxy/http/connection_auth.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::http {
namespace {

class ConnectionAuth : public ::testing::Test {
 protected:
  ResponseHead challenge(std::uint16_t status, const std::vector<std::string>& lines) {
    ResponseHead head;
    head.status = status;
    for (const std::string& line : lines) head.headers.add(arena_, "www-authenticate", arena_.copy(line));
    return head;
  }
  bool authenticates(std::string_view credentials) {
    Headers headers;
    headers.add(arena_, FieldId::kAuthorization, credentials);
    return authenticatesConnection(headers);
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

TEST_F(ConnectionAuth, KnowsCredentialsOfTheSchemesThatBelongToAConnection) {
  for (const char* own : {"NTLM TlRMTVNTUAAB", "ntlm x", "Negotiate YII=", "NEGOTIATE", "NTLM\tx"}) {
    EXPECT_TRUE(authenticates(own)) << own;
  }
  for (const char* other : {"Basic NTLM", "Bearer negotiate", "NTLMv2 x", "", "Negotiated x"}) {
    EXPECT_FALSE(authenticates(other)) << other;
  }
  EXPECT_FALSE(authenticatesConnection(Headers()));
}

TEST_F(ConnectionAuth, KnowsChallengesThatAskForThem) {
  EXPECT_TRUE(asksToAuthenticateConnection(challenge(401, {"Basic realm=\"a\"", "NTLM"})));
  EXPECT_TRUE(asksToAuthenticateConnection(challenge(401, {"Basic realm=\"a, b\", Negotiate"})));
  EXPECT_TRUE(asksToAuthenticateConnection(challenge(407, {"negotiate YII="})));
  EXPECT_FALSE(asksToAuthenticateConnection(challenge(401, {"Basic realm=\"NTLM\""})));
  EXPECT_FALSE(asksToAuthenticateConnection(challenge(200, {"NTLM"})));
  EXPECT_FALSE(asksToAuthenticateConnection(challenge(401, {})));
}

TEST_F(ConnectionAuth, RemovesOnlyTheirChallenges) {
  ResponseHead head = challenge(401, {"Basic realm=\"a\"", "NTLM", "Negotiate"});
  removeConnectionChallenges(head.headers);
  ASSERT_EQ(head.headers.size(), 1U);
  EXPECT_EQ(head.headers.begin()->value, "Basic realm=\"a\"");
}

}  // namespace
}  // namespace sluice::http
