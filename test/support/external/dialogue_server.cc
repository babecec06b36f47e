#include "test/support/external/dialogue_server.h"

#include <cstdio>
#include <utility>

#include "proxy/net/tcp.h"

namespace sluice::external {
namespace {

constexpr std::size_t kProduced = std::size_t{64} * 1024;

}  // namespace

DialogueConnection::DialogueConnection(Handle handle, ConnectionTable& table, net::Worker& worker, int fd,
                                       const net::Address& peer, const MakeDialogue& make)
    : handle_(handle),
      table_(table),
      dialogue_(make(worker.chunks())),
      out_(worker.chunks()),
      transport_(net::adoptTcp(worker, fd, peer, *this)) {
  table_.mark(*this);
}

void DialogueConnection::onBytes(std::string_view bytes) {
  if (!dead_) dialogue_->feed(bytes);
  table_.mark(*this);
}

void DialogueConnection::onEnd(bool) { die(); }
void DialogueConnection::onFailed(const base::Error&) { die(); }

void DialogueConnection::die() {
  dead_ = true;
  table_.mark(*this);
}

void DialogueConnection::flush() {
  if (dead_) return;
  while (!transport_->pending()) {
    dialogue_->produce(out_, kProduced);
    if (out_.empty()) break;
    transport_->write(out_);
  }
  const bool isSent = out_.empty() && !transport_->pending();
  if (isSent && dialogue_->isOver()) {
    dead_ = true;
    return;
  }
  transport_->setReadBudget(isSent ? net::Worker::kReadBufferSize : 0);
}

base::Result<std::unique_ptr<DialogueServer>> DialogueServer::listen(std::uint16_t port, MakeDialogue make) {
  auto socket = net::ListenSocket::open(*net::Address::parse("127.0.0.1", port));
  if (!socket) return socket.error();
  return std::unique_ptr<DialogueServer>(new DialogueServer(std::move(*socket), std::move(make)));
}

DialogueServer::DialogueServer(net::ListenSocket&& socket, MakeDialogue make)
    : socket_(std::move(socket)), make_(std::move(make)) {
  worker_.setBeats(this);
  listener_.emplace(worker_, socket_, [this](int fd, const net::Address& peer) {
    connections_.create(connections_, worker_, fd, peer, make_);
  });
}

int serve(const std::string& program, std::uint16_t port, MakeDialogue make) {
  auto server = DialogueServer::listen(port, std::move(make));
  if (!server) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), server.error().detail.c_str());
    return 1;
  }
  std::printf("listening on %u\n", unsigned{(*server)->address().port()});
  std::fflush(stdout);
  (*server)->run();
  return 0;
}

}  // namespace sluice::external
