#include "proxy/server/admin/admin.h"

#include <sys/socket.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice::server {
namespace {

// A client that asks for many documents at once and reads none of them must not fill the memory.
constexpr std::uint32_t kMaxStreams = 8;
// The system holds at most this much of an answer. By default it would let the buffer of each client grow to
// megabytes.
constexpr int kSendBuffer = 128 * 1024;

http::Limits adminLimits() {
  http::Limits limits;
  limits.concurrentStreams = kMaxStreams;
  return limits;
}

void keepLesser(AdminConnection*& first, AdminConnection& other) {
  if (first == nullptr || other.claim() < first->claim()) first = &other;
}

}  // namespace

AdminBounds adminBounds(const base::Settings& settings, std::size_t mostConnections) {
  return {std::min<std::size_t>(settings.limits.adminConnections, mostConnections), settings.timeouts.adminAnswer};
}

AdminServer::AdminServer(net::Worker& worker, observe::MetricShard& metrics)
    : worker_(worker), metrics_(metrics), limits_(adminLimits()) {}

AdminServer::~AdminServer() = default;

void AdminServer::setBounds(const AdminBounds& bounds) {
  bounds_ = bounds;
  for (const auto& port : ports_) listen(*port);
}

void AdminServer::serve(const net::ListenSocket& socket, const AdminPages& pages, const AdminActions& actions,
                        bool anyHost) {
  listen(*ports_.emplace_back(std::make_unique<AdminPort>(AdminPort{socket, pages, actions, anyHost})));
}

void AdminServer::listen(AdminPort& port) {
  port.listener.reset();  // two listeners cannot watch one socket
  const auto accepted = [this, &port](int fd, const net::Address& peer) {
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
    connections_.create(static_cast<AdminTable&>(*this), port, connectionParts_, fd, peer);
  };
  const auto perRound = static_cast<int>(std::min(kAcceptsPerRound, bounds_.connections));
  port.listener = std::make_unique<net::TcpListener>(worker_, port.socket, accepted, perRound);
}

void AdminServer::onLimit(std::string_view limit) { metrics_.at<observe::Metric::kLimitHits>(limit).add(); }

void AdminServer::answer(http::Token connection, http::StreamId stream, AdminDocument&& document) {
  AdminConnection* found = connections_.find(base::Handle<AdminConnection>::fromToken(connection));
  if (found == nullptr) return;
  textGiven_ = true;
  found->answer(stream, std::move(document));
}

void AdminServer::wake(http::Token connection, http::StreamId stream) {
  AdminConnection* found = connections_.find(base::Handle<AdminConnection>::fromToken(connection));
  if (found == nullptr) return;
  textGiven_ = true;
  found->wake(stream);
}

void AdminServer::drive() {
  connections_.drive([](AdminConnection& connection) { connection.sendAnswers(); });
}

// Clients give way only here, after the clients that connected or asked in this round were served.
void AdminServer::flush() {
  connections_.flush();
  for (const auto& port : ports_) makeRoom(*port);
  if (std::exchange(textGiven_, false)) makeRoomForText();
}

void AdminServer::makeRoom(const AdminPort& port) {
  while (port.clients > bounds_.connections) {
    std::size_t alive = 0;
    AdminConnection* first = nullptr;
    connections_.forEach([&](AdminConnection& connection) {
      if (connection.dead() || !connection.isOf(port)) return;
      ++alive;
      keepLesser(first, connection);
    });
    if (alive <= bounds_.connections) return;
    onLimit("adminConnections");
    first->cutOff();
  }
}

void AdminServer::makeRoomForText() {
  for (;;) {
    std::size_t held = 0;
    std::size_t holders = 0;
    AdminConnection* first = nullptr;
    connections_.forEach([&](AdminConnection& connection) {
      const std::size_t own = connection.dead() ? 0 : connection.heldText();
      if (own == 0) return;
      held += own;
      ++holders;
      keepLesser(first, connection);
    });
    if (held <= kMaxHeldText || holders == 1) return;
    onLimit("adminConnections");
    first->cutOff();
  }
}

void AdminServer::reap() { connections_.reap(); }

void AdminServer::shutdown() {
  connections_.clear();
  ports_.clear();
}

}  // namespace sluice::server
