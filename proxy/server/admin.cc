#include "proxy/server/admin.h"

#include <utility>

#include "proxy/server/admin_connection.h"

namespace sluice::server {
namespace {

// A client that asks for many documents at once and reads none of them must not fill the memory.
constexpr std::uint32_t kMaxStreams = 8;

http::Limits adminLimits() {
  http::Limits limits;
  limits.concurrentStreams = kMaxStreams;
  return limits;
}

}  // namespace

AdminServer::AdminServer(net::Worker& worker) : worker_(worker), limits_(adminLimits()) { worker_.setBeats(this); }

AdminServer::~AdminServer() = default;

void AdminServer::serve(const net::ListenSocket& socket, const AdminPages& pages) {
  AdminPort& port = *ports_.emplace_back(std::make_unique<AdminPort>(pages));
  port.listener = std::make_unique<net::Listener>(worker_, socket, [this, &port](int fd, const net::Address& peer) {
    const ConnectionParts parts{worker_, limits_, timeouts_};
    AdminConnection& connection = connections_.create(*this, port, parts, fd, peer);
    if (port.clients > kMaxClients) connection.drain();
  });
}

void AdminServer::mark(AdminConnection& connection) { connections_.mark(connection); }

void AdminServer::answer(http::Token connection, http::StreamId stream, AdminDocument&& document) {
  AdminConnection* found = connections_.find(base::Handle<AdminConnection>::fromToken(connection));
  if (found != nullptr) found->answer(stream, std::move(document));
}

void AdminServer::drive() {
  connections_.drive([](AdminConnection& connection) { connection.sendAnswers(); });
}

void AdminServer::flush() { connections_.flush(); }

void AdminServer::reap() { connections_.reap(); }

void AdminServer::shutdown() {
  connections_.clear();
  ports_.clear();
}

}  // namespace sluice::server
