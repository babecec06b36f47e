// The admin and health ports: what operators and probes may ask, on the main thread, apart from the data path and its
// rules.
//
// Documents are made by the process when they are asked for. Only GET and HEAD; nothing that is asked for changes
// anything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/settings.h"
#include "proxy/base/slab.h"
#include "proxy/net/listener.h"
#include "proxy/net/worker.h"
#include "proxy/server/server_connection.h"

namespace sluice::server {

struct AdminDocument {
  std::uint16_t status = 200;
  std::string contentType = "application/json";
  std::string body;
};

/// Path -> what answers it.
using AdminPages = std::map<std::string, std::function<AdminDocument()>, std::less<>>;

class AdminConnection;

/// Serves pages on some sockets of the main worker, whose beats it is.
class AdminServer final : public net::Beats {
 public:
  explicit AdminServer(net::Worker& worker);
  ~AdminServer() override;

  /// `socket` and `pages` outlive the server.
  void serve(const net::ListenSocket& socket, const AdminPages& pages);
  /// Closes everything; before the worker's loop ends.
  void shutdown();
  void markDirty(AdminConnection& connection);

 private:
  void drive() override;
  void flush() override;
  void reap() override;
  bool quiet() const override { return dirty_.empty() && dead_.empty(); }

  net::Worker& worker_;
  const http::Limits limits_;
  const config::TimeoutSettings timeouts_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  base::Slab<AdminConnection> connections_;
  std::vector<base::Handle<AdminConnection>> dirty_;
  std::vector<base::Handle<AdminConnection>> batch_;
  std::vector<base::Handle<AdminConnection>> dead_;
};

}  // namespace sluice::server
