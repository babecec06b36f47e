// The admin port over a real socket: its answers and its places.
#include "proxy/server/admin/admin.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "test/server/admin_rig.h"

namespace sluice::server {
namespace {

class Admin : public AdminRig {};

TEST_F(Admin, GivesAPageTheQueryAsItWasSent) {
  pages_["/asked"] = [](std::string_view query) { return AdminDocument{200, "text/plain", std::string(query) + "."}; };
  const test::Descriptor client = connect();
  EXPECT_TRUE(
      contains(ask(client, "GET /asked?a=%20&b=+ HTTP/1.1\r\nHost: localhost\r\n\r\n", "."), "\r\n\r\na=%20&b=+."));
  EXPECT_TRUE(
      contains(ask(client, "GET /asked HTTP/1.1\r\nHost: localhost\r\n\r\n", "\r\n\r\n."), "content-length: 1"));
}

TEST_F(Admin, ServesItsPagesAgainAndAgain) {
  const test::Descriptor client = connect();
  for (int i = 1; i <= 3; ++i) {
    const std::string answer = ask(client, "GET /hello?whatever HTTP/1.1\r\nHost: localhost\r\n\r\n", "hello\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
    EXPECT_TRUE(contains(answer, "content-type: text/plain\r\n")) << answer;
    EXPECT_TRUE(contains(answer, "content-length: 6\r\n")) << answer;
    EXPECT_TRUE(contains(answer, "cache-control: no-store\r\n")) << answer;
    EXPECT_EQ(made_, i) << "each time anew";
  }
}

TEST_F(Admin, AnswersWithThePagesStatus) {
  EXPECT_TRUE(ask(connect(), "GET /sick HTTP/1.1\r\nHost: localhost\r\n\r\n", "sick\n").starts_with("HTTP/1.1 503 "));
}

TEST_F(Admin, AnswersHeadWithoutABody) {
  const test::Descriptor client = connect();
  const std::string answer = ask(
      client, "HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\nGET /sick HTTP/1.1\r\nHost: localhost\r\n\r\n", "sick\n");
  EXPECT_TRUE(contains(answer, "content-length: 6\r\n")) << answer;
  EXPECT_FALSE(contains(answer, "hello\n")) << answer;
}

TEST_F(Admin, AllowsOnlyGetAndHead) {
  const std::string answer =
      ask(connect(), "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nxx", "only GET, HEAD\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << answer;
  EXPECT_TRUE(contains(answer, "allow: GET, HEAD\r\n")) << answer;
  EXPECT_EQ(made_, 0);
}

TEST_F(Admin, AnswersARequestWhoseBodyBreaks) {
  const std::string answer =
      ask(connect(), "POST /hello HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n",
          "only GET, HEAD\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << answer;
}

TEST_F(Admin, ServesOtherPagesWhileOneAnswersLater) {
  const test::Descriptor client = connect();
  askForLater(client, kLater);
  EXPECT_TRUE(contains(ask(connect(), kHello, "hello\n"), " 200 "));
  give(0, "late\n");
  const std::string answer = readUntil(client, "late\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(contains(ask(client, kHello, "hello\n"), " 200 ")) << "the connection goes on";
}

TEST_F(Admin, GivesAnAnswerOnce) {
  const test::Descriptor client = connect();
  askForLater(client, kLater);
  give(0, "first\n");
  give(0, "second\n");
  held_.clear();
  std::string answer = readUntil(client, "first\n");
  answer += ask(client, kHello, "hello\n");
  EXPECT_FALSE(contains(answer, "second")) << answer;
  EXPECT_FALSE(contains(answer, " 500 ")) << answer;
}

TEST_F(Admin, AnswersWithAnErrorIfAnAnswerIsDropped) {
  EXPECT_TRUE(ask(connect(), "GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n", "gave no answer\n")
                  .starts_with("HTTP/1.1 500 "));
  const test::Descriptor client = connect();
  askForLater(client, kLater);
  {
    const net::Worker::Turn turn(worker_);
    held_.clear();
  }
  EXPECT_TRUE(readUntil(client, "gave no answer\n").starts_with("HTTP/1.1 500 "));
}

TEST_F(Admin, IgnoresAnAnswerToACancelledRequest) {
  const test::Descriptor client = connect();
  test::H2FrameReader reader;
  askForLater(client, test::h2::clientHello() + h2Get(1, "/later"));
  ASSERT_TRUE(speak(client, test::h2::rstStream(1, test::h2error::kCancel) + test::h2::ping(), reader,
                    [&] { return reader.find(test::H2Type::kPing, 0) != nullptr; }));
  give(0, "late\n");
  ASSERT_TRUE(speak(client, h2Get(3, "/hello"), reader, [&] { return reader.body(3) == "hello\n"; }));
  EXPECT_EQ(reader.find(test::H2Type::kHeaders, 1), nullptr);
}

TEST_F(Admin, IgnoresAnAnswerToALostConnection) {
  test::Descriptor client = connect();
  askForLater(client, kLater);
  const linger atOnce{1, 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
  client.close();
  EXPECT_TRUE(contains(ask(connect(), kHello, "hello\n"), " 200 ")) << "the loop has seen the reset before this";
  give(0, "late\n");
  EXPECT_TRUE(contains(ask(connect(), kHello, "hello\n"), " 200 "));
}

TEST_F(Admin, IgnoresAnAnswerAfterShutdown) {
  const test::Descriptor client = connect();
  askForLater(client, kLater);
  askForLater(connect(), kLater);
  {
    const net::Worker::Turn turn(worker_);
    server_.shutdown();
  }
  give(0, "late\n");
  held_.clear();
  EXPECT_EQ(readUntil(client, "late\n"), "");
}

TEST_F(Admin, LetsAConnectionWaitForEightAnswersAtOnce) {
  const test::Descriptor client = connect();
  test::H2FrameReader reader;
  std::string eight = test::h2::clientHello();
  for (std::uint32_t stream = 1; stream < 16; stream += 2) eight += h2Get(stream, "/later");
  ASSERT_TRUE(speak(client, eight, reader, [&] { return held_.size() == 8; }));
  ASSERT_TRUE(
      speak(client, h2Get(17, "/later"), reader, [&] { return reader.find(test::H2Type::kRstStream, 17) != nullptr; }));
  EXPECT_EQ(reader.find(test::H2Type::kRstStream, 17)->errorCode(), test::h2error::kRefusedStream);
  give(7, "late\n");
  ASSERT_TRUE(speak(client, {}, reader, [&] { return reader.body(15) == "late\n"; }));
  ASSERT_TRUE(speak(client, h2Get(19, "/hello"), reader, [&] { return reader.body(19) == "hello\n"; }));
}

TEST_F(Admin, ListsThePagesForAnUnknownOne) {
  const std::string answer = ask(connect(), "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", "/sick\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 404 ")) << answer;
  EXPECT_TRUE(contains(answer, "/hello\n")) << answer;
}

TEST_F(Admin, AnswersABadRequest) {
  const std::string answer = ask(connect(), "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
}

}  // namespace
}  // namespace sluice::server
