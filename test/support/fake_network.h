// A network in memory: transports whose other end a test controls, a dialer that makes them, and a resolver that
// answers on command.
//
// A Wire is one connection as its peer sees it. Like the real transports, a fake one delivers at most the read budget,
// writes as many bytes as the peer has room for and keeps one more piece, and reports events only inside a Turn. One
// thread.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/net/dns/resolver.h"
#include "proxy/net/worker.h"
#include "proxy/upstream/dial/dialer.h"

namespace sluice::test {

class Wire {
 public:
  enum class End : std::uint8_t { kOpen, kClean, kUnclean };

  Wire(net::Worker& worker, const net::Address& peer, bool tls) : worker_(worker), peer_(peer), tls_(tls) {}

  // State that the peer sees.
  std::string received;   // not yet taken by the peer
  bool finished = false;  // FIN came
  bool aborted = false;   // RST came
  bool letGo = false;     // the transport was destroyed
  std::optional<base::TcpKeepalive> keepalive;
  std::shared_ptr<const pki::PeerChain> shown;  // the peer's certificates, if it is a client that has some
  const net::Address& address() const { return peer_; }
  bool isTls() const { return tls_; }
  /// Returns true if the connection has ended in any way.
  bool over() const { return letGo || aborted || failed_; }
  bool isOpen() const { return open_ && !over(); }
  std::string take() { return std::exchange(received, {}); }

  // Actions of the peer. Each is a turn of its own.
  void accept(std::string_view alpn = {});
  /// Answers the dial, and nothing of the TLS handshake that begins then.
  void beginHandshake() { shaken_ = true; }
  void deliver(std::string_view bytes) {
    inbox_ += bytes;
    pump();
  }
  /// Ends the peer's side, after the bytes that were delivered.
  void end(End end = End::kClean) {
    end_ = end;
    pump();
  }
  /// Does the same, and the gateway gets no event of it.
  void endUnnoticed() { end_ = End::kClean; }
  void fail(const base::Error& error);
  void reset() { fail(base::Error::upstream(base::ErrorType::kConnectionTerminated, "reset by peer")); }
  void refuse() { fail(base::Error::upstream(base::ErrorType::kConnectionRefused, "refused")); }
  /// Lets the peer take only this many bytes from here on.
  void allow(std::size_t bytes);
  void allowAll() { allow(std::numeric_limits<std::size_t>::max()); }

  /// Delivers as far as the budget goes. Returns true if anything moved.
  bool pump();
  /// Returns the number of bytes that were sent to the gateway and that it has not read.
  std::size_t waiting() const { return inbox_.size(); }

 private:
  friend class FakeTransport;
  net::Worker& worker_;
  const net::Address peer_;
  const bool tls_;
  net::TransportSink* sink_ = nullptr;  // null if the transport is gone, or has reported its last event
  base::ByteQueue* kept_ = nullptr;     // the transport's queue
  std::string inbox_;
  End end_ = End::kOpen;
  std::size_t budget_ = 0;
  std::size_t room_ = std::numeric_limits<std::size_t>::max();
  std::uint64_t taken_ = 0;
  net::TlsFacts facts_;
  bool open_ = false;
  bool shaken_ = false;  // a TLS handshake has begun
  bool failed_ = false;
  bool finWanted_ = false;

  void absorb(base::ByteQueue& from) {
    while (!from.empty() && room_ > 0) {
      const std::string_view run = from.front().substr(0, room_);
      received += run;
      taken_ += run.size();
      if (room_ != std::numeric_limits<std::size_t>::max()) room_ -= run.size();
      from.consume(run.size());
    }
    if (finWanted_ && from.empty()) finished = true;
  }
};

class FakeTransport final : public net::Transport {
 public:
  FakeTransport(net::Worker& worker, std::shared_ptr<Wire> wire, net::TransportSink& sink)
      : wire_(std::move(wire)), kept_(worker.chunks()) {
    wire_->sink_ = &sink;
    wire_->kept_ = &kept_;
  }
  ~FakeTransport() override {
    wire_->letGo = true;
    wire_->sink_ = nullptr;
    wire_->kept_ = nullptr;
  }

  void setSink(net::TransportSink& sink) override { wire_->sink_ = &sink; }
  void setKeepalive(const base::TcpKeepalive& keepalive) override { wire_->keepalive = keepalive; }
  void setReadBudget(std::size_t bytes) override { wire_->budget_ = bytes; }
  void write(base::ByteQueue& from) override {
    if (!wire_->isOpen() || pending() || wire_->finWanted_) return;
    wire_->absorb(from);
    if (!from.empty()) kept_.splice(from, std::min(from.size(), kKept));
  }
  bool pending() const override { return !kept_.empty(); }
  std::uint64_t acknowledged() const override { return wire_->taken_; }
  bool isQuiet() const override { return wire_->inbox_.empty() && wire_->end_ == Wire::End::kOpen; }
  void shutdown() override {
    wire_->finWanted_ = true;
    if (wire_->isOpen()) wire_->absorb(kept_);
  }
  void abort() override {
    if (wire_->over()) return;
    wire_->aborted = true;
    wire_->sink_ = nullptr;
    kept_.clear();
  }
  const net::Address& peer() const override { return wire_->peer_; }
  const net::TlsFacts* tls() const override { return wire_->tls_ && wire_->open_ ? &wire_->facts_ : nullptr; }
  std::shared_ptr<const pki::PeerChain> clientChain() const override { return wire_->open_ ? wire_->shown : nullptr; }
  bool hasShakenHands() const override { return wire_->tls_ && wire_->shaken_; }

 private:
  static constexpr std::size_t kKept = std::size_t{64} * 1024;
  const std::shared_ptr<Wire> wire_;
  base::ByteQueue kept_;
};

inline void Wire::accept(std::string_view alpn) {
  if (open_ || over() || sink_ == nullptr) return;
  const net::Worker::Turn turn(worker_);
  open_ = shaken_ = true;
  facts_.alpn = alpn;
  sink_->onOpen();
}

inline void Wire::fail(const base::Error& error) {
  if (sink_ == nullptr || over()) return;
  const net::Worker::Turn turn(worker_);
  failed_ = true;
  shaken_ = shaken_ || error.type == base::ErrorType::kTlsCertificateError ||
            error.type == base::ErrorType::kTlsProtocolError;
  kept_->clear();
  std::exchange(sink_, nullptr)->onFailed(error);
}

inline void Wire::allow(std::size_t bytes) {
  room_ = bytes;
  if (!isOpen() || sink_ == nullptr || kept_->empty()) return;
  const net::Worker::Turn turn(worker_);
  absorb(*kept_);
  if (kept_->empty()) sink_->onWritable();
}

inline bool Wire::pump() {
  bool moved = false;
  while (isOpen() && sink_ != nullptr && !inbox_.empty() && budget_ > 0) {
    const net::Worker::Turn turn(worker_);
    const std::string bytes = inbox_.substr(0, std::min(budget_, std::size_t{64} * 1024));
    inbox_.erase(0, bytes.size());
    budget_ -= bytes.size();
    sink_->onBytes(bytes);
    moved = true;
  }
  if (!isOpen() || sink_ == nullptr || !inbox_.empty() || end_ == End::kOpen || budget_ == 0) return moved;
  const net::Worker::Turn turn(worker_);
  sink_->onEnd(std::exchange(end_, End::kOpen) == End::kClean);
  return true;
}

/// Every dialled connection waits for its test to accept, refuse or forget it.
class FakeDialer final : public upstream::Dialer {
 public:
  explicit FakeDialer(net::Worker& worker) : worker_(worker) {}
  std::unique_ptr<net::Transport> dial(const net::Address& to, net::TlsClientContext* tls,
                                       net::TransportSink& sink) override {
    wires.push_back(std::make_shared<Wire>(worker_, to, tls != nullptr));
    return std::make_unique<FakeTransport>(worker_, wires.back(), sink);
  }
  std::vector<std::shared_ptr<Wire>> wires;  // in the order of dialling

 private:
  net::Worker& worker_;
};

class FakeResolver final : public net::Resolver {
 public:
  explicit FakeResolver(net::Worker& worker) : worker_(worker) {}

  using net::Resolver::cached;
  const base::Result<net::Addresses>* cached(std::string_view name, const base::DnsTerms& terms) override {
    lastTerms = terms;
    const auto found = known_.find(std::string(name));
    return found != known_.end() ? &found->second : nullptr;
  }
  void resolve(std::string_view name, const base::DnsTerms& terms, std::function<void()> done) override {
    lastTerms = terms;
    ++questions;
    asked_.emplace_back(name, std::move(done));
  }
  void learn(const net::DnsAnswer& answer) override { known_.insert_or_assign(answer.name, answer.addresses); }

  void know(const std::string& name, const std::vector<std::string>& ips) {
    net::Addresses addresses;
    for (const std::string& ip : ips) addresses.push_back(*net::Address::parse(ip, 0));
    known_.insert_or_assign(name, std::move(addresses));
  }
  void know(const std::string& name, const base::Error& failure) { known_.insert_or_assign(name, failure); }
  void forget(const std::string& name) { known_.erase(name); }
  /// Answers every query that has an answer. Opens a turn.
  void answer() {
    const net::Worker::Turn turn(worker_);
    auto asked = std::exchange(asked_, {});
    for (auto& [name, done] : asked) {
      if (cached(name) != nullptr) {
        done();
      } else {
        asked_.emplace_back(name, std::move(done));
      }
    }
  }
  int questions = 0;
  base::DnsTerms lastTerms;

 private:
  net::Worker& worker_;
  std::map<std::string, base::Result<net::Addresses>> known_;
  std::vector<std::pair<std::string, std::function<void()>>> asked_;
};

}  // namespace sluice::test
