#include "proxy/net/tcp_stream.h"

#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <optional>
#include <string>

#include "proxy/net/unsent.h"

namespace sluice::net {
namespace {

// A uv_write_t holds this many buffers without an allocation of its own; they are also at most 64 KiB.
constexpr std::size_t kKeptChunks = 4;
// A socket that is never empty must not starve the others.
constexpr std::uint8_t kFullReadsPerEvent = 4;
// A read of at least this size is bulk, which does not wait for the end of the round.
constexpr std::size_t kBulkRead = std::size_t{16} * 1024;

// The interval at which the kernel is asked about the peer of a socket that is not read: a peer that has gone is seen
// within a second.
constexpr base::Duration kPeerLook = std::chrono::milliseconds(750);

base::Error toError(int code, bool connecting, bool accepted) {
  const bool refused = connecting && (code == UV_ECONNREFUSED || code == UV_EHOSTUNREACH || code == UV_ENETUNREACH);
  const bool full = connecting && (code == UV_EMFILE || code == UV_ENFILE);
  const base::ErrorType lost = full ? base::ErrorType::kConnectionLimitReached : base::ErrorType::kConnectionTerminated;
  return {refused ? base::ErrorType::kConnectionRefused : lost,
          accepted ? base::ErrorOrigin::kDownstream : base::ErrorOrigin::kUpstream, uv_strerror(code)};
}

// Both return how much the kernel has taken at once: nothing after a failure, which the next write reports. The socket
// is written directly, because libuv's way through its queue costs more than all other work here.
std::size_t sendOnce(int fd, std::string_view piece) {
  ssize_t taken = 0;
  do {
    taken = ::send(fd, piece.data(), piece.size(), MSG_NOSIGNAL);
  } while (taken < 0 && errno == EINTR);
  return taken > 0 ? static_cast<std::size_t>(taken) : 0;
}

std::size_t sendOnce(int fd, std::span<const std::string_view> pieces) {
  std::array<iovec, TcpStream::kMaxPieces> parts;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    // The kernel only reads.
    parts[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = pieces.size();
  ssize_t taken = 0;
  do {
    taken = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  } while (taken < 0 && errno == EINTR);
  return taken > 0 ? static_cast<std::size_t>(taken) : 0;
}

}  // namespace

/// The part of the stream that libuv points into.
struct TcpStream::TcpHandle final : LoopHandle {
  /// A pending write with its bytes. Made when a peer is slow for the first time.
  struct Waiting {
    explicit Waiting(base::ChunkPool& pool) : bytes(pool) {}
    uv_write_t request{};
    base::ByteQueue bytes;
  };

  explicit TcpHandle(TcpStream& stream) : owner(&stream) {
    uv_tcp_init(stream.worker_.loop(), &tcp);
    tcp.data = static_cast<LoopHandle*>(this);
    uv_tcp_nodelay(&tcp, 1);
  }

  static TcpHandle& of(void* data) { return *static_cast<TcpHandle*>(static_cast<LoopHandle*>(data)); }
  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&tcp); }
  bool isWaiting() const { return waiting != nullptr && !waiting->bytes.empty(); }

  void onLoopEnds() override { owner->close(); }
  static void onClosed(uv_handle_t* handle) { const std::unique_ptr<TcpHandle> last(&of(handle->data)); }

  uv_tcp_t tcp{};
  TcpStream* owner;
  uv_os_fd_t fd = -1;
  std::unique_ptr<uv_connect_t> connect;
  std::unique_ptr<Waiting> waiting;
};

/// Reports a failure that the system returned at once: it must not reach the sink from within the owner's call.
class TcpStream::LateFailure final : public Timer {
 public:
  LateFailure(TcpStream& stream, int code) : stream_(stream), code_(code) {
    stream.worker_.timers().set(*this, stream.worker_.now());
  }

 private:
  void onTimer() override { stream_.fail(code_); }
  TcpStream& stream_;
  int code_;
};

/// Fires while the socket is not read. Once the socket is read again, the timer runs out and is not set again.
class TcpStream::PeerWatch final : public Timer {
 public:
  explicit PeerWatch(TcpStream& stream) : stream_(stream) {}

 private:
  void onTimer() override { stream_.lookAtPeer(); }
  TcpStream& stream_;
};

TcpStream::TcpStream(Worker& worker, const Address& to, TransportSink& sink)
    : worker_(worker), sink_(&sink), peer_(to), state_(State::kConnecting), accepted_(false) {
  handle_ = std::make_unique<TcpHandle>(*this).release();
  handle_->connect = std::make_unique<uv_connect_t>();
  const int code =
      uv_tcp_connect(handle_->connect.get(), &handle_->tcp, to.sockaddrPtr(), [](uv_connect_t* request, int status) {
        if (TcpStream* self = TcpHandle::of(request->handle->data).owner) self->connected(status);
      });
  if (code != 0) failLater(code);
  uv_os_fd_t& fd = handle_->fd;
  if (uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle_->tcp), &fd) != 0) return;
  boundUnsent(fd);
  // The system gives the lowest free number, so a number beyond this bound means that the remaining descriptors are
  // reserved for other uses.
  if (code == 0 && static_cast<std::size_t>(fd) >= worker.descriptors()) failLater(UV_EMFILE);
}

TcpStream::TcpStream(Worker& worker, int fd, const Address& peer, TransportSink& sink)
    : worker_(worker), sink_(&sink), peer_(peer), state_(State::kOpen), accepted_(true) {
  handle_ = std::make_unique<TcpHandle>(*this).release();
  handle_->fd = fd;
  const int code = uv_tcp_open(&handle_->tcp, fd);
  if (code == 0) return;
  ::close(fd);
  failLater(code);
}

TcpStream::~TcpStream() { close(); }

void TcpStream::connected(int status) {
  const Worker::Turn turn(worker_);  // its timers may close this stream
  if (handle_ == nullptr) return;
  handle_->connect.reset();
  if (lateFailure_ != nullptr) return;
  if (status != 0) return fail(status);
  state_ = State::kOpen;
  if (budget_ > 0) startReading();
  if (finWanted_) sendFin();
  sink_->onOpen();
}

void TcpStream::setKeepalive(const base::TcpKeepalive& keepalive) {
  uv_os_fd_t fd = -1;
  if (handle_ == nullptr || uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle_->tcp), &fd) != 0) return;
  const auto set = [fd](int level, int option, std::int64_t value) {
    const int number = static_cast<int>(value);
    ::setsockopt(fd, level, option, &number, sizeof number);
  };
  // The kernel counts whole seconds.
  const auto seconds = [](base::Duration time) { return std::chrono::ceil<std::chrono::seconds>(time).count(); };
  set(IPPROTO_TCP, TCP_KEEPCNT, keepalive.probes);
  set(IPPROTO_TCP, TCP_KEEPIDLE, seconds(keepalive.idleTime));
  set(IPPROTO_TCP, TCP_KEEPINTVL, seconds(keepalive.interval));
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

void TcpStream::setReadBudget(std::size_t bytes) {
  budget_ = bytes;
  if (state_ != State::kOpen) return;
  if (bytes > 0) {
    startReading();
  } else if (reading_ == ReadState::kReading) {
    // It stays polled until it becomes readable: most often it has a budget again before that, and to stop and start
    // costs two system calls or three.
    watchPeer();
  }
}

void TcpStream::startReading() {
  if (reading_ != ReadState::kStopped || lateFailure_ != nullptr) return;
  reading_ = ReadState::kReading;
  fullReads_ = 0;
  uv_read_start(handle_->stream(), &onAlloc, &onRead);
}

void TcpStream::stopReading() {
  if (reading_ != ReadState::kReading) return;
  reading_ = ReadState::kStopped;
  uv_read_stop(handle_->stream());
  watchPeer();
}

void TcpStream::watchPeer() {
  if (!accepted_) return;
  if (peerWatch_ == nullptr) peerWatch_ = std::make_unique<PeerWatch>(*this);
  if (!peerWatch_->isSet()) worker_.timers().set(*peerWatch_, worker_.now() + kPeerLook);
}

void TcpStream::lookAtPeer() {
  uv_os_fd_t fd = -1;
  if (isRead() || uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle_->tcp), &fd) != 0) return;
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return;
  if (info.tcpi_state == TCP_CLOSE) {
    int error = 0;
    length = sizeof(error);
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    // Without an error both sides have ended in order.
    if (error == 0 && finWanted_) return;
    return fail(error != 0 ? uv_translate_sys_error(error) : UV_ECONNRESET);
  }
  watchPeer();
  if (info.tcpi_state != TCP_CLOSE_WAIT || reading_ == ReadState::kEnded) return;
  int unread = 0;
  if (::ioctl(fd, FIONREAD, &unread) == 0) sink_->onEndAhead(static_cast<std::size_t>(unread));
}

void TcpStream::onAlloc(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
  TcpStream& self = *TcpHandle::of(handle->data).owner;
  const std::span<char> space = self.worker_.readBuffer();
  const bool enough = self.fullReads_ >= kFullReadsPerEvent;
  // A buffer without space ends libuv's loop over this socket.
  *buffer = uv_buf_init(space.data(), enough ? 0 : static_cast<unsigned>(std::min(space.size(), self.budget_)));
}

void TcpStream::onRead(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
  TcpStream& self = *TcpHandle::of(stream->data).owner;
  if (count == UV_ENOBUFS) {
    self.fullReads_ = 0;
    // The budget is spent, and the sink has not granted further bytes.
    if (self.budget_ == 0) self.stopReading();
    return;
  }
  if (count == 0) {  // nothing to read after all
    self.fullReads_ = 0;
    return;
  }
  self.bytesRead(count, *buffer);
}

void TcpStream::bytesRead(ssize_t count, const uv_buf_t& buffer) {
  const Worker::Turn turn(worker_);
  if (handle_ == nullptr) return;
  if (count == UV_EOF) {
    reading_ = ReadState::kEnded;
    uv_read_stop(handle_->stream());
    watchPeer();
    return sink_->onEnd(true);
  }
  if (count < 0) return fail(static_cast<int>(count));
  const auto size = static_cast<std::size_t>(count);
  // libuv tries again at once only after a full read.
  fullReads_ = size == buffer.len ? static_cast<std::uint8_t>(fullReads_ + 1) : std::uint8_t{0};
  if (size == buffer.len || size >= kBulkRead) worker_.hurry();
  budget_ -= std::min(budget_, size);
  sink_->onBytes({buffer.base, size});
}

bool TcpStream::pending() const { return handle_ != nullptr && handle_->isWaiting(); }

bool TcpStream::canWrite() const {
  return state_ == State::kOpen && !pending() && !finWanted_ && lateFailure_ == nullptr;
}

void TcpStream::write(base::ByteQueue& from) {
  if (!canWrite()) return;
  while (!from.empty()) {
    const std::string_view front = from.front();
    // Most writes are of one chunk, and to set up the array of many costs more than all other work here.
    const bool taken = front.size() == from.size() ? offer(from, {&front, 1}) : offerMany(from);
    if (!taken) return keepSome(from);
  }
}

bool TcpStream::offerMany(base::ByteQueue& from) {
  std::array<std::string_view, kMaxPieces> pieces;
  return offer(from, {pieces.data(), from.gather(pieces)});
}

bool TcpStream::offer(base::ByteQueue& from, std::span<const std::string_view> pieces) {
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  const std::size_t taken = tryWrite(pieces);
  from.consume(taken);
  return taken == size;
}

void TcpStream::keepSome(base::ByteQueue& from) {
  if (handle_->waiting == nullptr) handle_->waiting = std::make_unique<TcpHandle::Waiting>(worker_.chunks());
  std::array<std::string_view, kKeptChunks> pieces;
  const std::size_t chunks = from.gather(pieces);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < chunks; ++i) kept += pieces[i].size();
  handle_->waiting->bytes.splice(from, kept);
  writeKept();
}

std::size_t TcpStream::tryWrite(std::span<const std::string_view> pieces) {
  assert(pieces.size() <= kMaxPieces);
  if (!canWrite()) return 0;
  const std::size_t taken = pieces.size() == 1 ? sendOnce(handle_->fd, pieces.front()) : sendOnce(handle_->fd, pieces);
  written_ += taken;
  return taken;
}

std::uint64_t TcpStream::acknowledged() const {
  if (handle_ == nullptr) return written_;
  std::uint64_t taken = written_;
  if (pending()) taken += handle_->waiting->bytes.size() - uv_stream_get_write_queue_size(handle_->stream());
  uv_os_fd_t fd = -1;
  int unacknowledged = 0;
  if (uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle_->tcp), &fd) == 0) ioctl(fd, TIOCOUTQ, &unacknowledged);
  return taken - std::min(taken, static_cast<std::uint64_t>(unacknowledged));
}

bool TcpStream::isQuiet() const {
  uv_os_fd_t fd = -1;
  if (handle_ == nullptr || uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle_->tcp), &fd) != 0) return false;
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

void TcpStream::keep(std::string_view rest) {
  if (!canWrite()) return;
  assert(!rest.empty() && rest.size() <= kMaxKept);
  if (handle_->waiting == nullptr) handle_->waiting = std::make_unique<TcpHandle::Waiting>(worker_.chunks());
  handle_->waiting->bytes.append(rest);
  writeKept();
}

void TcpStream::writeKept() {
  TcpHandle::Waiting& waiting = *handle_->waiting;
  std::array<std::string_view, kMaxPieces> pieces;
  std::array<uv_buf_t, kMaxPieces> buffers;
  const std::size_t count = waiting.bytes.gather(pieces);
  for (std::size_t i = 0; i < count; ++i) {
    buffers[i] = uv_buf_init(const_cast<char*>(pieces[i].data()), static_cast<unsigned>(pieces[i].size()));
  }
  const auto done = [](uv_write_t* request, int status) {
    if (TcpStream* self = TcpHandle::of(request->handle->data).owner) self->written(status);
  };
  const int code = uv_write(&waiting.request, handle_->stream(), buffers.data(), static_cast<unsigned>(count), done);
  if (code != 0) failLater(code);
}

void TcpStream::written(int status) {
  const Worker::Turn turn(worker_);
  if (handle_ == nullptr) return;
  written_ += handle_->waiting->bytes.size();
  handle_->waiting->bytes.clear();
  if (status != 0) {
    readLastWords();
    return fail(status);
  }
  if (finWanted_) sendFin();
  sink_->onWritable();
}

/// Reads what arrived before a reset: a peer that answers early and closes resets the connection when more bytes
/// arrive, but its last bytes (a TLS alert, a 413) came before that.
void TcpStream::readLastWords() {
  uv_os_fd_t fd = -1;
  if (reading_ != ReadState::kReading || uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle_->tcp), &fd) != 0)
    return;
  const std::span<char> space = worker_.readBuffer();
  while (handle_ != nullptr && budget_ > 0) {
    const ssize_t count = ::recv(fd, space.data(), std::min(space.size(), budget_), MSG_DONTWAIT);
    if (count <= 0) return;
    budget_ -= static_cast<std::size_t>(count);
    sink_->onBytes({space.data(), static_cast<std::size_t>(count)});
  }
}

void TcpStream::shutdown() {
  if (finWanted_) return;
  finWanted_ = true;
  if (state_ == State::kOpen && !pending()) sendFin();
}

/// Does not use uv_shutdown(): nothing is queued, so it would only cost a request and a round of the loop.
void TcpStream::sendFin() {
  uv_os_fd_t fd = -1;
  if (uv_fileno(reinterpret_cast<const uv_handle_t*>(&handle_->tcp), &fd) == 0) ::shutdown(fd, SHUT_WR);
}

void TcpStream::abort() {
  if (handle_ == nullptr) return;
  // libuv refuses while there is no socket to reset.
  if (uv_tcp_close_reset(&handle_->tcp, &TcpHandle::onClosed) != 0) return close();
  letGo();
}

void TcpStream::close() {
  if (handle_ == nullptr) return;
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_->tcp), &TcpHandle::onClosed);
  letGo();
}

/// The TcpHandle owns itself from here to its close callback.
void TcpStream::letGo() {
  handle_->owner = nullptr;
  if (handle_->waiting != nullptr) handle_->waiting->bytes.clear();
  handle_ = nullptr;
  state_ = State::kClosed;
  lateFailure_.reset();
  peerWatch_.reset();
}

void TcpStream::failLater(int code) { lateFailure_ = std::make_unique<LateFailure>(*this, code); }

void TcpStream::fail(int code) {
  const base::Error error = toError(code, state_ == State::kConnecting, accepted_);
  close();
  sink_->onFailed(error);
}

}  // namespace sluice::net
