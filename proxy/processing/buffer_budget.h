// The memory account of the bodies that are held for processors, bounded by limits.processorBufferTotal for the whole
// process, and the choice of the body that gives way when it runs short.
//
// The process has one BufferBudget, each worker a BufferRoom on its thread, each body that is held a BufferShare. Half
// of the budget is reserved for the rooms, in equal parts; the other half goes to the first that asks. So the bodies of
// one worker always leave something to the others, and a room that runs short has bodies of its own to choose from.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/processing/resumer.h"

namespace sluice::processing {

class BufferBudget {
 public:
  explicit BufferBudget(std::uint64_t most) : most_(most) {}

  void setMost(std::uint64_t most) { most_.store(most, std::memory_order_relaxed); }
  void addRoom() { rooms_.fetch_add(1, std::memory_order_relaxed); }
  void removeRoom() { rooms_.fetch_sub(1, std::memory_order_relaxed); }

  /// Returns how many bytes each room has to itself.
  std::uint64_t reserve() const {
    return most_.load(std::memory_order_relaxed) / 2 /
           std::max<std::uint64_t>(rooms_.load(std::memory_order_relaxed), 1);
  }
  /// Returns how many bytes of the common half are taken.
  std::uint64_t used() const { return taken_.load(std::memory_order_relaxed); }
  /// Returns how many bytes the common half has.
  std::uint64_t common() const {
    return most_.load(std::memory_order_relaxed) - reserve() * rooms_.load(std::memory_order_relaxed);
  }
  /// Takes bytes of the common half. Returns false if fewer are left.
  bool take(std::uint64_t bytes) {
    const std::uint64_t before = taken_.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes <= common()) return true;
    giveBack(bytes);
    return false;
  }
  void giveBack(std::uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> most_;
  std::atomic<std::uint64_t> rooms_{0};
  std::atomic<std::uint64_t> taken_{0};
};

class BufferShare;

/// The shares of one worker that may have to give way, the one first that has gone longest without moving a unit.
class ShareQueue {
 public:
  BufferShare* first() const { return first_; }
  /// Returns how many bytes its shares have taken.
  std::uint64_t taken() const { return taken_; }

 private:
  friend class BufferShare;

  void append(BufferShare& share);
  void remove(BufferShare& share);

  BufferShare* first_ = nullptr;
  BufferShare* last_ = nullptr;
  std::uint64_t taken_ = 0;
};

/// Accounts for the bodies of one worker, and chooses the one that gives way when there is no room for another unit:
/// 1. A spare copy, which its body can do without. All of them go before any body does.
/// 2. A body that leaves, if no unit of it was taken for kStuck. A server that does not read its requests, or a
/// client that does not read its responses, so blocks no other body.
/// 3. The first body that leaves of a client whose bodies that leave take more than half of the room, unless that
///    client asks itself: its own new bodies never cost it those that steps have worked on.
/// 4. Among the bodies that arrive, the one that has gone longest without bringing a unit. So a client that sends its
///    body at once gives way only after all clients that drip, however many those are.
class BufferRoom {
 public:
  static constexpr base::Duration kStuck = std::chrono::seconds(5);

  /// Both outlive it.
  BufferRoom(BufferBudget& budget, const base::Clock& clock) : budget_(budget), clock_(clock) { budget_.addRoom(); }
  BufferRoom(const BufferRoom&) = delete;
  BufferRoom& operator=(const BufferRoom&) = delete;
  ~BufferRoom() { budget_.removeRoom(); }

  std::uint64_t used() const { return used_; }

 private:
  friend class BufferShare;

  /// Clients are spread over these queues by the hash of their address, which bounds the cost of a choice. Of two
  /// clients in one queue, the body that has gone longest without moving gives way first.
  static constexpr std::size_t kQueues = 64;

  bool take(std::uint64_t bytes);
  bool takeSpare(std::uint64_t bytes);
  std::uint64_t sharedWith(std::uint64_t bytes) const;
  void giveBack(std::uint64_t bytes);
  /// Lets a spare copy give way. Returns false if there is none.
  bool dropSpare();
  bool dropLargeSpare();
  /// Lets another body give way to `asks`. Returns false if there is none that could.
  bool makeWay(const BufferShare& asks);
  BufferShare* stuck() const;
  BufferShare* ofDominantClient(const BufferShare& asks) const;
  BufferShare* slowest(const BufferShare& asks) const;

  BufferBudget& budget_;
  const base::Clock& clock_;
  std::uint64_t used_ = 0;
  std::uint64_t shared_ = 0;  // the part of used_ that comes from the common half
  ShareQueue smallSpare_;     // copies of one unit, which go after those that are larger
  ShareQueue largeSpare_;
  ShareQueue arriving_;
  std::array<ShareQueue, kQueues> leaving_;
};

/// Counts the bytes that one body has taken, and gives them back when the body goes.
class BufferShare {
 public:
  static constexpr std::uint64_t kUnit = 16 * 1024;

  /// `client` is the address of the client for which the bytes are held.
  explicit BufferShare(BufferRoom& room, std::string_view client = {});
  BufferShare(BufferShare&& other) noexcept;
  BufferShare(const BufferShare&) = delete;
  BufferShare& operator=(const BufferShare&) = delete;
  BufferShare& operator=(BufferShare&&) = delete;
  ~BufferShare() { release(); }

  /// Takes room like reach(), but no other body has to give way for it, only spare copies.
  bool reachFree(std::uint64_t bytes);
  /// Takes room like reach() for a spare copy, which its body can do without: nothing gives way for it but larger
  /// copies, if it is no larger than a unit, and it leaves half of what all workers share to bodies. From then on it
  /// gives way before all bodies. When it does, its room is given back at once, and `waker` wakes its exchange.
  bool reachSpare(std::uint64_t bytes, Waker waker);
  /// Takes room until there is enough for `bytes` in all, in steps of kUnit; other bodies may have to give way. Returns
  /// false if none of them can, or if this one has had to give way itself. Not called for a body that leaves.
  bool reach(std::uint64_t bytes);
  /// Gives back the room that it has beyond `bytes`. A body that leaves has moved if that is a unit or more.
  void keep(std::uint64_t bytes);
  /// Called when `bytes` have come that need no further room.
  void bring(std::uint64_t bytes);
  /// Called when this body begins to arrive. It may have to give way from here on. When it does, its room is given back
  /// at once, and `waker` wakes its exchange.
  void arrive(Waker waker);
  /// Called when this body has arrived. It does not have to give way while its step works on it.
  void settle();
  /// Called when the step has let the body go on after it had arrived; keep() is then called as the body is taken. It
  /// may have to give way again, also while later steps, or a connection to its Backend, keep it waiting.
  void leave();
  bool hasGivenWay() const { return gaveWay_; }
  void release();

 private:
  friend class BufferRoom;
  friend class ShareQueue;

  static std::uint64_t inUnits(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }
  void setTaken(std::uint64_t taken);
  void enter(ShareQueue& queue);
  void moveBack();
  void giveWay();

  BufferRoom* room_;
  std::uint8_t client_;  // the number of its client's queue
  bool gaveWay_ = false;
  ShareQueue* queue_ = nullptr;  // null: it does not have to give way
  std::uint64_t taken_ = 0;
  std::uint64_t brought_ = 0;  // bytes reported to bring() since the share was last moved to the end of its queue
  base::MonotonicTime moved_{};
  Waker waker_;
  BufferShare* before_ = nullptr;
  BufferShare* behind_ = nullptr;
};

}  // namespace sluice::processing
