#include "proxy/server/connection/downstream_connection.h"

#include <utility>

namespace sluice::server {

DownstreamConnection::DownstreamConnection(base::Handle<DownstreamConnection> self, const ConnectionParts& parts,
                                           ConnectionLists& lists, exchange::Exchanges& exchanges,
                                           const control::ServedBind& bind, const routing::HttpService& service,
                                           AcceptedClient client)
    : ServerConnection(parts, client.fd, client.peer, bind.tls, service.forwardProxy),
      self_(self),
      place_(std::move(client.place)),
      ip_(client.peer),
      network_(net::networkOf(client.peer)),
      lists_(lists),
      exchanges_(exchanges),
      bind_(bind.id),
      routes_(&service.routes),
      memory_(exchanges.clientMemory()),
      heads_(exchanges) {
  markDirty();
}

void DownstreamConnection::markDirty() {
  if (!dirty) lists_.mark(*this);
}

void DownstreamConnection::onHandshake(bool complete) {
  if (!complete) {
    if (!transport().hasRefusedPeer()) return;
    exchanges_.observer().onIdentity(exchange::IdentitySource::kCertificate, exchange::IdentityResult::kRefused);
  } else if (auto chain = transport().clientChain()) {
    certifiedCaller_ = std::make_unique<exchange::CertifiedCaller>(std::move(chain), network_);
    certified = certifiedCaller_.get();
  }
}

http::Token DownstreamConnection::onRequest(http::StreamId stream, http::RequestMessage&& message) {
  headArrived();
  return exchanges_.create(clientStream(stream), std::move(message)).token();
}

http::Token DownstreamConnection::onBadRequest(http::StreamId stream, const base::Error& error) {
  headArrived();
  return exchanges_.createRefused(clientStream(stream), error).token();
}

void DownstreamConnection::onRequestBody(http::Token token, std::string_view bytes) {
  if (exchange::Exchange* exchange = exchanges_.find(token)) exchange->addRequestBody(bytes);
}

void DownstreamConnection::onRequestEnd(http::Token token) {
  if (exchange::Exchange* exchange = exchanges_.find(token)) exchange->endRequest(std::nullopt);
}

void DownstreamConnection::onRequestEnd(http::Token token, http::Trailers&& trailers) {
  if (exchange::Exchange* exchange = exchanges_.find(token)) exchange->endRequest(std::move(trailers));
}

void DownstreamConnection::onRequestReset(http::Token token, const base::Error& error, bool answerable) {
  requestEnded();
  if (exchange::Exchange* exchange = exchanges_.find(token)) exchange->onRequestReset(error, answerable);
}

http::BodyPipe* DownstreamConnection::responseBody(http::Token token) {
  exchange::Exchange* exchange = exchanges_.find(token);
  return exchange != nullptr ? &exchange->responseBody() : nullptr;
}

void DownstreamConnection::onResponseBodyTaken(http::Token token, std::size_t count) {
  if (exchange::Exchange* exchange = exchanges_.find(token)) exchange->onResponseTaken(count);
}

void DownstreamConnection::onResponseSent(http::Token token) {
  requestEnded();
  if (exchange::Exchange* exchange = exchanges_.find(token)) exchange->raise(exchange::Event::kResponseSent);
}

void DownstreamConnection::onLimitHit(http::Limit limit) { exchanges_.onLimit(http::limitName(limit)); }

}  // namespace sluice::server
