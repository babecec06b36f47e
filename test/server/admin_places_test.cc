// Clients that fill the admin port, by connections or by answers that they do not read, neither shut others out nor
// fill the process's memory.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "proxy/server/admin/admin.h"
#include "test/server/admin_rig.h"
#include "test/server/body_text.h"

namespace sluice::server {
namespace {

using std::chrono::seconds;

constexpr std::size_t kPlaces = 4;
constexpr std::size_t kLongBytes = 64 * 1024 * 1024;

std::string getOf(std::string_view page) { return "GET " + std::string(page) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

class AdminPlaces : public AdminRig {
 protected:
  AdminPlaces() {
    server_.setBounds({kPlaces, seconds(30)});
    pages_["/long"] = [this] {
      auto pieces = [this, left = kLongBytes](std::string& out) mutable {
        out.assign(std::min<std::size_t>(left, 1024), 'x');
        left -= out.size();
        pieced_ += out.size();
        return !out.empty();
      };
      return AdminDocument{200, "text/plain", AdminBody::Pieces(std::move(pieces))};
    };
    pages_["/endless"] = [] {
      const auto pieces = [](std::string& out) {
        out.assign(1024, 'x');
        return true;
      };
      return AdminDocument{200, "text/plain", AdminBody::Pieces(pieces)};
    };
    pages_["/text"] = [this] { return AdminDocument{200, "text/plain", std::string(textBytes_, 'x')}; };
    pages_["/shared"] = [this] { return AdminDocument{200, "text/plain", shared_}; };
  }

  /// Waits until the server has taken all bytes that were sent to it so far.
  void settle() {
    const test::Descriptor other = test::connectBlocking(otherSocket_.address());
    ASSERT_TRUE(contains(ask(other, kHello, "hello\n"), " 200 "));
  }
  /// Connects clients that send no request.
  std::vector<test::Descriptor> silent(std::size_t count) {
    std::vector<test::Descriptor> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(connect());
      settle();
    }
    return clients;
  }
  /// Connects clients that send a request and never read.
  std::vector<test::Descriptor> stalled(std::size_t count, std::string_view page) {
    std::vector<test::Descriptor> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(test::connectBlocking(socket_.address(), 4096));
      EXPECT_TRUE(test::sendAll(clients.back(), getOf(page)));
      settle();
    }
    return clients;
  }
  bool probeIsServed() { return contains(ask(connect(), kHello, "hello\n"), " 200 "); }
  /// Returns true if the server has ended the connection, after any bytes before the end.
  static bool ended(const test::Descriptor& client) {
    std::string received;
    const ssize_t last = test::readAvailable(client, received);
    return last == 0 || errno == ECONNRESET;
  }
  void advance(base::Duration by) {
    clock_.advance(by);
    const net::Worker::Turn turn(worker_);
  }
  std::uint64_t hits(std::string_view limit) { return metrics_.at<observe::Metric::kLimitHits>(limit).value(); }

  std::size_t pieced_ = 0;
  std::size_t textBytes_ = 1024 * 1024;
  const AdminBody::Text shared_ = std::make_shared<const std::string>(10 * 1024 * 1024, 'x');
  net::ListenSocket otherSocket_ = test::listenOnLoopback();

 private:
  void SetUp() override { server_.serve(otherSocket_, pages_, actions_); }
};

TEST_F(AdminPlaces, AreKeptWhileThereAreNoMoreClientsThanPlaces) {
  const auto clients = silent(kPlaces);
  advance(seconds(2));
  settle();
  for (const test::Descriptor& client : clients) EXPECT_FALSE(ended(client));
  EXPECT_EQ(hits("adminConnections"), 0u);
}

TEST_F(AdminPlaces, AreTakenFromTheClientThatWasIdleForLongest) {
  const auto clients = silent(kPlaces);
  advance(seconds(2));
  EXPECT_TRUE(probeIsServed());
  settle();
  EXPECT_TRUE(ended(clients[0]));
  for (std::size_t i = 1; i < kPlaces; ++i) EXPECT_FALSE(ended(clients[i])) << i;
  EXPECT_EQ(hits("adminConnections"), 1u);
}

TEST_F(AdminPlaces, AreTakenFromClientsThatAskAndDoNotRead) {
  const auto clients = stalled(kPlaces, "/long");
  advance(seconds(2));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(probeIsServed()) << i;
}

TEST_F(AdminPlaces, AreLeftForAProbeHoweverManyClientsCome) {
  std::vector<test::Descriptor> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(test::connectBlocking(socket_.address(), 4096));
    ASSERT_TRUE(test::sendAll(clients.back(), getOf("/long")));
    if (i % 20 == 0) {
      EXPECT_TRUE(probeIsServed()) << i;
    }
  }
  EXPECT_TRUE(probeIsServed());
}

TEST_F(AdminPlaces, AreLeftToNewClientsForTheTimeToAsk) {
  const test::Descriptor first = connect();
  ASSERT_TRUE(contains(ask(first, kHello, "hello\n"), " 200 "));
  const auto young = silent(kPlaces - 1);
  ASSERT_TRUE(contains(ask(first, kHello, "hello\n"), " 200 ")) << "it has asked last";
  EXPECT_TRUE(probeIsServed());
  settle();
  EXPECT_TRUE(ended(first)) << "it has been served, and may come again";
  for (const test::Descriptor& client : young) EXPECT_FALSE(ended(client));
}

TEST_F(AdminPlaces, AreTakenOnlyAfterAGivenAnswerHasArrived) {
  const test::Descriptor first = connect();
  ASSERT_TRUE(test::sendAll(first, kHello));
  settle();
  advance(seconds(2));
  const auto others = silent(kPlaces);
  const std::string received = readUntil(first, "hello\n");
  EXPECT_TRUE(contains(received, "hello\n")) << received;
  EXPECT_TRUE(test::runUntil(worker_, [&] { return ended(first); }));
}

TEST_F(AdminPlaces, AreSeparateForEachPort) {
  std::vector<test::Descriptor> clients;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(contains(ask(clients.back(), kHello, "hello\n"), " 200 ")) << i;
  }
  settle();
  for (const test::Descriptor& client : clients) EXPECT_FALSE(ended(client));
}

TEST_F(AdminPlaces, AreFreedAfterAdminAnswerIfAnAnswerIsNotTaken) {
  const auto clients = stalled(1, "/long");
  advance(seconds(30) - 2 * net::TimerWheel::kTick);
  settle();
  EXPECT_EQ(hits("adminAnswer"), 0u);
  advance(4 * net::TimerWheel::kTick);
  EXPECT_TRUE(test::runUntil(worker_, [&] { return ended(clients[0]); }));
  EXPECT_EQ(hits("adminAnswer"), 1u);
}

TEST_F(AdminPlaces, AreKeptOnceAnAnswerWasTaken) {
  const test::Descriptor client = connect();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(contains(ask(client, kHello, "hello\n"), " 200 ")) << i;
    advance(seconds(20));
  }
  EXPECT_EQ(hits("adminAnswer"), 0u);
}

TEST_F(AdminPlaces, AreFreedAfterAdminAnswerIfAPageNeverAnswers) {
  const test::Descriptor client = connect();
  askForLater(client, kLater);
  advance(seconds(31));
  EXPECT_TRUE(test::runUntil(worker_, [&] { return ended(client); }));
  EXPECT_EQ(hits("adminAnswer"), 1u);
  give(0, "late\n");
}

TEST_F(AdminPlaces, DoNotHoldMoreOfAPageThanTheClientTakes) {
  const auto clients = stalled(1, "/long");
  for (int i = 0; i < 10; ++i) settle();
  EXPECT_LT(pieced_, 2u * 1024 * 1024) << "what the system holds, and a piece";
  std::size_t taken = 0;
  std::string last;
  ASSERT_TRUE(test::runUntil(worker_, [&] {
    const std::size_t before = last.size();
    test::readAvailable(clients[0], last);
    taken += last.size() - before;
    if (last.size() > 5) last.erase(0, last.size() - 5);
    return last == "0\r\n\r\n";
  }));
  EXPECT_EQ(pieced_, kLongBytes);
  EXPECT_GT(taken, kLongBytes);
}

TEST_F(AdminPlaces, DoNotWaitForALongDocumentOfAnotherClient) {
  const test::Descriptor reader = connect();
  ASSERT_TRUE(test::sendAll(reader, getOf("/endless")));
  const test::Descriptor probe = connect();
  ASSERT_TRUE(test::sendAll(probe, kHello));
  std::string received;
  std::size_t taken = 0;
  EXPECT_TRUE(test::runUntil(worker_, [&] {
    std::string part;
    test::readAvailable(reader, part);
    taken += part.size();
    test::readAvailable(probe, received);
    return contains(received, "hello\n") && taken > 4u * 1024 * 1024;
  }));
}

TEST_F(AdminPlaces, DoNotWaitForTheManyRequestsOfAnotherClient) {
  constexpr int kRequests = 200;
  const test::Descriptor greedy = connect();
  std::string requests;
  for (int i = 0; i < kRequests; ++i) requests += kHello;
  ASSERT_TRUE(test::sendAll(greedy, requests));
  ASSERT_TRUE(test::runUntil(worker_, [&] { return made_ > 0; }));
  const test::Descriptor probe = connect();
  EXPECT_TRUE(contains(ask(probe, "GET /sick HTTP/1.1\r\nHost: localhost\r\n\r\n", "sick\n"), " 503 "));
  EXPECT_LT(made_, kRequests / 2);
  EXPECT_TRUE(test::runUntil(worker_, [&] { return made_ == kRequests; })) << "they are served all the same";
}

TEST_F(AdminPlaces, BoundUnreadTextsTogether) {
  server_.setBounds({64, seconds(30)});
  const std::size_t fit = AdminServer::kMaxHeldText / textBytes_;
  auto clients = stalled(fit, "/text");
  EXPECT_EQ(hits("adminConnections"), 0u);
  auto more = stalled(8, "/text");
  EXPECT_EQ(hits("adminConnections"), 8u);
  EXPECT_TRUE(ended(clients[0]));
  EXPECT_FALSE(ended(more.back()));
  EXPECT_TRUE(probeIsServed());
}

TEST_F(AdminPlaces, CountASharedTextOnce) {
  server_.setBounds({64, seconds(30)});
  const auto clients = stalled(40, "/shared");
  EXPECT_EQ(hits("adminConnections"), 0u);
}

TEST_F(AdminPlaces, AreFewerWhereDescriptorsAreScarce) {
  base::Settings settings;
  EXPECT_EQ(adminBounds(settings, 1000).connections, 256u);
  EXPECT_EQ(adminBounds(settings, 8).connections, 8u);
  settings.limits.adminConnections = 2;
  settings.timeouts.adminAnswer = seconds(5);
  EXPECT_EQ(adminBounds(settings, 8).connections, 2u);
  EXPECT_EQ(adminBounds(settings, 8).answer, seconds(5));
}

TEST(AdminBodyText, IsMovedInPartsAndCountsByItsShare) {
  const auto text = std::make_shared<const std::string>("0123456789");
  AdminBody body(text);
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  EXPECT_EQ(body.length(), 10u);
  EXPECT_EQ(body.held(), 5u) << "the test has the other half";
  EXPECT_EQ(body.read(out, 4), AdminBody::BodyRest::kMore);
  EXPECT_EQ(out.text(), "0123");
  EXPECT_EQ(body.read(out, 4), AdminBody::BodyRest::kMore);
  EXPECT_EQ(out.text(), "0123") << "there is as much as may be";
  EXPECT_EQ(body.read(out, 10), AdminBody::BodyRest::kNone);
  EXPECT_EQ(out.text(), "0123456789");
  EXPECT_EQ(textOf("x"), "x");
  EXPECT_EQ(textOf({}), "");
}

TEST(AdminBodyPieces, AreMadeUntilThereIsEnough) {
  int asked = 0;
  AdminBody body(AdminBody::Pieces([&asked](std::string& out) {
    if (++asked > 3) return false;
    out = "abc";
    return true;
  }));
  base::ChunkPool pool;
  base::ByteQueue out(pool);
  EXPECT_FALSE(body.length());
  EXPECT_EQ(body.held(), 0u);
  EXPECT_EQ(body.read(out, 4), AdminBody::BodyRest::kMore);
  EXPECT_EQ(out.text(), "abcabc");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(body.read(out, 100), AdminBody::BodyRest::kNone);
  EXPECT_EQ(out.text(), "abcabcabc");
}

}  // namespace
}  // namespace sluice::server
