// The bytes that bodies held for processors may take in all of the process, limits.processorBufferTotal, and who gives
// way when they run short.
//
// One BufferBudget for the process; a BufferRoom for each worker, on its thread; a BufferShare for each body that is
// held. Half of the budget is reserved, in equal parts, for the rooms, the other half is for whoever comes first: so
// what bodies of one worker take leaves something to the others, and a room that is short of bytes has bodies of its
// own to choose from.
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

  /// Returns what each room has to itself.
  std::uint64_t reserve() const {
    return most_.load(std::memory_order_relaxed) / 2 /
           std::max<std::uint64_t>(rooms_.load(std::memory_order_relaxed), 1);
  }
  /// Returns how much of what the rooms have together is taken.
  std::uint64_t used() const { return taken_.load(std::memory_order_relaxed); }
  /// Takes bytes of what the rooms have together; false if there are not so many.
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

/// What the bodies of one worker take of the budget, and which of them gives way first: the one that has gone longest
/// without bringing another BufferShare::kUnit, of those that have not ended. One that sends its body at once is behind
/// all those that do not, however many they are and however slowly they drip.
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
  /// Returns false if there is no other that could give way to `asks`.
  bool makeWay(const BufferShare& asks);
  void append(BufferShare& share);
  void remove(BufferShare& share);

  BufferBudget& budget_;
  std::uint64_t used_ = 0;
  std::uint64_t shared_ = 0;  // of them, what is not of the reserve
  BufferShare* first_ = nullptr;
  BufferShare* last_ = nullptr;
};

/// Counts what one body has taken, and gives it back when the body goes.
class BufferShare {
 public:
  static constexpr std::uint64_t kUnit = 16 * 1024;

  explicit BufferShare(BufferRoom& room) : room_(&room) {}
  BufferShare(BufferShare&& other) noexcept;
  BufferShare(const BufferShare&) = delete;
  BufferShare& operator=(const BufferShare&) = delete;
  BufferShare& operator=(BufferShare&&) = delete;
  ~BufferShare() { release(); }

  /// There is room for `bytes` in all, in steps of kUnit; others may have to give way. False: nobody can, or it has had
  /// to give way itself.
  bool reach(std::uint64_t bytes);
  /// Gives back what it has beyond `bytes`.
  void keep(std::uint64_t bytes);
  /// Tells that so many bytes have come which take no more room.
  void bring(std::uint64_t bytes);
  /// From here on it may have to give way, of which `waker` tells: what it had is given back at once.
  void mayGiveWay(Waker waker);
  bool canGiveWay() const { return waits_; }
  bool hasGivenWay() const { return gaveWay_; }
  /// It does not have to any more, and keeps what it has.
  void settle();
  void release();

 private:
  friend class BufferRoom;

  static std::uint64_t inUnits(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }
  void moveBack();
  void giveWay();

  BufferRoom* room_;
  std::uint64_t taken_ = 0;
  std::uint64_t brought_ = 0;  // beside what it has taken, since it was moved back
  Waker waker_;
  bool waits_ = false;  // it is in the room's list
  bool gaveWay_ = false;
  BufferShare* before_ = nullptr;
  BufferShare* behind_ = nullptr;
};

}  // namespace sluice::processing
