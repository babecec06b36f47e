#include "proxy/exchange/reply/local_reply.h"

#include <gtest/gtest.h>

#include "proxy/base/chunk_pool.h"
#include "proxy/content/json.h"
#include "test/support/reference_page.h"

namespace sluice::exchange {
namespace {

class LocalReply : public ::testing::Test {
 protected:
  http::ResponseHead reply(const base::Error& error) {
    return localReply(arena_, pipe_, {request_, error, requestId_});
  }
  std::string value(const http::ResponseHead& head, std::string_view name) {
    const http::Field* field = head.headers.find(name);
    return field != nullptr ? std::string(field->value) : std::string("(none)");
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::BodyPipe pipe_{pool_};
  http::RequestHead request_;
  std::string_view requestId_;
};

TEST_F(LocalReply, IsAProblemDocumentWithTheCode) {
  const auto head = reply(base::Error::upstream(base::ErrorType::kDnsError, "no such name: \"a\"\n"));
  EXPECT_EQ(head.status, 503);
  EXPECT_EQ(value(head, "content-type"), "application/problem+json");
  EXPECT_EQ(pipe_.bytes.front(),
            "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"
            "\"detail\":\"no such name: \\\"a\\\"\\n\",\"code\":\"dns_error\","
            "\"error\":{\"message\":\"no such name: \\\"a\\\"\\n\",\"type\":\"api_error\",\"code\":\"dns_error\","
            "\"param\":null}}\n");
  EXPECT_EQ(head.contentLength, pipe_.bytes.size());
  EXPECT_EQ(pipe_.end(), http::PipeEnd::kComplete);
}

TEST_F(LocalReply, HasItsMembersInTheReference) {
  requestId_ = "abc-1";
  reply(base::Error::badRequest(413, "too long").ofLimit("processorBuffer"));
  const auto document = content::parseJson(pipe_.bytes.front());
  ASSERT_TRUE(document.ok());
  std::vector<std::string> names;
  for (const content::Member& member : document->members) names.push_back(member.key);
  const std::string section = test::pageSection(test::referencePage("errors.md"), "## The answer");
  EXPECT_EQ(test::firstWords(test::pageTable(section, "| member | meaning |")), names);
}

TEST_F(LocalReply, NamesTheRequestAndTheLimitButNotTheDetailsForLogs) {
  requestId_ = "abc-1";
  base::Error error = base::Error::badRequest(413, "too long").ofLimit("processorBuffer");
  error.note = "10.0.0.9 is private";
  error.address = "10.0.0.9:443";
  reply(error);
  EXPECT_EQ(pipe_.bytes.front(),
            "{\"type\":\"about:blank\",\"title\":\"Content Too Large\",\"status\":413,\"detail\":\"too long\","
            "\"code\":\"http_request_error\",\"limit\":\"processorBuffer\",\"request_id\":\"abc-1\","
            "\"error\":{\"message\":\"too long\",\"type\":\"invalid_request_error\",\"code\":\"http_request_error\","
            "\"param\":null}}\n");
}

TEST_F(LocalReply, NamesTheBackendIfItIsTold) {
  const base::Error error = base::Error::upstream(base::ErrorType::kConnectionRefused, "it refuses");
  localReply(arena_, pipe_, {.request = request_, .error = error, .backend = "Backend demo/api"});
  const std::string_view document = pipe_.bytes.front();
  EXPECT_NE(document.find("\"detail\":\"it refuses (Backend demo/api)\""), std::string::npos) << document;
  EXPECT_NE(document.find("\"message\":\"it refuses (Backend demo/api)\""), std::string::npos) << document;
  request_.version = http::Version::kHttp2;
  request_.headers.add(arena_, http::FieldId::kContentType, "application/grpc");
  const auto head = localReply(arena_, pipe_, {.request = request_, .error = error, .backend = "Backend demo/api"});
  EXPECT_EQ(value(head, "grpc-message"), "connection_refused: it refuses (Backend demo/api)");
}

TEST_F(LocalReply, HasTheClassOfErrorThatClientsOfModelProvidersKnow) {
  const auto classOf = [this](base::ErrorType type) {
    pipe_ = http::BodyPipe(pool_);
    reply(base::Error(type, base::ErrorOrigin::kDownstream, "no"));
    const std::string body(pipe_.bytes.front());
    const std::size_t at = body.find("\"type\":", 20) + 7;
    return body.substr(at, body.find(',', at) - at);
  };
  EXPECT_EQ(classOf(base::ErrorType::kDestinationNotFound), "\"not_found_error\"");
  EXPECT_EQ(classOf(base::ErrorType::kHttpRequestDenied), "\"permission_error\"");
  EXPECT_EQ(classOf(base::ErrorType::kRateLimited), "\"rate_limit_error\"");
  EXPECT_EQ(classOf(base::ErrorType::kHttpRequestError), "\"invalid_request_error\"");
  EXPECT_EQ(classOf(base::ErrorType::kProxyConfigurationError), "\"api_error\"");
}

TEST_F(LocalReply, HasTheLengthButNoBodyForHead) {
  request_.method = http::Method::kHead;
  const auto head = reply(base::Error::badRequest(400, "no"));
  EXPECT_EQ(head.body, http::Body::kNone);
  EXPECT_GT(head.contentLength.value_or(0), 0U);
  EXPECT_TRUE(pipe_.bytes.empty());
}

TEST_F(LocalReply, IsTrailersOnlyForGrpc) {
  request_.version = http::Version::kHttp2;
  request_.headers.add(arena_, http::FieldId::kContentType, "application/grpc+proto");
  const auto head = reply(base::Error::upstream(base::ErrorType::kConnectionRefused, "50% \xc3\xa4"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, http::Body::kNone);
  EXPECT_EQ(value(head, "content-type"), "application/grpc");
  EXPECT_EQ(value(head, "grpc-status"), "14");
  EXPECT_EQ(value(head, "grpc-message"), "connection_refused: 50%25 %C3%A4");
}

TEST_F(LocalReply, HasTheStatusAndTheWordsOfTheStepForGrpc) {
  request_.version = http::Version::kHttp2;
  request_.headers.add(arena_, http::FieldId::kContentType, "application/grpc");
  processing::Reply own{base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor, "denied")};
  const auto refused = [&] { return localReply(arena_, pipe_, {request_, own.error, {}, &own}); };
  EXPECT_EQ(value(refused(), "grpc-status"), "7");
  EXPECT_EQ(value(refused(), "grpc-message"), "http_request_denied: denied");
  own.grpcStatus = 9;
  own.body = "come back\nlater";
  EXPECT_EQ(value(refused(), "grpc-status"), "9");
  EXPECT_EQ(value(refused(), "grpc-message"), "come back%0Alater");
  EXPECT_TRUE(pipe_.bytes.empty());
}

TEST_F(LocalReply, IsNeverASuccessForATunnel) {
  request_.version = http::Version::kHttp2;
  request_.headers.add(arena_, http::FieldId::kContentType, "application/grpc");
  request_.body = http::Body::kTunnel;
  EXPECT_EQ(reply(base::Error::upstream(base::ErrorType::kConnectionRefused, "no")).status, 503);
}

TEST_F(LocalReply, IsNeverASuccessForHttp11WhateverItsContentType) {
  request_.headers.add(arena_, http::FieldId::kContentType, "application/grpc");
  const auto head = reply(base::Error::upstream(base::ErrorType::kConnectionRefused, "no"));
  EXPECT_EQ(head.status, 503);
  EXPECT_EQ(value(head, "content-type"), "application/problem+json");
}

TEST_F(LocalReply, IsAPlainHttp415ForAClientThatDoesNotSpeakGrpc) {
  request_.version = http::Version::kHttp2;
  request_.headers.add(arena_, http::FieldId::kContentType, "application/grpc");
  const auto head = reply(base::Error::badRequest(415, "gRPC only"));
  EXPECT_EQ(head.status, 415);
  EXPECT_EQ(value(head, "content-type"), "application/problem+json");
  EXPECT_EQ(value(head, "grpc-status"), "(none)");
}

TEST_F(LocalReply, NamesTheMethodsBesideOneThatIsNotAllowed) {
  EXPECT_EQ(value(reply(base::Error::badRequest(405, "no")), "allow"),
            "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE");
  EXPECT_EQ(value(reply(base::Error::badRequest(400, "no")), "allow"), "(none)");
}

TEST_F(LocalReply, HasATitleForEveryStatusOfAnErrorType) {
  for (std::size_t i = 0; i < base::kErrorTypeCount; ++i) {
    EXPECT_NE(statusTitle(base::defaultStatus(static_cast<base::ErrorType>(i))), "Error") << i;
  }
  for (const std::uint16_t status : std::initializer_list<std::uint16_t>{405, 408, 413, 414, 415, 417, 431, 501})
    EXPECT_NE(statusTitle(status), "Error") << status;
}

}  // namespace
}  // namespace sluice::exchange
