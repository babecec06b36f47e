// Tests the client of an API server: the fields of its requests, the arrival of answers, and the renewal of
// credentials.
#include "proxy/kubernetes/client/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

/// Records its call's events.
class CallingUser final : private ApiCallUser {
 public:
  explicit CallingUser(ApiRig& rig) : rig_(rig) {}
  void call(const ApiRequest& request) {
    rig_.inTurn([&] { call_ = std::make_unique<ApiCall>(rig_.client, request, static_cast<ApiCallUser&>(*this)); });
  }
  void drop() {
    rig_.inTurn([&] { call_.reset(); });
  }

  bool dropsAtResponse = false;
  bool dropsAtBody = false;
  int status = 0;
  base::Duration retryAfter{};
  std::string body;
  int ends = 0;
  std::optional<base::Error> error;

 private:
  void onApiResponse(int itsStatus, base::Duration after) override {
    status = itsStatus;
    retryAfter = after;
    if (dropsAtResponse) call_.reset();
  }
  void onApiBody(std::string_view bytes) override {
    body += bytes;
    if (dropsAtBody) call_.reset();
  }
  void onApiEnd() override {
    ++ends;
    call_.reset();
  }
  void onApiFailed(const base::Error& why) override {
    error = why;
    call_.reset();
  }

  ApiRig& rig_;
  std::unique_ptr<ApiCall> call_;
};

class ApiClients : public ::testing::TestWithParam<http::Version> {
 protected:
  ApiRig rig{GetParam()};
  CallingUser user{rig};
};

INSTANTIATE_TEST_SUITE_P(Versions, ApiClients, ::testing::Values(http::Version::kHttp11, http::Version::kHttp2));

TEST_P(ApiClients, AskWithTheTokenAndHandOverTheAnswer) {
  user.call({.path = "/api/v1/namespaces?limit=1"});
  ASSERT_EQ(rig.requests(), 1U);
  EXPECT_EQ(rig.target(0), "/api/v1/namespaces?limit=1");
  EXPECT_EQ(rig.request(0).message.head.authority, "api.test:6443");
  EXPECT_EQ(rig.field(0, "authorization"), "Bearer first-token");
  EXPECT_EQ(rig.field(0, "accept"), "application/json");
  rig.answer(0, 200, "{}");
  EXPECT_EQ(user.status, 200);
  EXPECT_EQ(user.body, "{}");
  EXPECT_EQ(user.ends, 1);
  EXPECT_FALSE(user.error);
}

TEST_P(ApiClients, PutThePrefixOfTheServersPathBeforeEachPath) {
  rig.access.pathPrefix = "/k8s/clusters/c-1";
  rig.access.fingerprint = "two";
  rig.advance(minutes(1));
  user.call({.path = "/api"});
  EXPECT_EQ(rig.target(0), "/k8s/clusters/c-1/api");
  EXPECT_EQ(rig.client.url(), "https://api.test:6443/k8s/clusters/c-1");
}

TEST_P(ApiClients, SendABody) {
  user.call({.method = http::Method::kPost, .path = "/api", .body = "{\"a\":1}", .contentType = "application/json"});
  ASSERT_EQ(rig.requests(), 1U);
  EXPECT_EQ(rig.request(0).body, "{\"a\":1}");
  EXPECT_EQ(rig.field(0, "content-type"), "application/json");
}

TEST_P(ApiClients, HandOverLargeBodiesInWhole) {
  user.call({.path = "/api"});
  const std::string text(std::size_t{3} * 1024 * 1024, 'x');
  rig.answer(0, 200, text);
  EXPECT_EQ(user.body.size(), text.size());
  EXPECT_EQ(user.ends, 1);
}

TEST_P(ApiClients, LetTheirUserDropTheCallInEachEvent) {
  user.dropsAtResponse = true;
  user.call({.path = "/a"});
  rig.answer(0, 200, "never");
  EXPECT_EQ(user.body, "");
  user.dropsAtResponse = false;
  user.dropsAtBody = true;
  user.call({.path = "/b"});
  rig.answer(1, 200, "once");
  EXPECT_EQ(user.body, "once");
  EXPECT_EQ(user.ends, 0);
  user.call({.path = "/c"});
  user.drop();
  EXPECT_FALSE(user.error);
}

TEST_P(ApiClients, ReadRetryAfterInSecondsAndNoLongerThanTenMinutes) {
  for (const auto& [written, expected] : std::vector<std::pair<std::string, seconds>>{
           {"7", seconds(7)}, {"0", seconds(0)}, {"-3", seconds(0)}, {"soon", seconds(0)}, {"99999", seconds(600)}}) {
    user.call({.path = "/api"});
    rig.answer(rig.requests() - 1, 429, "{}", {{"retry-after", written}});
    EXPECT_EQ(user.retryAfter, expected) << written;
  }
}

TEST_P(ApiClients, FailIfTheServerIsSilentAndThenUseAnotherConnection) {
  CallingUser other(rig);
  user.call({.path = "/api", .idle = seconds(5)});
  rig.begin(0);
  rig.advance(seconds(4));
  rig.send(0, "x");
  rig.advance(seconds(4));
  EXPECT_FALSE(user.error) << "every byte counts";
  rig.advance(seconds(2));
  ASSERT_TRUE(user.error);
  EXPECT_EQ(user.error->type, base::ErrorType::kHttpResponseTimeout);
  other.call({.path = "/other"});
  ASSERT_EQ(rig.requests(), 2U);
  EXPECT_NE(rig.connectionOf(1), rig.connectionOf(0));
}

TEST_P(ApiClients, SayWhenTheServerRefusesConnections) {
  rig.accepts = false;
  user.call({.path = "/api"});
  ASSERT_TRUE(user.error);
  EXPECT_EQ(user.error->type, base::ErrorType::kConnectionRefused);
}

TEST_P(ApiClients, ReadTheAccessAgainEachMinute) {
  EXPECT_EQ(rig.accessRead, 1);
  rig.access.token = base::Secret("second-token");
  rig.advance(seconds(59));
  EXPECT_EQ(rig.accessRead, 1);
  rig.advance(seconds(2));
  EXPECT_EQ(rig.accessRead, 2);
  user.call({.path = "/api"});
  EXPECT_EQ(rig.field(0, "authorization"), "Bearer second-token");
}

TEST_P(ApiClients, ReadTheAccessAtOnceIfTheServerRefusesTheToken) {
  rig.advance(seconds(2));
  rig.access.token = base::Secret("second-token");
  user.call({.path = "/api"});
  EXPECT_EQ(rig.field(0, "authorization"), "Bearer first-token");
  rig.answer(0, 401, statusBody(401, "Unauthorized"));
  EXPECT_EQ(rig.accessRead, 2);
  user.call({.path = "/api"});
  EXPECT_EQ(rig.field(1, "authorization"), "Bearer second-token");
  // A server that refuses every token has it read once a second at most.
  for (std::size_t i = 1; i < 10; ++i) {
    rig.answer(i, 401, statusBody(401, "Unauthorized"));
    user.call({.path = "/api"});
  }
  EXPECT_EQ(rig.accessRead, 2);
}

TEST_P(ApiClients, KeepTheAccessThatTheyHaveWhileItCannotBeReadAndSayItOnce) {
  rig.accessFault = "token file: no such file";
  for (int i = 0; i < 3; ++i) rig.advance(minutes(1) + seconds(1));
  EXPECT_EQ(rig.accessRead, 4);
  EXPECT_EQ(rig.logged.count("token file: no such file"), 1U);
  user.call({.path = "/api"});
  EXPECT_EQ(rig.field(0, "authorization"), "Bearer first-token");
  EXPECT_THAT(rig.logged.text(), Not(HasSubstr("first-token")));
}

TEST_P(ApiClients, MakeNewConnectionsForNewCertificatesAndLetTheOldOnesFinish) {
  CallingUser other(rig);
  user.call({.path = "/long", .idle = minutes(10)});
  rig.begin(0);
  rig.access.fingerprint = "two";
  rig.advance(minutes(1) + seconds(1));
  other.call({.path = "/api"});
  ASSERT_EQ(rig.requests(), 2U);
  EXPECT_NE(rig.connectionOf(1), rig.connectionOf(0));
  rig.send(0, "still here");
  rig.finish(0);
  EXPECT_EQ(user.body, "still here");
  EXPECT_EQ(user.ends, 1);
}

TEST_P(ApiClients, CarryMoreStreamsThanOneConnectionAllows) {
  std::vector<std::unique_ptr<CallingUser>> users;
  for (int i = 0; i < 250; ++i) {
    users.push_back(std::make_unique<CallingUser>(rig));
    users.back()->call({.path = "/watch/" + std::to_string(i)});
  }
  ASSERT_EQ(rig.requests(), 250U);
  for (std::size_t i = 0; i < 250; ++i) rig.begin(i);
  for (std::size_t i = 0; i < 250; ++i) EXPECT_EQ(users[i]->status, 200);
  if (GetParam() == http::Version::kHttp2) {
    EXPECT_LE(rig.peers.size(), 4U);
  }
}

class Http2ApiClients : public ::testing::Test {
 protected:
  ApiRig rig;
  CallingUser user{rig};
};

TEST_F(Http2ApiClients, AskOverAnotherConnectionOnceTheServerSaysGoodbye) {
  CallingUser other(rig);
  user.call({.path = "/watch"});
  rig.begin(0);
  rig.peerOf(0).codec->drain();
  rig.settle();
  other.call({.path = "/api"});
  ASSERT_EQ(rig.requests(), 2U);
  EXPECT_NE(rig.connectionOf(1), rig.connectionOf(0));
  rig.send(0, "end");
  rig.finish(0);
  EXPECT_EQ(user.body, "end");
  EXPECT_EQ(user.ends, 1);
}

}  // namespace
}  // namespace sluice::kubernetes
