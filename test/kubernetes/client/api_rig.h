// A client of an API server over a network in memory: its test sees the requests, and answers each as it likes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/kubernetes/client/api_client.h"
#include "test/support/fake_network.h"
#include "test/support/http_peers.h"
#include "test/support/manual_clock.h"

namespace sluice::kubernetes {

/// The lines of a log, in a file without a name.
class LoggedText {
 public:
  LoggedText() : file_(std::tmpfile()) {}
  ~LoggedText() { std::fclose(file_); }
  LoggedText(const LoggedText&) = delete;
  LoggedText& operator=(const LoggedText&) = delete;
  int descriptor() const { return ::fileno(file_); }
  std::string text() const {
    std::string all;
    std::array<char, 4096> buffer{};
    ssize_t got = 0;
    while ((got = ::pread(descriptor(), buffer.data(), buffer.size(), static_cast<off_t>(all.size()))) > 0) {
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  std::size_t count(std::string_view text) const {
    const std::string all = this->text();
    std::size_t times = 0;
    for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++times;
    return times;
  }

 private:
  std::FILE* file_;
};

class ApiRig {
 public:
  static constexpr const char* kHost = "api.test";

  explicit ApiRig(http::Version itsVersion = http::Version::kHttp2)
      : version(itsVersion),
        log_(observe::LogLevel::kDebug, clock, observe::LineFile::over(logged.descriptor())),
        worker(clock),
        shard_(metrics_),
        resolver_(worker),
        dialer(worker),
        client({worker, resolver_, dialer, shard_, log_, [this] { return readAccess(); }, 7}) {
    resolver_.know(kHost, {"192.0.2.1"});
    access.host = access.serverName = kHost;
    access.port = 6443;
    access.insecureSkipVerify = true;
    access.token = base::Secret("first-token");
    access.fingerprint = "one";
    worker.setBeats(&client);
    const net::Worker::Turn turn(worker);
    EXPECT_TRUE(client.open().ok());
  }
  ~ApiRig() {
    const net::Worker::Turn turn(worker);
    client.shutdown();
  }

  /// Moves bytes and posted tasks until nothing moves.
  void settle() {
    for (int quiet = 0; quiet < 2;) {
      bool moved = false;
      { const net::Worker::Turn turn(worker); }
      uv_run(worker.loop(), UV_RUN_NOWAIT);
      for (std::size_t i = 0; i < dialer.wires.size(); ++i) moved = acceptNext(i) || dialer.wires[i]->pump() || moved;
      for (const auto& peer : peers) moved = (peer != nullptr && peer->pump()) || moved;
      note();
      quiet = moved ? 0 : quiet + 1;
    }
  }
  void advance(base::Duration by) {
    clock.advance(by);
    settle();
  }
  /// Runs something inside a Turn, and then all that follows from it.
  template <typename Do>
  void inTurn(Do&& action) {
    {
      const net::Worker::Turn turn(worker);
      action();
    }
    settle();
  }

  // The requests in the order in which they came.
  std::size_t requests() const { return asked_.size(); }
  sluice::test::RecordingServerSink::RecordedRequest& request(std::size_t number) {
    return peerOf(number).request(asked_.at(number).second);
  }
  std::string target(std::size_t number) { return std::string(request(number).message.head.target); }
  std::string field(std::size_t number, std::string_view name) {
    const http::Field* found = request(number).message.head.headers.find(name);
    return found == nullptr ? "" : std::string(found->value);
  }
  std::size_t connectionOf(std::size_t number) const { return asked_.at(number).first; }

  /// Answers in whole.
  void answer(std::size_t number, std::uint16_t status, std::string_view body,
              const sluice::test::FieldList& fields = {}) {
    begin(number, status, fields);
    send(number, body);
    finish(number);
  }
  /// Sends the head of an answer whose body continues.
  void begin(std::size_t number, std::uint16_t status = 200, const sluice::test::FieldList& fields = {}) {
    sluice::test::HeadSpec spec;
    spec.status = status;
    spec.body = http::Body::kUntilEnd;
    spec.fields = fields;
    peerOf(number).head(asked_.at(number).second, spec);
    settle();
  }
  void send(std::size_t number, std::string_view bytes) {
    peerOf(number).body(asked_.at(number).second, bytes);
    settle();
  }
  void finish(std::size_t number) {
    peerOf(number).finish(asked_.at(number).second);
    settle();
  }
  /// Cuts the connection of a request.
  void cut(std::size_t number) {
    dialer.wires.at(connectionOf(number))->reset();
    settle();
  }
  sluice::test::BackendPeer& peerOf(std::size_t number) { return *peers.at(connectionOf(number)); }

  // Sets the state of the network and of the files from now on.
  bool accepts = true;  // else connections are refused
  http::Version version;
  http::Limits serverLimits;
  ApiAccess access;
  std::string accessFault;  // empty: the access can be read
  int accessRead = 0;

  sluice::test::ManualClock clock;
  LoggedText logged;

 private:
  observe::Log log_;

 public:
  net::Worker worker;

 private:
  observe::MetricsRegistry metrics_;
  observe::MetricShard shard_;
  sluice::test::FakeResolver resolver_;

 public:
  sluice::test::FakeDialer dialer;
  std::vector<std::unique_ptr<sluice::test::BackendPeer>> peers;  // by wire; null where it was refused
  ApiClient client;

 private:
  base::Result<ApiAccess> readAccess() {
    ++accessRead;
    if (!accessFault.empty()) return base::Error::config(accessFault);
    return access;
  }
  bool acceptNext(std::size_t wire) {
    if (wire < peers.size()) return false;
    if (!accepts) {
      peers.push_back(nullptr);
      dialer.wires[wire]->refuse();
      return true;
    }
    peers.push_back(std::make_unique<sluice::test::BackendPeer>(dialer.wires[wire], version, clock, serverLimits));
    dialer.wires[wire]->accept(version == http::Version::kHttp2 ? "h2" : "http/1.1");
    return true;
  }
  void note() {
    noted_.resize(peers.size());
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
      if (peers[peer] == nullptr) continue;
      while (noted_[peer] < peers[peer]->requests()) asked_.emplace_back(peer, noted_[peer]++);
    }
  }

  std::vector<std::pair<std::size_t, std::size_t>> asked_;  // peer and its request
  std::vector<std::size_t> noted_;                          // by peer
};

/// Returns a Status of metav1 as the body of a refusal.
inline std::string statusBody(int code, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message +
         "\",\"code\":" + std::to_string(code) + "}";
}

}  // namespace sluice::kubernetes
