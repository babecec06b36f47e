// Tests that a connection allocates nothing while bytes pass in both directions, and uses little memory while it is
// idle.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "proxy/net/tcp.h"
#include "test/net/recording_sink.h"
#include "test/net/socket_pair.h"
#include "test/support/loop_driver.h"

namespace {

struct Allocations {
  std::size_t count = 0;
  std::size_t bytes = 0;
};
thread_local Allocations allocations;

void* counted(std::size_t size) {
  ++allocations.count;
  allocations.bytes += size;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// Replaces operator new in the whole binary: the counters are thread_local, so that threads of other tests are not
// counted.
void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace sluice::net {
namespace {

/// Sends back the bytes it gets, as owners of connections do: an event records, the flush beat writes.
class Echo final : public Beats, private TransportSink {
 public:
  Echo(Worker& worker, int fd, const Address& peer)
      : queue_(worker.chunks()), transport_(adoptTcp(worker, fd, peer, *this)) {
    worker.setBeats(this);
    transport_->setReadBudget(kBudget);
  }

  void say(std::string_view bytes) { queue_.append(bytes); }
  int heard() const { return heard_; }

  void drive() override {}
  void flush() override {
    transport_->write(queue_);
    transport_->setReadBudget(kBudget);
  }
  void reap() override {}
  bool quiet() const override { return queue_.empty() || transport_->pending(); }

 private:
  static constexpr std::size_t kBudget = 65536;

  void onOpen() override {}
  void onBytes(std::string_view bytes) override {
    ++heard_;
    queue_.append(bytes);
  }
  void onEnd(bool) override {}
  void onFailed(const base::Error&) override {}
  void onWritable() override {}

  base::ByteQueue queue_;
  std::unique_ptr<Transport> transport_;
  int heard_ = 0;
};

class EchoTimer final : public Timer {
  void onTimer() override {}
};

TEST(SteadyState, NeedsNoHeapForBytesAndTimers) {
  const base::SystemClock clock;
  Worker worker(clock);
  test::SocketPair pair = test::makeSocketPair();
  Echo echo(worker, pair.ours.release(), *Address::parse("127.0.0.1", 7));
  EchoTimer idle;
  char bytes[16];
  const auto rounds = [&](int until) {
    while (echo.heard() < until) {
      if (::send(pair.peers.get(), "ping", 4, MSG_NOSIGNAL) != 4) return false;
      while (::recv(pair.peers.get(), bytes, sizeof(bytes), MSG_DONTWAIT) <= 0) {
        uv_run(worker.loop(), UV_RUN_NOWAIT);
        worker.timers().set(idle, worker.now() + std::chrono::seconds(60));
      }
    }
    return true;
  };
  ASSERT_TRUE(rounds(10));
  const std::size_t before = allocations.count;
  ASSERT_TRUE(rounds(1000));
  EXPECT_EQ(allocations.count, before);
}

TEST(SteadyState, KeepsAnIdleConnectionBelowHalfAKilobyte) {
  const base::SystemClock clock;
  Worker worker(clock);
  test::RecordingSink sink;
  test::SocketPair pair = test::makeSocketPair();
  const std::size_t before = allocations.bytes;
  const auto transport = adoptTcp(worker, pair.ours.release(), *Address::parse("127.0.0.1", 7), sink);
  EXPECT_LT(allocations.bytes - before, 450u);
  RecordProperty("bytes", static_cast<int>(allocations.bytes - before));
  EXPECT_EQ(worker.chunks().inUse(), 0u);
}

}  // namespace
}  // namespace sluice::net
