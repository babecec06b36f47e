// A client's connection as the gateway holds it, over a Wire: it does the work of server::ServerConnection and
// DownstreamConnection without sockets, sniffing and lingering. Owned by the rig's slab.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/exchange/authentication/certified_caller.h"
#include "proxy/exchange/exchanges.h"
#include "proxy/exchange/head_memory.h"
#include "test/support/fake_network.h"

namespace sluice::test {

class RigConnection final : public exchange::Downstream, private http::ServerSink, private net::TransportSink {
 public:
  struct RigParts {
    net::Worker& worker;
    exchange::Exchanges& exchanges;
    const routing::RouteTable& routes;
    const http::Limits& limits;
    http::H2Memory& h2Memory;
    std::vector<base::Handle<RigConnection>>& dirtyList;
  };

  RigConnection(base::Handle<RigConnection> self, const RigParts& parts, std::shared_ptr<Wire> wire,
                http::Version version)
      : self_(self),
        parts_(parts),
        client_(wire->address()),
        transport_(std::make_unique<FakeTransport>(parts.worker, wire, static_cast<net::TransportSink&>(*this))),
        heads_(parts.exchanges),
        codec_(makeCodec(version)),
        out_(parts.worker.chunks()),
        memory_(parts.exchanges.clientMemory()) {}

  ~RigConnection() override { parts_.exchanges.onClientGone(self_.toToken()); }

  base::Handle<RigConnection> handle() const { return self_; }
  bool dead() const { return dead_; }
  void resume() {
    if (!dead_) codec_->resume();
  }
  void flush() {
    dirty_ = false;
    if (dead_) return;
    while (!transport_->pending() && (codec_->wantsProduce() || !out_.empty())) {
      const std::size_t before = out_.size();
      codec_->produce(out_, kFlushBytes);
      const std::size_t offered = out_.size();
      transport_->write(out_);
      if (offered == before && out_.size() == offered) break;
    }
    settle();
  }

  http::ServerCodec& codec() override { return *codec_; }
  void touch() override {
    if (std::exchange(dirty_, true)) return;
    parts_.dirtyList.push_back(self_);
  }
  std::string_view serverName() const override { return {}; }
  const routing::RouteTable& routes() const override { return parts_.routes; }
  exchange::ClientMemory& memory() override { return memory_; }
  http::HeadAccount& heads() override { return heads_; }
  std::uint64_t acknowledged() const override { return transport_->acknowledged(); }

 private:
  static constexpr const char* kOpaqueAuthority = "backend.test";
  static constexpr std::size_t kFlushBytes = std::size_t{128} * 1024;

  std::unique_ptr<http::ServerCodec> makeCodec(http::Version version) {
    base::ChunkPool& pool = parts_.worker.chunks();
    const http::Limits& limits = parts_.limits;
    if (version == http::Version::kOpaque) return http::makeOpaqueServerCodec(*this, pool, limits, kOpaqueAuthority);
    if (version == http::Version::kHttp11)
      return http::makeH1ServerCodec(*this, pool, limits, http::Scheme::kHttp, &heads_);
    return http::makeH2ServerCodec(*this, pool, limits, http::Scheme::kHttp, parts_.worker.clock(), &parts_.h2Memory,
                                   &heads_);
  }

  void settle() {
    if (codec_->state() == http::CodecState::kClosed) {
      if (codec_->abortive()) {
        transport_->abort();
        return die();
      }
      if (out_.empty() && !codec_->wantsProduce() && !transport_->pending()) {
        transport_->shutdown();
        return die();
      }
    }
    if (codec_->halfClosed() && out_.empty()) transport_->shutdown();
    if (codec_->wantsResume()) touch();
    transport_->setReadBudget(codec_->readBudget());
  }
  void die() {
    if (std::exchange(dead_, true)) return;
    codec_->feedLost();
    touch();
  }

  // net::TransportSink
  void onOpen() override {
    if (auto chain = transport_->clientChain()) {
      certifiedCaller_ = std::make_unique<exchange::CertifiedCaller>(std::move(chain), net::networkOf(client_));
      certified = certifiedCaller_.get();
    }
    touch();
  }
  void onBytes(std::string_view bytes) override {
    touch();
    if (!dead_) codec_->feed(bytes);
  }
  void onEnd(bool) override {
    touch();
    if (!dead_) codec_->feedEnd();
  }
  void onFailed(const base::Error&) override { die(); }
  void onWritable() override { touch(); }

  // http::ServerSink
  http::Token onRequest(http::StreamId stream, http::RequestMessage&& message) override {
    return parts_.exchanges.create({self_.toToken(), stream, &parts_.routes, client_}, std::move(message)).token();
  }
  http::Token onBadRequest(http::StreamId stream, const base::Error& error) override {
    return parts_.exchanges.createRefused({self_.toToken(), stream, &parts_.routes, client_}, error).token();
  }
  void onRequestBody(http::Token token, std::string_view bytes) override {
    if (auto* exchange = parts_.exchanges.find(token)) exchange->addRequestBody(bytes);
  }
  void onRequestEnd(http::Token token) override {
    if (auto* exchange = parts_.exchanges.find(token)) exchange->endRequest(std::nullopt);
  }
  void onRequestEnd(http::Token token, http::Trailers&& trailers) override {
    if (auto* exchange = parts_.exchanges.find(token)) exchange->endRequest(std::move(trailers));
  }
  void onRequestReset(http::Token token, const base::Error& error, bool answerable) override {
    if (auto* exchange = parts_.exchanges.find(token)) exchange->onRequestReset(error, answerable);
  }
  http::BodyPipe* responseBody(http::Token token) override {
    auto* exchange = parts_.exchanges.find(token);
    return exchange != nullptr ? &exchange->responseBody() : nullptr;
  }
  void onResponseBodyTaken(http::Token token, std::size_t count) override {
    if (auto* exchange = parts_.exchanges.find(token)) exchange->onResponseTaken(count);
  }
  void onResponseSent(http::Token token) override {
    if (auto* exchange = parts_.exchanges.find(token)) exchange->raise(exchange::Event::kResponseSent);
    touch();
  }
  void onLimitHit(http::Limit limit) override { parts_.exchanges.onLimit(http::limitName(limit)); }

  const base::Handle<RigConnection> self_;
  const RigParts parts_;
  const net::Address client_;
  std::unique_ptr<net::Transport> transport_;
  exchange::ClientHeads heads_;
  std::unique_ptr<http::ServerCodec> codec_;
  base::ByteQueue out_;
  exchange::ClientMemory memory_;
  std::unique_ptr<exchange::CertifiedCaller> certifiedCaller_;
  bool dirty_ = false;
  bool dead_ = false;
};

}  // namespace sluice::test
