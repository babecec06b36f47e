// The echo origin: one worker, one listener, its connections, and the beat that moves them. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/base/slab.h"
#include "proxy/net/tcp_listener.h"
#include "proxy/net/tls/tls.h"
#include "proxy/net/worker.h"
#include "test/support/echo/echo_connection.h"

namespace sluice::echo {

struct ServerSettings {
  net::Address address;
  /// PEM files; if both are empty, the server speaks plain TCP, where the first bytes distinguish HTTP/1.1 from HTTP/2.
  std::string certificateFile;
  std::string keyFile;
  /// ALPN protocols in order of preference.
  std::vector<std::string> protocols = {"h2", "http/1.1"};
};

class EchoServer final : net::Beats, EchoConnectionOwner {
 public:
  static base::Result<std::unique_ptr<EchoServer>> make(const ServerSettings& settings);
  ~EchoServer() override = default;

  /// Returns the listening address, with the port that the kernel chose if 0 was asked for.
  const net::Address& address() const { return socket_.address(); }
  /// Serves until the process ends.
  void run() { worker_.run(); }

 private:
  EchoServer(net::ListenSocket&& socket, std::shared_ptr<const net::TlsServerContext> tls);

  void drive() override;
  void flush() override;
  void reap() override;
  bool quiet() const override { return touched_.empty(); }
  net::Worker& worker() override { return worker_; }
  void touch(EchoConnection& connection) override;

  base::SystemClock clock_;
  net::ListenSocket socket_;
  std::shared_ptr<const net::TlsServerContext> tls_;
  net::Worker worker_{clock_};
  base::Slab<EchoConnection> connections_;
  std::vector<EchoConnection::Handle> touched_;  // touched since the beat began, for the next one
  std::vector<EchoConnection::Handle> beating_;
  std::optional<net::TcpListener> listener_;
};

}  // namespace sluice::echo
