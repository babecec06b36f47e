// The admin and health ports for operators and probes, on the main thread, apart from the data path and its rules.
//
// GET and HEAD change nothing; a POST asks for an action, and no web page can send one. A client that does not read its
// answer, or connects without a request, can neither lock out a probe nor fill the memory of the process. Each port has
// a number of places, and when they are taken, the client that has been idle for longest gives way to a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/base/beat_table.h"
#include "proxy/base/settings.h"
#include "proxy/http/limits.h"
#include "proxy/net/tcp_listener.h"
#include "proxy/net/worker.h"
#include "proxy/observe/metrics.h"
#include "proxy/server/admin/admin_connection.h"
#include "proxy/server/admin/admin_page.h"
#include "proxy/server/connection/turn_queue.h"

namespace sluice::server {

/// Bounds on the clients of these ports.
struct AdminBounds {
  /// The number of places of each port.
  std::size_t connections = base::LimitSettings{}.adminConnections;
  /// The time for an answer, from the end of the request's head to the answer's last byte.
  base::Duration answer = base::TimeoutSettings{}.adminAnswer;
};

/// Returns the bounds of the settings, with no more places than there are descriptors.
AdminBounds adminBounds(const base::Settings& settings, std::size_t mostConnections);

/// Serves pages on some sockets of the main worker, whose beats it implements.
class AdminServer final : public net::Beats, private AdminTable {
 public:
  /// New connections that a port takes in one round of the loop, if it has as many places. Until the round ends they
  /// are allowed beyond the number of places, so that no client gives way before a round in which it could have sent a
  /// request. Further connections wait in the system's queue, which costs no descriptor.
  static constexpr std::size_t kAcceptsPerRound = 64;
  /// The bound of the text in memory for all clients together: answers that were not taken yet, and bodies of requests.
  /// Beyond it clients give way.
  static constexpr std::size_t kMaxHeldText = 16 * 1024 * 1024;

  /// The worker, whose beats include it, and the metrics outlive the server.
  AdminServer(net::Worker& worker, observe::MetricShard& metrics);
  ~AdminServer() override;

  void setBounds(const AdminBounds& bounds);
  /// All of them outlive the server.
  void serve(const net::ListenSocket& socket, const AdminPages& pages, const AdminActions& actions,
             bool anyHost = false);
  /// Closes everything; call it before the worker's loop ends.
  void shutdown();

 private:
  // AdminTable
  void mark(AdminConnection& connection) override { connections_.mark(connection); }
  void markLater(AdminConnection& connection) override { later_.add(connection); }
  void onLimit(std::string_view limit) override;
  void onTextTaken() override { textGiven_ = true; }
  base::Duration answerBound() const override { return bounds_.answer; }
  std::uint64_t nextMove() override { return ++moves_; }
  void answer(http::Token connection, http::StreamId stream, AdminDocument&& document) override;
  void wake(http::Token connection, http::StreamId stream) override;
  void listen(AdminPort& port);
  void makeRoom(const AdminPort& port);
  void makeRoomForText();

  void drive() override;
  void flush() override;
  void reap() override;
  bool quiet() const override { return connections_.quiet(); }

  net::Worker& worker_;
  observe::MetricShard& metrics_;
  AdminBounds bounds_;
  const http::Limits limits_;
  const base::TimeoutSettings timeouts_;
  const ConnectionParts connectionParts_{worker_, limits_, timeouts_};
  std::vector<std::unique_ptr<AdminPort>> ports_;
  base::BeatTable<AdminConnection> connections_;
  TurnQueue<AdminConnection> later_{worker_, connections_};
  std::uint64_t moves_ = 0;  // counts the moves of all clients
  bool textGiven_ = false;   // text was added or taken since the last makeRoomForText()
};

}  // namespace sluice::server
