// One client of an admin port: asks the page that each request names, and sends the answer once it is given, piece by
// piece as the client takes it. Owned by AdminServer's table, on the main thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/http/body_pipe.h"
#include "proxy/net/tcp_listener.h"
#include "proxy/net/timers.h"
#include "proxy/server/admin/admin_page.h"
#include "proxy/server/connection/server_connection.h"

namespace sluice::server {

class AdminConnection;

/// A socket on which pages are served. Each has places of its own, so that a full port does not block the other.
struct AdminPort {
  const net::ListenSocket& socket;
  const AdminPages& pages;
  const AdminActions& actions;
  /// Accepts any Host, because probes and scrapers use names of their own. Such a port has no actions.
  bool anyHost = false;
  std::size_t clients = 0;  // includes the dead clients that are not reaped yet
  std::unique_ptr<net::TcpListener> listener = nullptr;
};

/// The interface of the server for its clients.
class AdminTable : public AdminClients {
 public:
  virtual void mark(AdminConnection& connection) = 0;
  /// Marks the connection in a later round: a long document, or many requests, must not keep the others waiting.
  virtual void markLater(AdminConnection& connection) = 0;
  virtual void onLimit(std::string_view limit) = 0;
  /// Called when a client has sent a piece of a body, which is kept.
  virtual void onTextTaken() = 0;
  /// See AdminBounds.
  virtual base::Duration answerBound() const = 0;
  /// Returns a number that orders the moves of all clients.
  virtual std::uint64_t nextMove() = 0;
};

class AdminConnection final : public ServerConnection {
 public:
  /// The size of a piece of an answer. One or two pieces per request are made before the client takes them.
  static constexpr std::size_t kPieceBytes = 16 * 1024;
  /// The bound of the body of a POST.
  static constexpr std::size_t kMostPosted = 8 * 1024 * 1024;

  AdminConnection(base::Handle<AdminConnection> self, AdminTable& table, AdminPort& port, const ConnectionParts& parts,
                  int fd, const net::Address& peer);
  ~AdminConnection() override;

  base::Handle<AdminConnection> handle() const { return self_; }
  bool dirty = false;         // belongs to the table
  bool waitsForTurn = false;  // belongs to the queue

  /// Called with the answer of a page; does nothing if the client has given up the request.
  void answer(http::StreamId stream, AdminDocument&& document);
  /// Called when the document of a request has more.
  void wake(http::StreamId stream);
  /// The drive beat: sends the answers, because sinks may not call their codec back.
  void sendAnswers();

  net::ClientNetwork network() const { return net::networkOf(peer()); }
  bool isOf(const AdminPort& port) const { return &port_ == &port; }
  /// The priority of the client for its place: the lowest gives way first. Clients that have just connected, and may be
  /// about to ask, come after all others; otherwise the order is that of the last request or the last piece taken.
  using Claim = std::pair<bool, std::uint64_t>;
  Claim claim();
  /// Returns the size of the text that is kept for this client alone.
  std::size_t heldText() const;

 private:
  struct AdminRequest {
    bool withBody;
    base::MonotonicTime asked;  // of a document that stays open: when it had more for the client last
    std::optional<AdminDocument> document = std::nullopt;  // from its answer until it is sent
    std::optional<http::BodyPipe> body = std::nullopt;     // from the head of the answer on
    bool rests = false;  // the client has taken all that there is of a document that stays open
    /// Set until the whole body of a POST has come.
    const AdminActions::mapped_type* action = nullptr;
    AdminPost post = {};
    std::string allowed = "GET, HEAD";  // the methods of the path
  };
  /// Ends a client that takes its answer too slowly.
  class AnswerTimer final : public net::Timer {
   public:
    explicit AnswerTimer(AdminConnection& owner) : owner_(owner) {}

   private:
    void onTimer() override { owner_.watchAnswers(); }
    AdminConnection& owner_;
  };

  void markDirty() override { table_.mark(*this); }
  void onRequestsWait() override { table_.markLater(*this); }
  void onTimeout(std::string_view) override {}

  void begin(http::StreamId stream, bool withBody);
  void ask(http::StreamId stream, const http::RequestHead& head);
  void askForAction(http::StreamId stream, const http::RequestHead& head, const AdminAction& action);
  void act(http::StreamId stream);
  void sendHead(http::StreamId stream, AdminRequest& request);
  /// Makes the next piece if the client has taken the one before.
  void fill(http::StreamId stream, AdminRequest& request);
  void watchAnswers();
  void moved() { lastMove_ = table_.nextMove(); }

  http::Token onRequest(http::StreamId stream, http::RequestMessage&& message) override;
  http::Token onBadRequest(http::StreamId stream, const base::Error& error) override;
  void onRequestBody(http::Token token, std::string_view bytes) override;
  void onRequestEnd(http::Token token) override { act(static_cast<http::StreamId>(token)); }
  void onRequestEnd(http::Token token, http::Trailers&&) override { onRequestEnd(token); }
  void onRequestReset(http::Token token, const base::Error& error, bool answerable) override;
  http::BodyPipe* responseBody(http::Token token) override;
  void onResponseBodyTaken(http::Token token, std::size_t count) override;
  void onResponseSent(http::Token token) override;
  void onLimitHit(http::Limit) override {}

  const base::Handle<AdminConnection> self_;
  AdminTable& table_;
  AdminPort& port_;
  const base::MonotonicTime accepted_;
  std::uint64_t lastMove_;
  bool served_ = false;                              // an answer was taken to its end
  std::map<http::StreamId, AdminRequest> requests_;  // bounded by limits.concurrentStreams
  std::vector<http::StreamId> ready_;  // requests that were answered and not sent yet, or of which a piece was taken
  std::vector<std::pair<http::StreamId, std::size_t>> granted_;  // bytes of bodies that were taken
  AnswerTimer answerTimer_{*this};
};

}  // namespace sluice::server
