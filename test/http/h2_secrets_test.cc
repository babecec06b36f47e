// Secrets on their way through HTTP/2: they are in no table of HPACK, on either side (RFC 7541 sections 6.2.3
// and 7.1.3).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/support/h2_frames.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Takes a client's bytes and passes the requests in them on to a backend, as a gateway does.
class H2Secrets : public ::testing::Test {
 protected:
  void SetUp() override {
    server->feed(h2::clientHello());
    client->feed(h2::settings({}) + h2::settingsAck());
    flush();
  }

  /// Passes the request with these lines on; returns the HEADERS that the backend gets.
  const H2Frame& passOn(std::string_view block) {
    clientId += 2;
    server->feed(h2::headers(clientId, block, true));
    backendId = client->sendRequest(clientSink.open().token, serverSink.last().message.head, http::Scheme::kHttp);
    flush();
    return *toBackend.find(H2Type::kHeaders, backendId);
  }
  /// Passes the response with these lines on; returns the HEADERS that the client gets.
  const H2Frame& passBack(std::string_view block) {
    client->feed(h2::headers(backendId, block, true));
    server->sendResponse(clientId, clientSink.last().message.head);
    flush();
    return *toClient.find(H2Type::kHeaders, clientId);
  }
  void flush() {
    toClient.feed(produced(*server, pool));
    toBackend.feed(produced(*client, pool));
  }

  base::ChunkPool pool;
  http::Limits limits;
  ManualClock clock;
  RecordingServerSink serverSink{pool};
  RecordingClientSink clientSink{pool};
  std::unique_ptr<http::ServerCodec> server =
      http::makeH2ServerCodec(serverSink, pool, limits, http::Scheme::kHttp, clock);
  std::unique_ptr<http::ClientCodec> client = http::makeH2ClientCodec(clientSink, pool, limits, clock);
  H2FrameReader toClient, toBackend;
  std::uint32_t clientId = static_cast<std::uint32_t>(-1);
  std::uint32_t backendId = 0;
};

TEST_F(H2Secrets, CredentialsAreNeverIndexedTowardsABackend) {
  const std::string cookie(100, 'c');  // long ones and short ones
  for (const std::string& value : {cookie, std::string("a=b")}) {
    const std::string block = h2::block(h2::get()) + h2::indexedLine("authorization", "Bearer " + value) +
                              h2::indexedLine("cookie", value) + h2::indexedLine("x-plain", value);
    EXPECT_THAT(passOn(block).secrets, ElementsAre("authorization", "cookie"));
  }
}

TEST_F(H2Secrets, CredentialsAreNeverIndexedTowardsAClient) {
  passOn(h2::block(h2::get()));
  const H2Frame& got = passBack(h2::line(":status", "200") + h2::indexedLine("set-cookie", std::string(100, 'c')) +
                                h2::indexedLine("x-plain", "1"));
  EXPECT_THAT(got.secrets, ElementsAre("set-cookie"));
}

TEST_F(H2Secrets, AFieldThatAClientMarksAsNeverIndexedIsNotIndexedTowardsABackend) {
  const H2Frame& got = passOn(h2::block(h2::get()) + h2::secretLine("x-api-key", "hidden") +
                              h2::secretLine("user-agent", "mine") + h2::line("x-plain", "1"));
  EXPECT_THAT(got.secrets, ElementsAre("x-api-key", "user-agent"));
  EXPECT_EQ(got.value("x-api-key"), "hidden");
}

TEST_F(H2Secrets, AFieldThatABackendMarksAsNeverIndexedIsNotIndexedTowardsAClient) {
  passOn(h2::block(h2::get()));
  const H2Frame& got =
      passBack(h2::line(":status", "200") + h2::secretLine("x-token", "hidden") + h2::line("x-plain", "1"));
  EXPECT_THAT(got.secrets, ElementsAre("x-token"));
}

TEST_F(H2Secrets, AMarkOfOneRequestDoesNotStayForTheNext) {
  passOn(h2::line(":method", "GET") + h2::line(":scheme", "http") + h2::secretLine(":path", "/?key=1") +
         h2::line(":authority", "a") + h2::secretLine("x-a", "1"));
  const H2Frame& got = passOn(h2::block(h2::get()) + h2::line("x-a", "1"));
  EXPECT_THAT(got.secrets, IsEmpty());
}

TEST_F(H2Secrets, ATargetThatAClientMarksAsNeverIndexedIsNotIndexed) {
  const H2Frame& got = passOn(h2::line(":method", "GET") + h2::line(":scheme", "http") +
                              h2::secretLine(":path", "/?key=1") + h2::line(":authority", "a"));
  EXPECT_THAT(got.secrets, ElementsAre(":method", ":scheme", ":path", ":authority"));
  EXPECT_EQ(got.value(":path"), "/?key=1");
}

TEST_F(H2Secrets, TrailersKeepTheirMarks) {
  http::RequestHead head;
  head.authority = "a";
  head.target = "/";
  head.body = http::Body::kUntilEnd;
  auto& stream = clientSink.open();
  const http::StreamId id = client->sendRequest(stream.token, head, http::Scheme::kHttp);
  http::Trailers trailers(pool);
  trailers.fields.add(trailers.arena, {"x-sum", "1", http::FieldId::kOther, http::Care::kSecret});
  stream.request.finish(std::move(trailers));
  flush();
  EXPECT_THAT(toBackend.frames().back().secrets, ElementsAre("x-sum"));
  EXPECT_EQ(toBackend.frames().back().stream, id);
}

}  // namespace
}  // namespace sluice::test
