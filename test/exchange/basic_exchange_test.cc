// Ordinary exchanges, each for every pair of HTTP versions: the bytes that go in at one end come out at the other.
#include <gtest/gtest.h>

#include <tuple>

#include "test/exchange/rig_options.h"
#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using http::Body;
using http::Method;
using http::Version;
using test::BackendPeer;
using test::ClientPeer;
using test::HeadSpec;
using test::Rig;

class BasicExchange : public ::testing::TestWithParam<std::tuple<Version, Version>> {
 protected:
  BasicExchange() : rig_(speaking(std::get<1>(GetParam()))), client_(rig_.connect(std::get<0>(GetParam()))) {}
  /// Waits until the request has reached the backend.
  std::size_t ask(const HeadSpec& spec) {
    const std::size_t index = client_.ask(spec);
    EXPECT_TRUE(rig_.settle());
    if (rig_.backends.empty() && rig_.dialled() == 1) rig_.accept(0, std::get<1>(GetParam()));
    return index;
  }
  BackendPeer& backend() { return *rig_.backends.at(0); }
  test::RecordingClientSink::RecordedResponse& answered(std::size_t index) {
    EXPECT_TRUE(rig_.settle());
    EXPECT_TRUE(client_.answer(index).answered);
    EXPECT_TRUE(client_.answer(index).ended);
    return client_.answer(index);
  }
  void expectClean(std::size_t exchanges) {
    EXPECT_TRUE(rig_.quiet());
    EXPECT_EQ(rig_.exchanges.size(), 0U);
    EXPECT_EQ(rig_.told.size(), exchanges);
    EXPECT_EQ(rig_.budget().requests.count(), 0U);
    rig_.close();
    EXPECT_EQ(rig_.budget().connections.count(), 0U);
    EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
  }

  Rig rig_;
  ClientPeer& client_;
};

INSTANTIATE_TEST_SUITE_P(Versions, BasicExchange,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)),
                         [](const auto& each) {
                           const auto name = [](Version version) { return version == Version::kHttp2 ? "H2" : "H1"; };
                           return std::string(name(std::get<0>(each.param))) + "To" + name(std::get<1>(each.param));
                         });

TEST_P(BasicExchange, CarriesASimpleRequestAndItsResponse) {
  const std::size_t index = ask({.target = "/ok/path?query", .fields = {{"x-one", "1"}}});
  ASSERT_EQ(backend().requests(), 1U);
  const http::RequestHead& seen = backend().request(0).message.head;
  EXPECT_EQ(seen.target, "/ok/path?query");
  EXPECT_EQ(seen.authority, "backend.test:8080");
  EXPECT_EQ(seen.headers.find(http::FieldId::kVia)->value,
            std::string(http::versionName(std::get<0>(GetParam()))) + " " + Rig::kPseudonym);
  backend().respond(0, 200, "hello");
  EXPECT_EQ(answered(index).message.head.status, 200);
  EXPECT_EQ(client_.answer(index).body, "hello");
  EXPECT_EQ(rig_.dialled(), 1U) << "one request needs one connection";
  EXPECT_EQ(rig_.told.at(0).status, 200);
  EXPECT_FALSE(rig_.told.at(0).error);
  expectClean(1);
}

TEST_P(BasicExchange, ServesManyRequestsOnOneConnectionEachWay) {
  for (std::size_t i = 0; i < 20; ++i) {
    const std::size_t index = ask({.target = "/ok"});
    backend().respond(i, 200, std::to_string(i));
    EXPECT_EQ(answered(index).body, std::to_string(i));
  }
  EXPECT_EQ(rig_.dialled(), 1U);
  expectClean(20);
}

TEST_P(BasicExchange, CarriesBodiesOfKnownLengthBothWays) {
  const std::string up(300'000, 'u');
  const std::string down(500'000, 'd');
  const std::size_t index = ask({.method = Method::kPost, .target = "/ok", .body = Body::kLength, .length = up.size()});
  client_.body(index, up);
  client_.finish(index);
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(backend().request(0).body, up);
  EXPECT_TRUE(backend().request(0).ended);
  EXPECT_EQ(backend().request(0).message.head.contentLength, up.size());
  backend().respond(0, 201, down);
  EXPECT_EQ(answered(index).body, down);
  EXPECT_EQ(rig_.told.at(0).requestBytes, up.size());
  EXPECT_EQ(rig_.told.at(0).responseBytes, down.size());
  expectClean(1);
}

TEST_P(BasicExchange, StreamsBothBodiesAtOnceWithTrailers) {
  const std::size_t index =
      ask({.method = Method::kPost, .target = "/ok", .fields = {{"te", "trailers"}}, .body = Body::kUntilEnd});
  backend().head(0, {.body = Body::kUntilEnd});
  std::string sent;
  for (int i = 0; i < 50; ++i) {
    const std::string piece = std::to_string(i) + ";";
    sent += piece;
    client_.body(index, piece);
    ASSERT_TRUE(rig_.settle());
    EXPECT_EQ(backend().request(0).body, sent) << "nothing is held back";
    backend().body(0, piece);
    ASSERT_TRUE(rig_.settle());
    EXPECT_EQ(client_.answer(index).body, sent);
  }
  client_.finish(index, {{"x-up", "1"}});
  ASSERT_TRUE(rig_.settle());
  EXPECT_TRUE(backend().request(0).ended);
  EXPECT_EQ(backend().request(0).trailers, (test::FieldList{{"x-up", "1"}}));
  backend().finish(0, {{"x-down", "2"}});
  EXPECT_EQ(answered(index).trailers, (test::FieldList{{"x-down", "2"}}));
  expectClean(1);
}

TEST_P(BasicExchange, SendsNoBodyWithResponsesThatHaveNone) {
  const struct {
    Method method;
    std::uint16_t status;
  } kCases[] = {{Method::kHead, 200}, {Method::kGet, 204}, {Method::kGet, 304}};
  std::size_t i = 0;
  for (const auto& c : kCases) {
    const std::size_t index = ask({.method = c.method, .target = "/ok"});
    backend().head(i++, {.status = c.status});
    EXPECT_EQ(answered(index).message.head.status, c.status);
    EXPECT_EQ(client_.answer(index).body, "");
  }
  EXPECT_EQ(rig_.dialled(), 1U) << "the connection stays in step";
  expectClean(3);
}

TEST_P(BasicExchange, ForwardsInformationalHeads) {
  const std::size_t index = ask({.target = "/ok"});
  backend().interim(0, 103);
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(client_.answer(index).interims, (std::vector<std::uint16_t>{103}));
  EXPECT_FALSE(client_.answer(index).answered);
  backend().interim(0, 102);
  backend().respond(0, 200, "");
  EXPECT_EQ(answered(index).interims, (std::vector<std::uint16_t>{103, 102}));
  expectClean(1);
}

TEST_P(BasicExchange, EndsTheRequestAtAnEarlyResponse) {
  const std::size_t index = ask({.method = Method::kPost, .target = "/ok", .body = Body::kLength, .length = 1'000'000});
  client_.body(index, std::string(1000, 'x'));
  ASSERT_TRUE(rig_.settle());
  backend().respond(0, 413, "too much");
  EXPECT_EQ(answered(index).message.head.status, 413);
  EXPECT_EQ(client_.answer(index).body, "too much");
  EXPECT_EQ(rig_.told.at(0).status, 413);
  EXPECT_FALSE(rig_.told.at(0).error);
  EXPECT_EQ(rig_.exchanges.size(), 0U);
  EXPECT_EQ(rig_.budget().requests.count(), 0U) << "whatever the client still sends";
  if (std::get<0>(GetParam()) == Version::kHttp2) {
    client_.body(index, std::string(999'000, 'x'));
    client_.finish(index);
    ASSERT_TRUE(rig_.settle());
    EXPECT_TRUE(client_.answer(index).sent) << "the client can finish";
    EXPECT_EQ(client_.codec->activeStreams(), 0U);
    EXPECT_LE(backend().request(0).body.size(), 1000U);
  }
  expectClean(1);
}

TEST_P(BasicExchange, AnswersRequestsThatNoRouteMatches) {
  const struct {
    const char* target;
    test::FieldList fields;
    std::uint16_t status;
    base::ErrorType type;
  } kCases[] = {{"/nowhere", {}, 404, base::ErrorType::kDestinationNotFound},
                {"/broken", {}, 500, base::ErrorType::kProxyConfigurationError},
                {"/ok", {{"via", "1.1 other, 1.1 sluice-rig"}}, 508, base::ErrorType::kProxyLoopDetected}};
  for (const auto& c : kCases) {
    const std::size_t index = client_.ask({.target = c.target, .fields = c.fields});
    EXPECT_EQ(answered(index).message.head.status, c.status) << c.target;
    EXPECT_NE(client_.answer(index).body.find(base::errorTypeName(c.type)), std::string::npos)
        << client_.answer(index).body;
    EXPECT_EQ(rig_.told.back().status, c.status);
    EXPECT_EQ(rig_.told.back().error->type, c.type);
    EXPECT_EQ(rig_.told.back().attempts, 0U);
  }
  EXPECT_EQ(rig_.dialled(), 0U);
  expectClean(3);
}

TEST_P(BasicExchange, AnswersGrpcWithTrailersOnly) {
  const std::size_t index = client_.ask({.method = Method::kPost,
                                         .target = "/nowhere",
                                         .fields = {{"content-type", "application/grpc"}},
                                         .body = Body::kUntilEnd});
  ASSERT_TRUE(rig_.settle());
  const auto& answer = client_.answer(index);
  const http::Field* status = answer.message.head.headers.find(http::FieldId::kGrpcStatus);
  if (std::get<0>(GetParam()) == Version::kHttp2) {
    EXPECT_EQ(answer.message.head.status, 200);
    ASSERT_NE(status, nullptr);
    EXPECT_EQ(status->value, "12");
    EXPECT_EQ(answer.body, "");
  } else {
    EXPECT_EQ(answer.message.head.status, 404) << "HTTP/1.1 carries no gRPC";
    EXPECT_EQ(status, nullptr);
  }
  EXPECT_EQ(rig_.told.at(0).error->type, base::ErrorType::kDestinationNotFound);
  expectClean(1);
}

TEST_P(BasicExchange, AnswersForABackendThatCannotBeReached) {
  const std::size_t index = client_.ask({.target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  rig_.wire(0).refuse();
  EXPECT_EQ(answered(index).message.head.status, 503);
  EXPECT_EQ(rig_.told.at(0).error->type, base::ErrorType::kConnectionRefused);
  EXPECT_EQ(rig_.told.at(0).attempts, 1U);
  expectClean(1);
}

TEST_P(BasicExchange, WaitsForTheNameToResolve) {
  rig_.resolver.forget(Rig::kHost);
  const std::size_t index = client_.ask({.target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  EXPECT_EQ(rig_.dialled(), 0U);
  EXPECT_EQ(rig_.resolver.questions, 1);
  rig_.resolver.know(Rig::kHost, {"192.0.2.9"});
  rig_.resolver.answer();
  ASSERT_EQ(rig_.dialled(), 1U);
  EXPECT_EQ(rig_.wire(0).address().toString(), "192.0.2.9:8080");
  rig_.accept(0, std::get<1>(GetParam()));
  backend().respond(0, 200, "x");
  EXPECT_EQ(answered(index).body, "x");
  expectClean(1);
}

TEST_P(BasicExchange, AnswersForANameThatDoesNotResolve) {
  rig_.resolver.forget(Rig::kHost);
  const std::size_t index = client_.ask({.target = "/ok"});
  ASSERT_TRUE(rig_.settle());
  rig_.resolver.know(Rig::kHost, base::Error::upstream(base::ErrorType::kDnsError, "no such name"));
  rig_.resolver.answer();
  EXPECT_EQ(answered(index).message.head.status, base::defaultStatus(base::ErrorType::kDnsError));
  EXPECT_EQ(rig_.told.at(0).error->type, base::ErrorType::kDnsError);
  expectClean(1);
}

}  // namespace
}  // namespace sluice::exchange
