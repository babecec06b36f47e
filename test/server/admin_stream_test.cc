// Answers of the admin port that stay open: clients get the newest text, by either version of HTTP, and those that do
// not read, or are too many, cost no more than their place.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proxy/server/admin/live_feed.h"
#include "test/server/admin_rig.h"

namespace sluice::server {
namespace {

using std::chrono::seconds;

constexpr std::string_view kLook = "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr base::Duration kAnswerBound = seconds(30);

class AdminStreams : public AdminRig {
 protected:
  AdminStreams() {
    server_.setBounds({64, kAnswerBound});
    pages_["/live"] = [this](AdminAnswer answer) {
      std::shared_ptr<const LivePlace> place = feed_.join(answer.waker());
      if (place == nullptr) return answer.give({503, "text/plain", "full\n"});
      answer.give({200, "text/event-stream", AdminBody(std::move(place))});
    };
  }
  ~AdminStreams() override { server_.shutdown(); }

  void publish(const std::string& text) {
    const net::Worker::Turn turn(worker_);
    feed_.publish(text);
  }
  void close() {
    const net::Worker::Turn turn(worker_);
    feed_.close();
  }
  /// Connects a client that has the head of a stream.
  test::Descriptor look(int receiveBuffer = 0) {
    test::Descriptor client = receiveBuffer > 0 ? test::connectBlocking(socket_.address(), receiveBuffer) : connect();
    EXPECT_TRUE(contains(ask(client, kLook, "\r\n\r\n"), "content-type: text/event-stream"));
    return client;
  }
  void pass(base::Duration time) {
    clock_.advance(time);
    const net::Worker::Turn turn(worker_);
  }
  bool leaves(std::size_t readers) {
    return test::runUntil(worker_, [&] { return feed_.readers() == readers; });
  }

  LiveFeed feed_;
};

TEST_F(AdminStreams, BringEachTextToEveryClientAndEndCleanly) {
  const test::Descriptor first = look();
  publish("one\n");
  EXPECT_TRUE(contains(readUntil(first, "one\n"), "one\n"));
  const test::Descriptor second = connect();
  EXPECT_TRUE(contains(ask(second, kLook, "one\n"), "one\n")) << "a new client gets the newest text at once";
  publish("two\n");
  EXPECT_TRUE(contains(readUntil(first, "two\n"), "two\n"));
  EXPECT_TRUE(contains(readUntil(second, "two\n"), "two\n"));
  EXPECT_EQ(feed_.readers(), 2u);
  close();
  EXPECT_TRUE(contains(readUntil(first, "0\r\n\r\n"), "0\r\n\r\n"));
  EXPECT_TRUE(contains(readUntil(second, "0\r\n\r\n"), "0\r\n\r\n"));
  EXPECT_TRUE(leaves(0));
  EXPECT_TRUE(contains(ask(first, kHello, "hello\n"), " 200 ")) << "the connection serves on";
}

TEST_F(AdminStreams, SkipTextsForAClientThatReadsSlowly) {
  constexpr std::size_t kTexts = 40;
  const test::Descriptor client = look(4096);
  for (std::size_t i = 0; i < kTexts; ++i) {
    publish("<" + std::to_string(i) + std::string(256 * 1024, 'x') + ">\n");
    bool ran = false;
    worker_.post([&ran] { ran = true; });
    ASSERT_TRUE(test::runUntil(worker_, [&] { return ran; }));
  }
  publish("<last><last>\n");  // a chunk may end in one of them
  const std::string received = readUntil(client, "<last>");
  EXPECT_TRUE(contains(received, "<last>"));
  std::size_t begun = 0;
  for (std::size_t i = 0; i < kTexts; ++i) begun += contains(received, "<" + std::to_string(i) + "x") ? 1 : 0;
  EXPECT_GE(begun, 1u);
  EXPECT_LT(begun, kTexts / 2) << "what the client did not read was not kept for it";
}

TEST_F(AdminStreams, OutlastTheTimeForAnAnswerIfTheyAreRead) {
  const test::Descriptor reading = look();
  const test::Descriptor stalled = look(4096);
  const std::string text(1024 * 1024, 'x');
  publish(text + "1\n");
  EXPECT_TRUE(contains(readUntil(reading, "1\n"), "1\n"));
  pass(kAnswerBound / 2);
  EXPECT_EQ(feed_.readers(), 2u);
  publish(text + "2\n");
  EXPECT_TRUE(contains(readUntil(reading, "2\n"), "2\n"));
  pass(kAnswerBound * 2 / 3);
  EXPECT_TRUE(leaves(1)) << "one client has not taken the first text in time";
  pass(kAnswerBound * 3);
  publish("3\n");
  EXPECT_TRUE(contains(readUntil(reading, "3\n"), "3\n")) << "a client that waits for the next text owes nothing";
}

TEST_F(AdminStreams, AreBoundedInNumber) {
  std::vector<test::Descriptor> clients;
  for (std::size_t i = 0; i < LiveFeed::kMostReaders; ++i) clients.push_back(look());
  const test::Descriptor another = connect();
  EXPECT_TRUE(contains(ask(another, kLook, "full\n"), " 503 "));
  clients.pop_back();
  // A client that has closed its side may still read. The first text that it does not take is answered with a reset,
  // and the next one cannot be sent.
  publish("one\n");
  publish("two\n");
  ASSERT_TRUE(leaves(LiveFeed::kMostReaders - 1)) << "the place of a client that has left is free";
  EXPECT_TRUE(contains(ask(another, kLook, "\r\n\r\n"), " 200 "));
}

TEST_F(AdminStreams, HaveNoBodyForHead) {
  const test::Descriptor client = connect();
  EXPECT_TRUE(contains(ask(client, "HEAD /live HTTP/1.1\r\nHost: localhost\r\n\r\n", "\r\n\r\n"), "text/event-stream"));
  EXPECT_TRUE(leaves(0));
  publish("one\n");
  EXPECT_TRUE(contains(ask(client, kHello, "hello\n"), " 200 "));
}

TEST_F(AdminStreams, AreStreamsOfHttp2BesideOtherRequests) {
  const test::Descriptor client = connect();
  test::H2FrameReader reader;
  const auto bodyOf = [&reader](std::uint32_t stream) { return reader.body(stream); };
  ASSERT_TRUE(speak(client, test::h2::clientHello() + h2Get(1, "/live"), reader, [&] { return feed_.readers() == 1; }));
  publish("one\n");
  ASSERT_TRUE(
      speak(client, h2Get(3, "/hello"), reader, [&] { return bodyOf(1) == "one\n" && bodyOf(3) == "hello\n"; }));
  publish("two\n");
  ASSERT_TRUE(speak(client, {}, reader, [&] { return bodyOf(1) == "one\ntwo\n"; }));
}

TEST_F(AdminStreams, MayOutliveTheirFeed) {
  auto feed = std::make_unique<LiveFeed>();
  const std::shared_ptr<const LivePlace> place = feed->join([] {});
  feed.reset();
  EXPECT_TRUE(place->ended());
}

}  // namespace
}  // namespace sluice::server
