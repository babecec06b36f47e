// A TCP socket on the worker's loop: the plain Transport, which TLS is built on. Internal to proxy/net.
//
// Reads go through the worker's shared buffer, writes go out by one gathered try-write. Bytes that the kernel does not
// take are kept in here, bounded, until it does. Events go to the sink inside a Turn and never from within a call of
// the owner. The libuv handle lives in a TcpHandle of its own, because closing it takes until the next round of the
// loop: destroying the stream only lets go of it, and no event follows. One thread.
//
// A socket that has no budget is polled until it becomes readable, and then no more, so the end of its peer would not
// be noticed. While an accepted one is not read, the kernel is asked about its peer every second; a socket towards a
// backend is bounded by the deadlines of its requests.
#pragma once

#include <uv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/net/loop_handle.h"
#include "proxy/net/timers.h"
#include "proxy/net/transport.h"
#include "proxy/net/worker.h"

namespace sluice::net {

class TcpStream final : public Transport {
 public:
  /// The number of pieces that one system call gathers at most.
  static constexpr std::size_t kMaxPieces = 32;
  /// The number of bytes that keep() takes at most.
  static constexpr std::size_t kMaxKept = (kMaxPieces - 1) * base::Chunk::kCapacity;

  /// Connects; the sink's onOpen() or onFailed() follows in a later turn.
  TcpStream(Worker& worker, const Address& to, TransportSink& sink);
  /// Takes over a connected descriptor, even if it fails.
  TcpStream(Worker& worker, int fd, const Address& peer, TransportSink& sink);
  ~TcpStream() override;
  TcpStream(const TcpStream&) = delete;
  TcpStream& operator=(const TcpStream&) = delete;

  void setSink(TransportSink& sink) override { sink_ = &sink; }
  void setKeepalive(const base::TcpKeepalive& keepalive) override;
  void setReadBudget(std::size_t bytes) override;
  void write(base::ByteQueue& from) override;
  bool pending() const override;
  std::uint64_t acknowledged() const override;
  bool isQuiet() const override;
  void shutdown() override;
  void abort() override;
  const Address& peer() const override { return peer_; }
  const TlsFacts* tls() const override { return nullptr; }

  /// For callers that write from their own memory (TLS): makes one gathered system call with at most kMaxPieces pieces.
  /// Returns how many bytes the kernel took; 0 while pending() or not open. If the kernel took fewer than all, the
  /// caller keeps the other bytes or passes them to keep().
  std::size_t tryWrite(std::span<const std::string_view> pieces);
  /// Copies the bytes that tryWrite() did not take, and is pending() until the kernel has all of them. `rest` is not
  /// empty; not while pending(). A broken connection is reported by this write, in a later turn: so a caller whose
  /// tryWrite() fell short must call keep().
  void keep(std::string_view rest);
  Worker& worker() const { return worker_; }

 private:
  struct TcpHandle;
  class LateFailure;
  class PeerWatch;
  enum class State : std::uint8_t { kConnecting, kOpen, kClosed };
  enum class ReadState : std::uint8_t { kStopped, kReading, kEnded };

  static void onAlloc(uv_handle_t* handle, std::size_t suggested, uv_buf_t* buffer);
  static void onRead(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer);
  void connected(int status);
  void bytesRead(ssize_t count, const uv_buf_t& buffer);
  void written(int status);
  void readLastWords();
  void watchPeer();
  void lookAtPeer();
  void startReading();
  void stopReading();
  /// Writes the first bytes of `from`, as many as one system call takes. Returns false if the kernel left some of them.
  bool offerMany(base::ByteQueue& from);
  /// `pieces` are the first of `from`.
  bool offer(base::ByteQueue& from, std::span<const std::string_view> pieces);
  /// Keeps bytes for the kernel until it has room for them.
  void keepSome(base::ByteQueue& from);
  void writeKept();
  void sendFin();
  void failLater(int code);
  void fail(int code);
  void close();
  void letGo();
  bool canWrite() const;
  bool isRead() const { return reading_ == ReadState::kReading && budget_ > 0; }

  Worker& worker_;
  TransportSink* sink_;
  TcpHandle* handle_ = nullptr;  // nullptr once closed; frees itself when libuv has let go of it
  std::size_t budget_ = 0;
  std::uint64_t written_ = 0;  // bytes that the kernel took
  std::unique_ptr<LateFailure> lateFailure_;
  std::unique_ptr<PeerWatch> peerWatch_;  // made when the socket is not read for the first time
  Address peer_;
  State state_;
  ReadState reading_ = ReadState::kStopped;
  std::uint8_t fullReads_ = 0;  // since the socket became readable
  bool accepted_;
  bool finWanted_ = false;
};

}  // namespace sluice::net
