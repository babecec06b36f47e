// A TLS client of raw OpenSSL in a thread of its own, which does things that the gateway's own client would never do.
#pragma once

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "test/net/tls_harness.h"

namespace sluice::test {

/// Makes one connection, without verifying the server.
class RawTlsClient {
 public:
  using Prepare = std::function<void(SSL*)>;
  /// Called with the result of SSL_connect(), which is 1 if the handshake was complete on the client's side.
  using Use = std::function<void(SSL*, int connected)>;

  RawTlsClient(const net::Address& to, int version, const Prepare& prepare, Use use)
      : context_(SSL_CTX_new(TLS_client_method())), ssl_(SSL_new(context_)) {
    SSL_ctrl(ssl_, SSL_CTRL_SET_MIN_PROTO_VERSION, version, nullptr);
    SSL_ctrl(ssl_, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nullptr);
    if (prepare) prepare(ssl_);
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(fd_, to.sockaddrPtr(), to.length()), 0);
    SSL_set_fd(ssl_, fd_);
    thread_ = std::thread([this, use = std::move(use)] {
      use(ssl_, SSL_connect(ssl_));
      ERR_clear_error();
    });
  }
  ~RawTlsClient() {
    join();
    // A session is forgotten with a connection that ends without close_notify.
    SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }
  RawTlsClient(const RawTlsClient&) = delete;
  RawTlsClient& operator=(const RawTlsClient&) = delete;

  void join() {
    if (thread_.joinable()) thread_.join();
  }

  static void askFor(SSL* ssl, std::string name) {
    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  }
  static void show(SSL* ssl, const CertifiedKey& identity) {
    EXPECT_EQ(SSL_use_certificate(ssl, chainOf(identity.certificate)->leaf()), 1);
    EXPECT_EQ(SSL_use_PrivateKey(ssl, keyOf(identity)->get()), 1);
  }

 private:
  SSL_CTX* context_;
  SSL* ssl_;
  int fd_ = -1;
  std::thread thread_;
};

}  // namespace sluice::test
