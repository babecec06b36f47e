// The admin port over a real socket, for tests of its answers and its places.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/server/admin/admin.h"
#include "test/net/socket_pair.h"
#include "test/support/h2_frames.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"

namespace sluice::server {

class AdminRig : public ::testing::Test {
 protected:
  AdminRig() {
    pages_["/hello"] = [this] {
      ++made_;
      return AdminDocument{200, "text/plain", "hello\n"};
    };
    pages_["/later"] = [this](AdminAnswer answer) { held_.push_back(std::move(answer)); };
    pages_["/never"] = [](AdminAnswer) {};
    pages_["/sick"] = [] { return AdminDocument{503, "text/plain", "sick\n"}; };
    actions_["/act"] = [](AdminPost post, AdminAnswer answer) {
      answer.give(
          {200, "text/plain", post.query + " " + std::to_string(post.body.size()) + " " + post.body.substr(0, 9)});
    };
    worker_.setBeats(&server_);
    server_.serve(socket_, pages_, actions_);
  }
  ~AdminRig() override { server_.shutdown(); }

  test::Descriptor connect() { return test::connectBlocking(socket_.address()); }
  std::string readUntil(const test::Descriptor& client, std::string_view mark) {
    std::string received;
    test::runUntil(worker_, [&] {
      return test::readAvailable(client, received) == 0 || received.find(mark) != std::string::npos;
    });
    return received;
  }
  /// Sends and reads until `mark`.
  std::string ask(const test::Descriptor& client, std::string_view request, std::string_view mark) {
    EXPECT_TRUE(test::sendAll(client, request));
    return readUntil(client, mark);
  }
  /// Sends a request and waits until the page has its answer.
  void askForLater(const test::Descriptor& client, std::string_view request) {
    const std::size_t before = held_.size();
    EXPECT_TRUE(test::sendAll(client, request));
    EXPECT_TRUE(test::runUntil(worker_, [&] { return held_.size() > before; }));
  }
  void give(std::size_t index, const std::string& body) {
    const net::Worker::Turn turn(worker_);
    held_.at(index).give({200, "text/plain", body});
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  /// Moves frames of HTTP/2 until `holds` returns true; returns false if the server ends the connection before.
  bool speak(const test::Descriptor& client, const std::string& frames, test::H2FrameReader& reader,
             const std::function<bool()>& holds) {
    EXPECT_TRUE(test::sendAll(client, frames));
    return test::runUntil(worker_,
                          [&] {
                            std::string received;
                            const bool ended = test::readAvailable(client, received) == 0;
                            reader.feed(received);
                            return ended || holds();
                          }) &&
           holds();
  }
  static std::string h2Get(std::uint32_t stream, const std::string& path) {
    return test::h2::headers(
        stream, {{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", path}}, true);
  }

  static constexpr std::string_view kLater = "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static constexpr std::string_view kHello = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";

  int made_ = 0;
  test::ManualClock clock_;
  net::Worker worker_{clock_};
  net::ListenSocket socket_ = test::listenOnLoopback();
  AdminPages pages_;
  AdminActions actions_;
  observe::MetricsRegistry registry_;
  observe::MetricShard metrics_{registry_};
  AdminServer server_{worker_, metrics_};
  std::vector<AdminAnswer> held_;
};

}  // namespace sluice::server
