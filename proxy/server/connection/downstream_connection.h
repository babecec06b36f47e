// A client's connection on the data path: its requests become exchanges.
#pragma once

#include <memory>

#include "proxy/base/slab.h"
#include "proxy/control/state/generation.h"
#include "proxy/exchange/authentication/certified_caller.h"
#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/head_memory.h"
#include "proxy/server/connection/address_limits.h"
#include "proxy/server/connection/server_connection.h"

namespace sluice::server {

class DownstreamConnection;

/// A connection that the acceptor took for a worker.
struct AcceptedClient {
  int fd;  // to be taken over, or closed
  net::Address peer;
  control::BindId bind;
  AddressLimits::Place place = nullptr;
};

/// The lists of the worker's connections that have work.
class ConnectionLists {
 public:
  virtual ~ConnectionLists() = default;
  /// Called when a connection has something to flush.
  virtual void mark(DownstreamConnection& connection) = 0;
  /// Called when a connection waits for its turn.
  virtual void markLater(DownstreamConnection& connection) = 0;
};

class DownstreamConnection final : public ServerConnection, public exchange::Downstream {
 public:
  DownstreamConnection(base::Handle<DownstreamConnection> self, const ConnectionParts& parts, ConnectionLists& lists,
                       exchange::Exchanges& exchanges, const control::ServedBind& bind,
                       const routing::HttpService& service, AcceptedClient client);
  ~DownstreamConnection() override {
    dropCodec();
    exchanges_.onClientGone(self_.toToken());
  }

  base::Handle<DownstreamConnection> handle() const { return self_; }
  bool dirty = false;         // belongs to the table
  bool waitsForTurn = false;  // belongs to the queue
  control::BindId bind() const { return bind_; }
  net::ClientNetwork network() const { return network_; }
  /// Requests are matched in these routes from now on.
  void follow(const routing::HttpService& service) { routes_ = &service.routes; }

  // exchange::Downstream; only exchanges that came from here call this, so there is a codec.
  http::ServerCodec& codec() override { return *codecOrNull(); }
  void touch() override { markDirty(); }
  // The certificate of a forward proxy says nothing about the destinations of its clients.
  std::string_view serverName() const override {
    return terms().forwardProxy ? std::string_view() : ServerConnection::serverName();
  }
  exchange::ClientMemory& memory() override { return memory_; }
  http::HeadAccount& heads() override { return heads_; }
  std::uint64_t acknowledged() const override { return transport().acknowledged(); }
  const routing::RouteTable& routes() const override { return *routes_; }

 private:
  void markDirty() override;
  void onRequestsWait() override { lists_.markLater(*this); }
  exchange::ClientStream clientStream(http::StreamId stream) const {
    return {self_.toToken(),     stream, routes_, peer(), ip_, network_, terms().scheme == http::Scheme::kHttps,
            terms().forwardProxy};
  }
  void onHandshake(bool complete) override;
  void onTimeout(std::string_view name) override { exchanges_.onLimit(name); }
  http::HeadAccount* headAccount() override { return &heads_; }

  http::Token onRequest(http::StreamId stream, http::RequestMessage&& message) override;
  http::Token onBadRequest(http::StreamId stream, const base::Error& error) override;
  void onRequestBody(http::Token token, std::string_view bytes) override;
  void onRequestEnd(http::Token token) override;
  void onRequestEnd(http::Token token, http::Trailers&& trailers) override;
  void onRequestReset(http::Token token, const base::Error& error, bool answerable) override;
  http::BodyPipe* responseBody(http::Token token) override;
  void onResponseBodyTaken(http::Token token, std::size_t count) override;
  void onResponseSent(http::Token token) override;
  void onLimitHit(http::Limit limit) override;

  const base::Handle<DownstreamConnection> self_;
  const AddressLimits::Place place_;
  const net::IpText ip_;
  const net::ClientNetwork network_;
  ConnectionLists& lists_;
  exchange::Exchanges& exchanges_;
  const control::BindId bind_;
  const routing::RouteTable* routes_;
  exchange::ClientMemory memory_;
  exchange::ClientHeads heads_;
  std::unique_ptr<exchange::CertifiedCaller> certifiedCaller_;  // that of Downstream
};

}  // namespace sluice::server
