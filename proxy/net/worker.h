// One event loop, its memory and its beat. It enforces the rule that no callback re-enters or frees its caller.
//
// Every callback from libuv, c-ares or a timer opens a Turn, within which events are only recorded. Then the worker
// beats until it is quiet, always in this order: drive exchanges, flush connections, reap the dead. While the loop
// runs, the turns of one round share a beat, right before the loop waits again: so a connection that many others feed
// writes once. Outside of run(), a beat follows each outermost Turn. Each worker belongs to one thread; post() is the
// only member that other threads may call.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include "proxy/base/chunk_pool.h"
#include "proxy/base/clock.h"
#include "proxy/net/timers.h"

struct uv_loop_s;

namespace sluice::net {

/// The parts of a beat. Implemented by the owner of exchanges and connections, and by tests.
class Beats {
 public:
  virtual ~Beats() = default;
  virtual void drive() = 0;
  virtual void flush() = 0;
  virtual void reap() = 0;
  /// Returns true if nothing is left to drive, flush or reap.
  virtual bool quiet() const = 0;
};

class Worker {
 public:
  explicit Worker(const base::Clock& clock);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Sets the beats before run(). `beats` outlives the loop. Without it, turns end without a beat.
  void setBeats(Beats* beats) { beats_ = beats; }
  /// Sets a bound before run(): connections that this worker makes have descriptors below it, or fail. Other
  /// descriptors have no such bound.
  void setDescriptors(std::size_t descriptors) { descriptors_ = descriptors; }
  /// Runs until stop(); then closes all handles left on the loop without notifying their owners. To be called once.
  /// Blocks SIGPIPE on the calling thread for good: a write to a closed socket is an error, never a signal.
  void run();
  /// Ends run(). From the worker's own thread; other threads post() it.
  void stop();
  /// Runs `task` inside a Turn on the worker's thread, soon, in order. Any thread. Tasks posted after run() has ended
  /// are dropped.
  void post(std::function<void()> task);

  /// Opened by every callback of the loop. The first one of a round reads the clock and fires the timers that are due.
  class Turn {
   public:
    explicit Turn(Worker& worker);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Worker& worker_;
  };

  uv_loop_s* loop() { return loop_.get(); }
  base::ChunkPool& chunks() { return chunks_; }
  TimerWheel& timers() { return timers_; }
  std::size_t descriptors() const { return descriptors_; }
  const base::Clock& clock() const { return clock_; }
  /// Returns the time at the beginning of this round.
  base::MonotonicTime now() const { return now_; }
  /// Lets the beat follow this turn at once, because it brought so much: bulk is passed on while it is in the cache,
  /// and before the next read finds no credit.
  void hurry() { hurried_ = true; }
  /// The buffer that sockets read to; valid until the next read of this worker.
  std::span<char> readBuffer() { return {readBuffer_.get(), kReadBufferSize}; }
  /// The buffer that TLS decrypts to; valid until it decrypts or reads again.
  std::span<char> plainBuffer() { return {plainBuffer_.get(), kPlainBufferSize}; }

  /// The buffer that TLS encrypts to; empty between two calls of its transports.
  std::span<char> wireBuffer() { return {wireBuffer_.get(), kWireBufferSize}; }

  /// Lets one more client's TLS connection keep its record buffers between two uses. Returns false if enough of them
  /// do.
  bool keepRecordBuffers() {
    if (recordBuffers_ == kMostRecordBuffers) return false;
    ++recordBuffers_;
    return true;
  }
  void dropRecordBuffers() { --recordBuffers_; }
  /// Returns how many connections keep them.
  std::size_t recordBuffers() const { return recordBuffers_; }

  /// A connection has a buffer of 17 KiB for each direction. The bound is low, because the allocator can hardly give
  /// the system back what lies between memory that idle connections need.
  static constexpr std::size_t kMostRecordBuffers = 128;
  static constexpr std::size_t kReadBufferSize = 256 * 1024;
  /// Smaller than the read buffer, so that decrypted bytes are still in the nearer cache when they are copied on.
  static constexpr std::size_t kPlainBufferSize = 128 * 1024;
  /// A read buffer's worth in TLS records, with their overhead and room for a control record.
  static constexpr std::size_t kWireBufferSize = kReadBufferSize + 8 * 1024;

 private:
  struct Mailbox;
  struct Ticker;
  struct RoundEnd;
  void openTurn();
  void closeTurn();
  void beat();
  void closeLoop();

  const base::Clock& clock_;
  base::MonotonicTime now_;
  base::ChunkPool chunks_;
  TimerWheel timers_;
  std::unique_ptr<char[]> readBuffer_;
  std::unique_ptr<char[]> plainBuffer_;
  std::unique_ptr<char[]> wireBuffer_ = std::make_unique_for_overwrite<char[]>(kWireBufferSize);
  std::unique_ptr<uv_loop_s> loop_;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<Ticker> ticker_;
  std::unique_ptr<RoundEnd> roundEnd_;
  Beats* beats_ = nullptr;
  std::size_t descriptors_ = std::numeric_limits<std::size_t>::max();
  std::size_t recordBuffers_ = 0;
  int depth_ = 0;
  bool running_ = false;
  bool roundOpen_ = false;  // turns have closed whose beat is still to come
  bool hurried_ = false;
};

}  // namespace sluice::net
