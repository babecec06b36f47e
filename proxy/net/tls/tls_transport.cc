#include "proxy/net/tls/tls_transport.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace sluice::net {
namespace {

// Enough for most flights in one read, and the largest amount that is ever held back.
constexpr std::size_t kHandshakeRead = 16 * 1024;
// A small budget is read in steps of at least this size, or a record of 16 KiB could take thousands of reads.
constexpr std::size_t kLeastRead = 2 * 1024;
// Pieces shorter than this are copied together, because a record costs more than a copy.
constexpr std::size_t kShortPiece = 4 * 1024;
// A connection gives its record buffers back after it was not used for this time, or up to twice as long.
constexpr base::Duration kRest = std::chrono::seconds(1);

}  // namespace

/// Reports events to the sink that must not be reported within a call of the owner: a failure, or input that waited for
/// a budget.
class TlsTransport::Wake final : public Timer {
 public:
  Wake(TlsTransport& transport, std::optional<base::Error> error) : transport_(transport), error_(std::move(error)) {
    Worker& worker = transport_.tcp_.worker();
    worker.timers().set(*this, worker.now());
  }
  bool isFailure() const { return error_.has_value(); }

 private:
  void onTimer() override {
    if (error_) return transport_.fail(*error_);
    if (transport_.budget_ > 0) transport_.advance({});
  }
  TlsTransport& transport_;
  std::optional<base::Error> error_;
};

TlsTransport::TlsTransport(Worker& worker, const Address& to, TlsClientContext& context, TransportSink& sink)
    : sink_(&sink),
      tcp_(worker, to, *this),
      engine_(context.state(), worker.clock().wallNow()),
      state_(State::kConnecting) {}

TlsTransport::TlsTransport(Worker& worker, int fd, const Address& peer, const TlsServerContext& context,
                           TransportSink& sink)
    : sink_(&sink), tcp_(worker, fd, peer, *this), engine_(context.state(), worker.clock()), state_(State::kHandshake) {
  allowTcp(kHandshakeRead);
}

TlsTransport::~TlsTransport() {
  if (isCounted_) tcp_.worker().dropRecordBuffers();
}

void TlsTransport::onOpen() {
  begun_ = tcp_.worker().now();
  state_ = State::kHandshake;
  advance({});
}

void TlsTransport::onBytes(std::string_view ciphertext) {
  allowed_ -= std::min(allowed_, ciphertext.size());
  advance(ciphertext);
}

void TlsTransport::onEnd(bool /*clean*/) {
  if (state_ == State::kHandshake) return fail(endedInHandshake(engine_.peer()));
  endRead(false);
}

void TlsTransport::onFailed(const base::Error& error) { fail(error); }

void TlsTransport::onWritable() {
  if (ourSide_ == OurSide::kEndWanted) sendEnd();
  if (state_ == State::kHandshake || !held_.empty()) advance({});
  if (canWrite() && !pending()) sink_->onWritable();
}

/// Does everything that can be done now: called by events only.
void TlsTransport::advance(std::string_view ciphertext) {
  std::string waited = std::exchange(held_, {});
  if (!waited.empty()) ciphertext = waited.append(ciphertext);
  engine_.wire().input = ciphertext;
  borrowWire();
  if (state_ == State::kHandshake) shakeHands();
  if (state_ == State::kOpen && budget_ > 0) deliver();
  sendWire();
  if (state_ == State::kHandshake || state_ == State::kOpen) held_ = engine_.wire().input;
  engine_.wire().input = {};
  readOn();
  if (state_ == State::kOpen) afterUse();
}

void TlsTransport::shakeHands() {
  for (;;) {
    switch (engine_.handshake()) {
      case TlsEngine::Step::kDone:
        sendWire();
        facts_ = std::make_unique<TlsFacts>(engine_.facts());
        if (hasShakenHands()) facts_->handshake = tcp_.worker().now() - begun_;
        state_ = State::kOpen;
        return sink_->onOpen();
      case TlsEngine::Step::kNeedsInput:
        return;
      case TlsEngine::Step::kNeedsOutput:
        if (!sendWire()) return;
        break;
      case TlsEngine::Step::kClosed:
        return fail(endedInHandshake(engine_.peer()));
      case TlsEngine::Step::kFailed:
        return fail(engine_.error());
    }
  }
}

void TlsTransport::deliver() {
  const std::span<char> plain = tcp_.worker().plainBuffer();
  for (;;) {
    std::size_t count = 0;
    const TlsEngine::Step step = engine_.decrypt(plain, count);
    if (count > 0) passOn({plain.data(), count});
    switch (step) {
      case TlsEngine::Step::kDone:
        break;
      case TlsEngine::Step::kNeedsInput:
        return;
      case TlsEngine::Step::kNeedsOutput:
        if (!sendWire()) return;
        break;
      case TlsEngine::Step::kClosed:
        return endRead(true);
      case TlsEngine::Step::kFailed:
        return fail(engine_.error());
    }
  }
}

void TlsTransport::passOn(std::string_view plain) {
  budget_ -= std::min(budget_, plain.size());
  sink_->onBytes(plain);
}

void TlsTransport::endRead(bool clean) {
  if (state_ != State::kOpen) return;
  if (engine_.hasRefusedRenegotiation()) return fail(renegotiationRefused());
  state_ = State::kPeerEnded;
  sink_->onEnd(clean);
}

void TlsTransport::fail(const base::Error& error) {
  if (state_ == State::kOver) return;
  state_ = State::kOver;
  held_.clear();
  sink_->onFailed(engine_.hasRefusedRenegotiation() ? renegotiationRefused() : error);
}

/// Lets the stream read as far as the owner takes the bytes.
void TlsTransport::readOn() {
  if (state_ == State::kHandshake && held_.empty()) return allowTcp(kHandshakeRead);
  if (state_ != State::kOpen || !held_.empty() || budget_ == 0) return allowTcp(0);
  if (allowed_ == 0 || allowed_ > budget_) allowTcp(std::max(budget_, kLeastRead));
}

void TlsTransport::allowTcp(std::size_t bytes) {
  // A stream that has used up its budget stops by itself, and more cheaply, if nothing is granted in this turn.
  if (bytes == 0 && allowed_ == 0) return;
  allowed_ = bytes;
  tcp_.setReadBudget(bytes);
}

void TlsTransport::setReadBudget(std::size_t bytes) {
  budget_ = bytes;
  if (state_ != State::kOpen) return;
  if (bytes > 0 && !held_.empty() && (wake_ == nullptr || !wake_->isSet()))
    wake_ = std::make_unique<Wake>(*this, std::nullopt);
  allowed_ = 0;
  if (bytes == 0) return tcp_.setReadBudget(0);
  readOn();
}

/// Gives OpenSSL the worker's buffer to write records to; none while the stream has unsent bytes, because it could not
/// buffer more.
void TlsTransport::borrowWire() { engine_.wire().output = pending() ? std::span<char>() : tcp_.worker().wireBuffer(); }

/// Returns false if the kernel did not take all of it.
bool TlsTransport::sendWire() {
  TlsWire& wire = engine_.wire();
  if (wire.filled > 0) {
    const std::string_view records(wire.output.data(), std::exchange(wire.filled, 0));
    const std::size_t taken = tcp_.tryWrite({&records, 1});
    if (taken < records.size()) tcp_.keep(records.substr(taken));
  }
  borrowWire();
  return !pending();
}

void TlsTransport::write(base::ByteQueue& from) {
  if (!canWrite() || ourSide_ != OurSide::kOpen || pending()) return;
  if (wake_ != nullptr && wake_->isFailure()) return;
  borrowWire();
  while (!from.empty()) {
    if (engine_.wire().room() < TlsEngine::kRecordRoom && !sendWire()) break;
    const TlsEngine::Step step = encryptFront(from);
    if (step == TlsEngine::Step::kDone) continue;
    if (step == TlsEngine::Step::kFailed) wake_ = std::make_unique<Wake>(*this, engine_.error());
    break;
  }
  sendWire();
  afterUse();
}

/// Lets the connection keep its record buffers for a while, if it may.
void TlsTransport::afterUse() {
  used_ = true;
  if (rest_.isSet()) return;
  Worker& worker = tcp_.worker();
  if (!isCounted_ && engine_.peer() == TlsPeer::kClient) {
    isCounted_ = worker.keepRecordBuffers();
    if (!isCounted_) {
      engine_.releaseBuffers();
      return;
    }
  }
  worker.timers().set(rest_, worker.now() + kRest);
}

/// A peer that stops within a record keeps its buffers until it goes on.
void TlsTransport::rest() {
  Worker& worker = tcp_.worker();
  if (std::exchange(used_, false)) return worker.timers().set(rest_, worker.now() + kRest);
  if (engine_.releaseBuffers() && std::exchange(isCounted_, false)) worker.dropRecordBuffers();
}

/// Makes one record. Short pieces go into one, copied together in a buffer that is not in use for decryption now.
TlsEngine::Step TlsTransport::encryptFront(base::ByteQueue& from) {
  std::string_view piece = from.front();
  if (piece.size() < kShortPiece && piece.size() < from.size()) {
    const std::span<char> scratch = tcp_.worker().plainBuffer();
    std::array<std::string_view, 16> pieces;
    std::size_t size = 0;
    for (std::size_t i = 0, count = from.gather(pieces); i < count && size < SSL3_RT_MAX_PLAIN_LENGTH; ++i) {
      const std::size_t part = std::min<std::size_t>(pieces[i].size(), SSL3_RT_MAX_PLAIN_LENGTH - size);
      std::memcpy(scratch.data() + size, pieces[i].data(), part);
      size += part;
    }
    piece = {scratch.data(), size};
  }
  std::size_t count = 0;
  const TlsEngine::Step step = engine_.encrypt(piece, count);
  from.consume(count);
  return step;
}

void TlsTransport::shutdown() {
  if (ourSide_ != OurSide::kOpen) return;
  ourSide_ = OurSide::kEndWanted;
  if (!pending()) sendEnd();
}

void TlsTransport::sendEnd() {
  ourSide_ = OurSide::kEnded;
  if (canWrite()) {
    borrowWire();
    engine_.close();
    sendWire();
  }
  tcp_.shutdown();
}

void TlsTransport::abort() {
  state_ = State::kOver;
  wake_.reset();
  tcp_.abort();
}

std::unique_ptr<Transport> connectTls(Worker& worker, const Address& to, TlsClientContext& context,
                                      TransportSink& sink) {
  return std::make_unique<TlsTransport>(worker, to, context, sink);
}

std::unique_ptr<Transport> adoptTls(Worker& worker, int fd, const Address& peer, const TlsServerContext& context,
                                    TransportSink& sink) {
  return std::make_unique<TlsTransport>(worker, fd, peer, context, sink);
}

}  // namespace sluice::net
