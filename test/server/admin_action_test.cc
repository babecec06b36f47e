// Tests requests that ask the admin port for an action: a POST with a bounded body, and not from a web page.
#include <string>
#include <thread>

#include "test/server/admin_rig.h"

namespace sluice::server {
namespace {

class AdminActionTest : public AdminRig {
 protected:
  static std::string post(const std::string& path, std::size_t length, const std::string& more = {}) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "Content-Length: " + std::to_string(length) +
           "\r\n\r\n";
  }
};

TEST_F(AdminActionTest, GetsTheQueryAndTheWholeBody) {
  const test::Descriptor client = connect();
  EXPECT_TRUE(test::sendAll(client, post("/act?a=b", 9) + "some"));
  EXPECT_TRUE(contains(ask(client, " body", "a=b 9 some body"), "HTTP/1.1 200"));
  EXPECT_TRUE(contains(ask(client, post("/act", 0), " 0 "), "HTTP/1.1 200"));
  EXPECT_TRUE(contains(ask(client, kHello, "hello\n"), "HTTP/1.1 200")) << "the connection goes on";
}

TEST_F(AdminActionTest, TakesALongBodyUpToItsBound) {
  for (const std::size_t size : {AdminConnection::kMostPosted, AdminConnection::kMostPosted + 1}) {
    const test::Descriptor client = connect();
    std::thread sender([&] { test::sendAll(client, post("/act", size) + std::string(size, 'x')); });
    const std::string received = readUntil(client, "\r\n\r\n");
    sender.join();
    EXPECT_TRUE(contains(received, size == AdminConnection::kMostPosted ? "HTTP/1.1 200" : "HTTP/1.1 413")) << received;
  }
}

TEST_F(AdminActionTest, AnswersABodyThatBreaks) {
  const test::Descriptor client = connect();
  const std::string got = ask(
      client, "POST /act HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", "\r\n\r\n");
  EXPECT_TRUE(contains(got, "HTTP/1.1 400")) << got;
}

TEST_F(AdminActionTest, IsNotForWebPagesNorForOtherNames) {
  const test::Descriptor client = connect();
  EXPECT_TRUE(contains(ask(client, post("/act", 1, "Origin: http://localhost\r\n") + "x", "pages\n"), "HTTP/1.1 403"));
  const test::Descriptor other = connect();
  EXPECT_TRUE(contains(ask(other, "POST /act HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 1\r\n\r\nx", "here\n"),
                       "HTTP/1.1 403"));
}

TEST_F(AdminActionTest, IsAskedForByPostAlone) {
  const test::Descriptor client = connect();
  const std::string got = ask(client, "GET /act HTTP/1.1\r\nHost: localhost\r\n\r\n", "only POST\n");
  EXPECT_TRUE(contains(got, "HTTP/1.1 405"));
  EXPECT_TRUE(contains(got, "allow: POST\r\n")) << got;
  const test::Descriptor another = connect();
  EXPECT_TRUE(contains(ask(another, post("/hello", 0), "HEAD\n"), "allow: GET, HEAD\r\n"));
}

TEST_F(AdminActionTest, IsAskedForOverHttp2Too) {
  const test::Descriptor client = connect();
  test::H2FrameReader reader;
  const std::string request =
      test::h2::headers(1, {{":method", "POST"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/act?q"}},
                        false) +
      test::h2::data(1, "body", true);
  EXPECT_TRUE(speak(client, test::h2::clientHello() + request, reader, [&] { return reader.body(1) == "q 4 body"; }));
}

}  // namespace
}  // namespace sluice::server
