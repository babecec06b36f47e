// Both ends of a TLS connection over real loopback sockets in one worker, driven from the test's thread; and a peer of
// raw OpenSSL in a thread of its own, which does things that the gateway's own server would never do.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/net/tcp.h"
#include "proxy/net/tls/tls.h"
#include "proxy/net/worker.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"
#include "proxy/pki/trust_store.h"
#include "test/support/test_pki.h"

namespace sluice::test {

inline std::shared_ptr<const pki::CertificateChain> chainOf(const std::string& pem) {
  return std::make_shared<const pki::CertificateChain>(pki::CertificateChain::parse(pem).value());
}
inline std::shared_ptr<const pki::PrivateKey> keyOf(const CertifiedKey& identity) {
  return std::make_shared<const pki::PrivateKey>(pki::PrivateKey::parse(identity.secretKey()).value());
}
inline std::shared_ptr<const pki::TrustStore> trustOf(const std::string& pem) {
  return std::make_shared<const pki::TrustStore>(pki::TrustStore::parse(pem).value());
}
inline net::TlsServerIdentity serverIdentity(const CertifiedKey& identity, const std::string& intermediates = "") {
  return {chainOf(identity.certificate + intermediates), keyOf(identity)};
}

/// A socket that listens on a free port of 127.0.0.1.
class LoopbackListener {
 public:
  LoopbackListener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&at), length), 0);
    EXPECT_EQ(::listen(fd_, 16), 0);
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &length), 0);
    port_ = ntohs(at.sin_port);
  }
  ~LoopbackListener() { ::close(fd_); }
  LoopbackListener(const LoopbackListener&) = delete;
  LoopbackListener& operator=(const LoopbackListener&) = delete;

  net::Address address() const { return *net::Address::parse("127.0.0.1", port_); }
  /// Blocks until a client has connected.
  int accept() const { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

/// One end: the events it got, and the bytes it has to send.
class TlsEnd final : public net::TransportSink {
 public:
  explicit TlsEnd(net::Worker& worker) : out(worker.chunks()) {}

  void onOpen() override {
    EXPECT_FALSE(failed.has_value());
    opened = true;
  }
  void onBytes(std::string_view bytes) override {
    EXPECT_TRUE(opened && !ended && !failed);
    received += bytes;
    largest = std::max(largest, bytes.size());
  }
  void onEnd(bool clean) override {
    EXPECT_TRUE(opened && !ended && !failed);
    ended = clean;
  }
  void onFailed(const base::Error& error) override {
    EXPECT_FALSE(failed.has_value());
    failed = error;
  }
  void onWritable() override { ++writable; }

  bool over() const { return ended.has_value() || failed.has_value(); }
  std::string failure() const { return failed ? std::string(base::errorTypeName(failed->type)) : ""; }
  std::string detail() const { return failed ? failed->detail : ""; }

  std::unique_ptr<net::Transport> transport;
  base::ByteQueue out;
  bool endWhenSent = false;
  std::size_t budget = 1 << 20;  // granted again in each flush
  bool opened = false;
  std::string received;
  std::size_t largest = 0;
  std::optional<bool> ended;
  std::optional<base::Error> failed;
  int writable = 0;
};

/// The system's clocks, which can be set ahead. OpenSSL does not see that.
class TlsClock final : public base::Clock {
 public:
  base::MonotonicTime now() const override { return system_.now() + later; }
  base::WallTime wallNow() const override { return system_.wallNow() + ahead; }
  base::Duration ahead{};
  base::Duration later{};  // of the monotonic clock

 private:
  base::SystemClock system_;
};

class TlsHarness : private net::Beats {
 public:
  TlsHarness() {
    worker.setBeats(this);
    // Worker::run() blocks the signal too; threads that are made later inherit it.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  }
  ~TlsHarness() override { EXPECT_EQ(ERR_peek_error(), 0u) << "OpenSSL's error queue is not empty"; }

  /// Contexts live as long as the harness, and so longer than every transport.
  net::TlsClientContext& client(const net::TlsClientSettings& settings) {
    return *clients_.emplace_back(net::TlsClientContext::make(settings).value());
  }
  const net::TlsServerContext& server(const net::TlsServerSettings& settings) {
    return *servers_.emplace_back(net::TlsServerContext::make(settings).value());
  }

  TlsEnd& connect(const net::Address& to, net::TlsClientContext& context) {
    TlsEnd& end = add();
    const net::Worker::Turn turn(worker);
    end.transport = net::connectTls(worker, to, context, end);
    return end;
  }
  TlsEnd& adopt(int fd, const net::TlsServerContext& context) {
    TlsEnd& end = add();
    const net::Worker::Turn turn(worker);
    end.transport = net::adoptTls(worker, fd, *net::Address::parse("127.0.0.1", 1), context, end);
    return end;
  }
  /// Returns a client's and the server's end of the same connection.
  std::pair<TlsEnd&, TlsEnd&> pair(net::TlsClientContext& client, const net::TlsServerContext& server) {
    TlsEnd& near = connect(listener.address(), client);
    TlsEnd& far = adopt(listener.accept(), server);
    return {near, far};
  }

  void send(TlsEnd& end, std::string_view bytes) {
    const net::Worker::Turn turn(worker);
    end.out.append(bytes);
    dirty_ = true;
  }
  void finish(TlsEnd& end) {
    const net::Worker::Turn turn(worker);
    end.endWhenSent = true;
    dirty_ = true;
  }
  void destroy(TlsEnd& end) {
    const net::Worker::Turn turn(worker);
    end.transport.reset();
  }

  /// Lets this much time pass.
  void pass(base::Duration time) {
    clock.later += time;
    const net::Worker::Turn turn(worker);
  }

  /// Runs the loop until `done`, or for half a minute: then the test fails.
  void until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "waited in vain";
        return;
      }
      {
        const net::Worker::Turn turn(worker);
        worker.timers().set(tick_, worker.now() + std::chrono::milliseconds(50));
        dirty_ = true;
      }
      uv_run(worker.loop(), UV_RUN_ONCE);
    }
  }

  TlsClock clock;
  net::Worker worker{clock};
  LoopbackListener listener;

 private:
  struct Tick final : net::Timer {
    void onTimer() override {}
  };

  TlsEnd& add() { return *ends_.emplace_back(std::make_unique<TlsEnd>(worker)); }

  void drive() override {}
  void flush() override {
    dirty_ = false;
    for (const auto& end : ends_) flushOne(*end);
  }
  void reap() override {}
  bool quiet() const override { return !dirty_; }

  static void flushOne(TlsEnd& end) {
    if (end.transport == nullptr || end.failed) return;
    end.transport->setReadBudget(end.budget);
    if (!end.opened) return;
    end.transport->write(end.out);
    if (end.endWhenSent && end.out.empty()) end.transport->shutdown();
  }

  bool dirty_ = false;
  Tick tick_;
  std::vector<std::unique_ptr<net::TlsClientContext>> clients_;
  std::vector<std::shared_ptr<const net::TlsServerContext>> servers_;
  std::vector<std::unique_ptr<TlsEnd>> ends_;
};

/// A TLS server of raw OpenSSL for one connection after the other, in a thread of its own.
class RawTlsServer {
 public:
  using Configure = std::function<void(SSL_CTX*)>;
  /// Called with a connection whose handshake was tried; `accepted` is the result of SSL_accept().
  using Serve = std::function<void(SSL*, int accepted)>;

  RawTlsServer(const CertifiedKey& identity, const Configure& configure, Serve serve, int connections = 1)
      : context_(SSL_CTX_new(TLS_server_method())) {
    const auto chain = chainOf(identity.certificate);
    SSL_CTX_use_certificate(context_, chain->leaf());
    SSL_CTX_use_PrivateKey(context_, keyOf(identity)->get());
    SSL_CTX_set_session_id_context(context_, reinterpret_cast<const unsigned char*>("raw"), 3);
    if (configure) configure(context_);
    thread_ = std::thread([this, serve = std::move(serve), connections] {
      for (int i = 0; i < connections; ++i) serveOne(serve);
    });
  }
  ~RawTlsServer() {
    thread_.join();
    SSL_CTX_free(context_);
  }
  RawTlsServer(const RawTlsServer&) = delete;
  RawTlsServer& operator=(const RawTlsServer&) = delete;

  net::Address address() const { return listener_.address(); }

 private:
  void serveOne(const Serve& serve) {
    const int fd = listener_.accept();
    SSL* ssl = SSL_new(context_);
    SSL_set_fd(ssl, fd);
    serve(ssl, SSL_accept(ssl));
    SSL_free(ssl);
    ERR_clear_error();
    ::close(fd);
  }

  SSL_CTX* context_;
  LoopbackListener listener_;
  std::thread thread_;
};

/// A plain TCP server that answers the first bytes it gets.
class RawTcpServer {
 public:
  explicit RawTcpServer(std::string answer) {
    thread_ = std::thread([this, answer = std::move(answer)] {
      const int fd = listener_.accept();
      std::string buffer(4096, '\0');
      if (::read(fd, buffer.data(), buffer.size()) > 0 && !answer.empty()) {
        EXPECT_EQ(::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL), static_cast<ssize_t>(answer.size()));
      }
      ::close(fd);
    });
  }
  ~RawTcpServer() { thread_.join(); }
  RawTcpServer(const RawTcpServer&) = delete;
  RawTcpServer& operator=(const RawTcpServer&) = delete;

  net::Address address() const { return listener_.address(); }

 private:
  LoopbackListener listener_;
  std::thread thread_;
};

}  // namespace sluice::test
