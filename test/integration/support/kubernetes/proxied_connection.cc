#include "test/integration/support/kubernetes/proxied_connection.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sluice::test {

ProxySide::ProxySide(BlockingSocket socket, std::optional<TlsPipe> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {
  if (tls_) output_ = tls_->takeOutput();
}

pollfd ProxySide::watched(bool reads) const {
  const int events = (reads ? POLLIN : 0) | (output_.empty() ? 0 : POLLOUT);
  return {events == 0 ? -1 : socket_.fd(), static_cast<short>(events), 0};
}

bool ProxySide::receive(std::string& bytes) {
  std::array<char, 65536> buffer{};
  const ssize_t count = recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  const std::string_view came(buffer.data(), static_cast<std::size_t>(count));
  if (!tls_) {
    bytes += came;
    return true;
  }
  const bool open = tls_->receive(came, bytes);
  output_ += tls_->takeOutput();
  return open;
}

void ProxySide::send(std::string_view bytes) {
  if (!tls_) {
    output_ += bytes;
    return;
  }
  tls_->send(bytes);
  output_ += tls_->takeOutput();
}

bool ProxySide::flush() {
  while (!output_.empty()) {
    const ssize_t count = ::send(socket_.fd(), output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    output_.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

void ProxySide::finish() {
  if (!tls_) return;
  tls_->finish();
  output_ += tls_->takeOutput();
}

ProxiedConnection::ProxiedConnection(ProxySide client, ProxySide server, ProxyFaults& faults)
    : client_(std::move(client)),
      server_(std::move(server)),
      faults_(faults),
      wakeUp_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

ProxiedConnection::~ProxiedConnection() {
  ending_ = true;
  wake();
  thread_.join();
}

void ProxiedConnection::wake() const { eventfd_write(wakeUp_.fd(), 1); }

void ProxiedConnection::run() {
  bool open = true;
  while (open) {
    const bool stalled = faults_.stalls(head_);
    const bool reads = !stalled && phase_ == Phase::kOpen;
    std::array<pollfd, 3> watched = {{{wakeUp_.fd(), POLLIN, 0},
                                      client_.watched(reads && server_.hasRoom()),
                                      server_.watched(reads && client_.hasRoom())}};
    poll(watched.data(), stalled ? 1 : watched.size(), -1);
    eventfd_t ignored = 0;
    eventfd_read(wakeUp_.fd(), &ignored);
    open = !ending_ && (faults_.stalls(head_) || move());
  }
  conclude();
  ended_ = true;
}

bool ProxiedConnection::move() {
  if (phase_ == Phase::kOpen) {
    if (server_.hasRoom() && !moveRequests()) return false;
    if (client_.hasRoom()) moveResponses();
    if (!server_.flush()) return false;
  }
  if (!client_.flush()) return false;
  return phase_ == Phase::kOpen || !client_.hasSentAll();
}

bool ProxiedConnection::moveRequests() {
  std::string bytes;
  const bool open = client_.receive(bytes);
  if (!client_.speaksTls()) {
    server_.send(bytes);
    return open;
  }
  for (const RequestPiece& piece : requests_.take(bytes)) {
    if (piece.isHead) {
      head_ = piece.bytes;
      request_ = faults_.noteRequest(head_);
      const std::optional<std::string> answer = faults_.takeAnswer(head_);
      answered_ = answer.has_value();
      if (answer) forward(*answer);
    }
    if (!answered_) server_.send(piece.bytes);
  }
  return open;
}

void ProxiedConnection::moveResponses() {
  std::string bytes;
  const bool open = server_.receive(bytes);
  if (!bytes.empty()) {
    if (request_) faults_.noteAnswer(*request_, bytes);
    forward(bytes);
  }
  if (!open && phase_ == Phase::kOpen) {
    client_.finish();
    phase_ = Phase::kServerEnded;
  }
}

void ProxiedConnection::forward(std::string_view bytes) {
  if (phase_ != Phase::kOpen) return;
  if (!point_) {
    cut_ = faults_.takeCut(head_);
    if (cut_) point_.emplace(*cut_);
  }
  const std::size_t allowed = point_ ? point_->allow(bytes) : bytes.size();
  client_.send(bytes.substr(0, allowed));
  if (!point_ || !point_->reached()) return;
  if (point_->ending() == CutEnding::kTlsClosed) client_.finish();
  phase_ = Phase::kCut;
}

// A cut that was not reached is left to another connection.
void ProxiedConnection::conclude() {
  if (cut_ && phase_ != Phase::kCut && !ending_) faults_.add(*cut_);
  if (phase_ == Phase::kCut && point_->ending() == CutEnding::kReset) client_.socket().reset();
  client_.socket().close();
  server_.socket().close();
  if (phase_ == Phase::kCut) faults_.noteCut();
}

}  // namespace sluice::test
