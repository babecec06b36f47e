// The memory account of the bodies that are held for processors, bounded by limits.processorBufferTotal for the whole
// process, and the choice of the body that gives way when it runs short.
//
// The process has one BufferBudget, each worker a BufferRoom on its thread, each body that is held a BufferShare. Half
// of the budget is reserved for the rooms, in equal parts; the other half goes to the first that asks. So the bodies of
// one worker always leave something to the others, and a room that runs short has bodies of its own to choose from.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

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
  /// Takes bytes of the common half. Returns false if there are not so many left.
  bool take(std::uint64_t bytes) {
    const std::uint64_t before = taken_.fetch_add(bytes, std::memory_order_relaxed);
    const std::uint64_t most = most_.load(std::memory_order_relaxed);
    if (before + bytes <= most - reserve() * rooms_.load(std::memory_order_relaxed)) return true;
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

/// Accounts for the bodies of one worker, and chooses the one that gives way first: among the bodies that have not
/// ended, the one that has gone longest without bringing another BufferShare::kUnit. So a client that sends its body at
/// once gives way only after all clients that drip, however many those are.
class BufferRoom {
 public:
  explicit BufferRoom(BufferBudget& budget) : budget_(budget) { budget_.addRoom(); }
  BufferRoom(const BufferRoom&) = delete;
  BufferRoom& operator=(const BufferRoom&) = delete;
  ~BufferRoom() { budget_.removeRoom(); }

  std::uint64_t used() const { return used_; }

 private:
  friend class BufferShare;

  bool take(std::uint64_t bytes);
  void giveBack(std::uint64_t bytes);
  /// Lets another body give way to `asks`. Returns false if there is none that could.
  bool makeWay(const BufferShare& asks);
  void append(BufferShare& share);
  void remove(BufferShare& share);

  BufferBudget& budget_;
  std::uint64_t used_ = 0;
  std::uint64_t shared_ = 0;  // the part of used_ that comes from the common half
  BufferShare* first_ = nullptr;
  BufferShare* last_ = nullptr;
};

/// Counts the bytes that one body has taken, and gives them back when the body goes.
class BufferShare {
 public:
  static constexpr std::uint64_t kUnit = 16 * 1024;

  explicit BufferShare(BufferRoom& room) : room_(&room) {}
  BufferShare(BufferShare&& other) noexcept;
  BufferShare(const BufferShare&) = delete;
  BufferShare& operator=(const BufferShare&) = delete;
  BufferShare& operator=(BufferShare&&) = delete;
  ~BufferShare() { release(); }

  /// Takes room until there is enough for `bytes` in all, in steps of kUnit; other bodies may have to give way. Returns
  /// false if none of them can, or if this one has had to give way itself.
  bool reach(std::uint64_t bytes);
  /// Gives back the room that it has beyond `bytes`.
  void keep(std::uint64_t bytes);
  /// Called when so many bytes have come that take no more room.
  void bring(std::uint64_t bytes);
  /// Says that this body may have to give way from here on. When it does, its room is given back at once, and `waker`
  /// wakes its exchange.
  void mayGiveWay(Waker waker);
  bool canGiveWay() const { return waits_; }
  bool hasGivenWay() const { return gaveWay_; }
  /// Says that this body does not have to give way any more; it keeps the room that it has.
  void settle();
  void release();

 private:
  friend class BufferRoom;

  static std::uint64_t inUnits(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }
  void moveBack();
  void giveWay();

  BufferRoom* room_;
  std::uint64_t taken_ = 0;
  std::uint64_t brought_ = 0;  // bytes told to bring() since the share was last moved to the end of the list
  Waker waker_;
  bool waits_ = false;  // the share is in the room's list
  bool gaveWay_ = false;
  BufferShare* before_ = nullptr;
  BufferShare* behind_ = nullptr;
};

}  // namespace sluice::processing
