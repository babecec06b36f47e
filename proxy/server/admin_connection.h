// One client of an admin port: asks the page that each request names, and sends what it answers, whenever that is.
// Owned by AdminServer's table, on the main thread.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "proxy/base/slab.h"
#include "proxy/http/body_pipe.h"
#include "proxy/server/admin.h"
#include "proxy/server/server_connection.h"

namespace sluice::server {

class AdminConnection final : public ServerConnection {
 public:
  AdminConnection(base::Handle<AdminConnection> self, AdminServer& server, AdminPort& port,
                  const ConnectionParts& parts, int fd, const net::Address& peer);
  ~AdminConnection() override;

  base::Handle<AdminConnection> handle() const { return self_; }
  bool dirty = false;  // for the table

  /// A page has answered; nothing happens if the client has given the request up.
  void answer(http::StreamId stream, AdminDocument&& document);
  /// The drive beat: sends what was answered, since sinks may not call their codec back.
  void sendAnswers();

 private:
  struct Request {
    bool withBody;
    std::optional<AdminDocument> document = std::nullopt;  // from its answer until it is sent
    std::optional<http::BodyPipe> body = std::nullopt;     // from then on
  };

  void markDirty() override { server_.mark(*this); }
  void onTimeout(std::string_view) override {}

  void ask(http::StreamId stream, const http::RequestHead& head);
  void send(http::StreamId stream, Request& request);

  http::Token onRequest(http::StreamId stream, http::RequestMessage&& message) override;
  http::Token onBadRequest(http::StreamId stream, const base::Error& error) override;
  void onRequestBody(http::Token, std::string_view) override {}
  void onRequestEnd(http::Token) override {}
  void onRequestEnd(http::Token, http::Trailers&&) override {}
  void onRequestReset(http::Token token, const base::Error& error, bool answerable) override;
  http::BodyPipe* responseBody(http::Token token) override;
  void onResponseBodyTaken(http::Token, std::size_t) override {}
  void onResponseSent(http::Token token) override;
  void onLimitHit(http::Limit) override {}

  const base::Handle<AdminConnection> self_;
  AdminServer& server_;
  AdminPort& port_;
  std::map<http::StreamId, Request> requests_;  // bounded by limits.concurrentStreams
  std::vector<http::StreamId> answered_;        // not sent yet
};

}  // namespace sluice::server
