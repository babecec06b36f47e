// The admin and health ports: what operators and probes may ask, on the main thread, apart from the data path and its
// rules.
//
// Only GET and HEAD; nothing that is asked for changes anything.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "config/settings.h"
#include "proxy/base/beat_table.h"
#include "proxy/http/limits.h"
#include "proxy/net/listener.h"
#include "proxy/net/worker.h"
#include "proxy/server/admin_page.h"

namespace sluice::server {

class AdminConnection;

/// A socket that pages are served on. Each has room of its own for clients: who fills one does not shut the other.
struct AdminPort {
  const AdminPages& pages;
  std::size_t clients = 0;
  std::unique_ptr<net::Listener> listener = nullptr;
};

/// Serves pages on some sockets of the main worker, whose beats it is.
class AdminServer final : public net::Beats, private AdminClients {
 public:
  /// Probes and people: more clients of a port than these at once are no use of it.
  static constexpr std::size_t kMaxClients = 64;

  explicit AdminServer(net::Worker& worker);
  ~AdminServer() override;

  /// `socket` and `pages` outlive the server.
  void serve(const net::ListenSocket& socket, const AdminPages& pages);
  /// Closes everything; before the worker's loop ends.
  void shutdown();

 private:
  friend class AdminConnection;
  void mark(AdminConnection& connection);
  void answer(http::Token connection, http::StreamId stream, AdminDocument&& document) override;

  void drive() override;
  void flush() override;
  void reap() override;
  bool quiet() const override { return connections_.quiet(); }

  net::Worker& worker_;
  const http::Limits limits_;
  const config::TimeoutSettings timeouts_;
  std::vector<std::unique_ptr<AdminPort>> ports_;
  base::BeatTable<AdminConnection> connections_;
};

}  // namespace sluice::server
