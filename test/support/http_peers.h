// The two peers that communicate through the gateway: a client and a backend, each with the opposite codec of this tree
// over a Wire, so that a test sees messages and not bytes. Each has memory of its own, so the gateway's pool counts the
// gateway alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/codec.h"
#include "test/support/fake_network.h"
#include "test/support/recording_sinks.h"

namespace sluice::test {

/// A message's head as a test writes it.
struct HeadSpec {
  http::Method method = http::Method::kGet;
  std::string target = "/";
  FieldList fields = {};
  http::Body body = http::Body::kNone;
  http::Tunnel tunnel = http::Tunnel::kWebSocket;  // if body is kTunnel
  std::uint64_t length = 0;
  bool expectContinue = false;
  std::uint16_t status = 200;
};

inline std::string_view methodText(http::Method method) {
  switch (method) {
    case http::Method::kHead:
      return "HEAD";
    case http::Method::kPost:
      return "POST";
    case http::Method::kPut:
      return "PUT";
    case http::Method::kDelete:
      return "DELETE";
    default:
      return "GET";
  }
}

class ClientPeer {
 public:
  ClientPeer(std::shared_ptr<Wire> wire, http::Version version, const base::Clock& clock,
             const http::Limits& itsLimits = {})
      : limits(itsLimits), wire_(std::move(wire)), codec(makeCodec(version, clock)) {}

  Wire& wire() { return *wire_; }
  bool idle() const { return codec->availableStreams() > 0; }
  /// Begins a request and returns its number. Bodies are added with body() and finish().
  std::size_t ask(const HeadSpec& spec) {
    base::Arena arena(pool);
    http::RequestHead head;
    head.method = spec.method;
    head.methodText = methodText(spec.method);
    head.authority = "gateway.test";
    head.target = spec.target;
    head.body = spec.body;
    head.contentLength = spec.length;
    head.expectContinue = spec.expectContinue;
    for (const auto& [name, value] : spec.fields) head.headers.add(arena, name, value);
    if (spec.body == http::Body::kTunnel) head.tunnel = spec.tunnel;
    // This is the answer to the key of RFC 6455 section 1.3, which every test uses.
    if (head.tunnel == http::Tunnel::kWebSocket) head.tunnelProof = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    RecordingClientSink::RecordedResponse& stream = sink.open();
    if (spec.body == http::Body::kNone) stream.request.finish();
    ids_.push_back(codec->sendRequest(stream.token, head, http::Scheme::kHttp));
    granted_.push_back(0);
    return sink.count() - 1;
  }
  void body(std::size_t index, std::string_view bytes) {
    sink.stream(index).request.bytes.append(bytes);
    codec->wake(ids_[index]);
  }
  void finish(std::size_t index) {
    sink.stream(index).request.finish();
    codec->wake(ids_[index]);
  }
  void finish(std::size_t index, const FieldList& trailers) {
    http::Trailers made(pool);
    for (const auto& [name, value] : trailers)
      made.fields.add(made.arena, made.arena.copy(name), made.arena.copy(value));
    sink.stream(index).request.finish(std::move(made));
    codec->wake(ids_[index]);
  }
  void cancel(std::size_t index) { codec->reset(ids_[index], http::ResetReason::kCancelled); }
  /// Grants credit by hand, if not `grants`.
  void grant(std::size_t index, std::size_t count) { codec->grant(ids_[index], count); }
  RecordingClientSink::RecordedResponse& answer(std::size_t index) { return sink.stream(index); }

  /// Moves the bytes that can be moved, both ways.
  bool pump() {
    bool moved = false;
    if (!wire_->received.empty() && reads) {
      codec->feed(wire_->take());
      moved = true;
    }
    if (wire_->received.empty() && !ended_ && (wire_->finished || wire_->over())) {
      ended_ = moved = true;
      codec->feedEnd(wire_->finished && !wire_->aborted);
    }
    for (std::size_t i = 0; grants && i < granted_.size(); ++i) {
      const std::size_t size = sink.stream(i).body.size();
      if (size == granted_[i]) continue;
      codec->grant(ids_[i], size - std::exchange(granted_[i], size));
      moved = true;
    }
    if (codec->wantsProduce()) {
      const std::string bytes = produced(*codec, pool);
      if (!wire_->over()) wire_->deliver(bytes);
      moved = moved || !bytes.empty();
    }
    return moved;
  }

  bool reads = true;   // reads bytes from the wire
  bool grants = true;  // grants credit for body bytes
  const http::Limits limits;
  base::ChunkPool pool;
  RecordingClientSink sink{pool};

 private:
  std::unique_ptr<http::ClientCodec> makeCodec(http::Version version, const base::Clock& clock) {
    if (version == http::Version::kOpaque) return http::makeOpaqueClientCodec(sink, pool, limits);
    if (version == http::Version::kHttp2) return http::makeH2ClientCodec(sink, pool, limits, clock);
    return http::makeH1ClientCodec(sink, pool, limits);
  }

  std::shared_ptr<Wire> wire_;
  std::vector<http::StreamId> ids_;
  std::vector<std::size_t> granted_;
  bool ended_ = false;

 public:
  std::unique_ptr<http::ClientCodec> codec;
};

class BackendPeer {
 public:
  BackendPeer(std::shared_ptr<Wire> wire, http::Version version, const base::Clock& clock,
              const http::Limits& itsLimits = {})
      : limits(itsLimits), wire_(std::move(wire)), codec(makeCodec(version, clock)) {}

  Wire& wire() { return *wire_; }
  std::size_t requests() const { return sink.count(); }
  RecordingServerSink::RecordedRequest& request(std::size_t index) { return sink.stream(index); }

  void interim(std::size_t index, std::uint16_t status, const FieldList& fields = {}) {
    base::Arena arena(pool);
    http::ResponseHead head;
    head.status = status;
    for (const auto& [name, value] : fields) head.headers.add(arena, name, value);
    codec->sendInterim(request(index).id, head);
  }
  void head(std::size_t index, const HeadSpec& spec) {
    base::Arena arena(pool);
    http::ResponseHead head;
    head.status = spec.status;
    head.body = spec.body;
    if (spec.body == http::Body::kTunnel) head.tunnel = spec.tunnel;
    if (spec.body == http::Body::kLength) head.contentLength = spec.length;
    for (const auto& [name, value] : spec.fields) head.headers.add(arena, name, value);
    codec->sendResponse(request(index).id, head);
  }
  void body(std::size_t index, std::string_view bytes) {
    request(index).response.bytes.append(bytes);
    codec->wake(request(index).id);
  }
  void finish(std::size_t index) {
    request(index).response.finish();
    codec->wake(request(index).id);
  }
  void finish(std::size_t index, const FieldList& trailers) {
    http::Trailers made(pool);
    for (const auto& [name, value] : trailers)
      made.fields.add(made.arena, made.arena.copy(name), made.arena.copy(value));
    request(index).response.finish(std::move(made));
    codec->wake(request(index).id);
  }
  /// Sends a whole response with its length.
  void respond(std::size_t index, std::uint16_t status, std::string_view text) {
    request(index).response.bytes.append(text);
    request(index).response.finish();
    HeadSpec spec;
    spec.status = status;
    spec.body = http::Body::kLength;
    spec.length = text.size();
    head(index, spec);
  }
  void reset(std::size_t index, http::ResetReason reason) { codec->reset(request(index).id, reason); }

  bool pump() {
    bool moved = false;
    codec->resume();
    if (!wire_->received.empty() && reads) {
      codec->feed(wire_->take());
      moved = true;
    }
    if (!ended_ && wire_->over()) {
      ended_ = moved = true;
      codec->feedLost();
    } else if (!ended_ && wire_->finished && wire_->received.empty()) {
      ended_ = moved = true;
      codec->feedEnd();
    }
    granted_.resize(sink.count());
    for (std::size_t i = 0; grants && i < granted_.size(); ++i) {
      const std::size_t size = sink.stream(i).body.size();
      if (size == granted_[i]) continue;
      codec->grant(sink.stream(i).id, size - std::exchange(granted_[i], size));
      moved = true;
    }
    if (codec->wantsProduce()) {
      const std::string bytes = produced(*codec, pool);
      if (!wire_->over()) wire_->deliver(bytes);
      moved = moved || !bytes.empty();
    }
    if (codec->state() == http::CodecState::kClosed && !std::exchange(closed_, true)) {
      moved = true;
      codec->abortive() ? wire_->reset() : wire_->end();
    }
    return moved;
  }

  bool reads = true;
  bool grants = true;
  const http::Limits limits;
  base::ChunkPool pool;
  RecordingServerSink sink{pool};

 private:
  std::unique_ptr<http::ServerCodec> makeCodec(http::Version version, const base::Clock& clock) {
    const http::Scheme scheme = wire_->isTls() ? http::Scheme::kHttps : http::Scheme::kHttp;
    if (version == http::Version::kOpaque) return http::makeOpaqueServerCodec(sink, pool, limits, {});
    if (version == http::Version::kHttp2) return http::makeH2ServerCodec(sink, pool, limits, scheme, clock);
    return http::makeH1ServerCodec(sink, pool, limits, scheme);
  }

  std::shared_ptr<Wire> wire_;
  std::vector<std::size_t> granted_;
  bool ended_ = false;
  bool closed_ = false;

 public:
  std::unique_ptr<http::ServerCodec> codec;
};

}  // namespace sluice::test
