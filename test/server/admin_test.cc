// The admin port over a real socket: what it answers, and to how many.
#include "proxy/server/admin.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "test/net/socket_pair.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::server {
namespace {

class Admin : public ::testing::Test {
 protected:
  Admin() {
    pages_["/hello"] = [this] {
      ++made_;
      return AdminDocument{200, "text/plain", "hello\n"};
    };
    pages_["/sick"] = [] { return AdminDocument{503, "text/plain", "sick\n"}; };
    server_.serve(socket_, pages_);
  }
  ~Admin() override { server_.shutdown(); }

  test::Descriptor connect() { return test::connectBlocking(socket_.address()); }
  /// Sends and reads until `mark`.
  std::string ask(const test::Descriptor& client, std::string_view request, std::string_view mark) {
    EXPECT_EQ(::send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), ssize_t(request.size()));
    std::string received;
    test::runUntil(worker_, [&] {
      char part[4096];
      const ssize_t count = ::recv(client.get(), part, sizeof part, MSG_DONTWAIT);
      if (count > 0) received.append(part, static_cast<std::size_t>(count));
      return count == 0 || received.find(mark) != std::string::npos;
    });
    return received;
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  int made_ = 0;
  test::ManualClock clock_;
  net::Worker worker_{clock_};
  net::ListenSocket socket_ = test::listenOnLoopback();
  AdminPages pages_;
  AdminServer server_{worker_};
};

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

TEST_F(Admin, APageHasItsOwnStatus) {
  EXPECT_TRUE(ask(connect(), "GET /sick HTTP/1.1\r\nHost: localhost\r\n\r\n", "sick\n").starts_with("HTTP/1.1 503 "));
}

TEST_F(Admin, HeadGetsTheHeadAlone) {
  const test::Descriptor client = connect();
  const std::string answer = ask(
      client, "HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\nGET /sick HTTP/1.1\r\nHost: localhost\r\n\r\n", "sick\n");
  EXPECT_TRUE(contains(answer, "content-length: 6\r\n")) << answer;
  EXPECT_FALSE(contains(answer, "hello\n")) << answer;
}

TEST_F(Admin, NothingButGetAndHead) {
  const std::string answer =
      ask(connect(), "POST /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nxx", "only GET and HEAD\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 405 ")) << answer;
  EXPECT_EQ(made_, 0);
}

TEST_F(Admin, AnUnknownPageNamesThoseThereAre) {
  const std::string answer = ask(connect(), "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", "/sick\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 404 ")) << answer;
  EXPECT_TRUE(contains(answer, "/hello\n")) << answer;
}

TEST_F(Admin, ABadRequestIsAnswered) {
  const std::string answer = ask(connect(), "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
}

TEST_F(Admin, TooManyAtOnceAreTurnedAway) {
  std::vector<test::Descriptor> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(contains(ask(clients.back(), "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", "hello\n"), " 200 "))
        << i;
  }
  EXPECT_FALSE(contains(ask(connect(), "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", "hello\n"), " 200 "));
  clients.pop_back();
  const test::Descriptor next = connect();
  EXPECT_TRUE(contains(ask(next, "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", "hello\n"), " 200 "));
}

}  // namespace
}  // namespace sluice::server
