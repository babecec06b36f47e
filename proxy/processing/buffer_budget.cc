#include "proxy/processing/buffer_budget.h"

#include <functional>

namespace sluice::processing {

// --- a queue -----------------------------------------------------------------------------------------------

void ShareQueue::append(BufferShare& share) {
  share.before_ = last_;
  share.behind_ = nullptr;
  (last_ != nullptr ? last_->behind_ : first_) = &share;
  last_ = &share;
}

void ShareQueue::remove(BufferShare& share) {
  (share.before_ != nullptr ? share.before_->behind_ : first_) = share.behind_;
  (share.behind_ != nullptr ? share.behind_->before_ : last_) = share.before_;
}

// --- a room ------------------------------------------------------------------------------------------------

/// Returns how many bytes of the common half the room needs if it uses that many bytes.
std::uint64_t BufferRoom::sharedWith(std::uint64_t bytes) const {
  const std::uint64_t reserve = budget_.reserve();
  return bytes > reserve ? bytes - reserve : 0;
}

bool BufferRoom::take(std::uint64_t bytes) {
  const std::uint64_t shared = sharedWith(used_ + bytes);
  if (shared > shared_) {
    if (!budget_.take(shared - shared_)) return false;
    shared_ = shared;
  }
  used_ += bytes;
  return true;
}

// A room that runs short has only spare copies of its own to drop, so these must not use up what it shares with others.
bool BufferRoom::takeSpare(std::uint64_t bytes) {
  const std::uint64_t shared = sharedWith(used_ + bytes);
  if (shared > shared_ && budget_.used() + (shared - shared_) > budget_.common() / 2) return false;
  return take(bytes);
}

void BufferRoom::giveBack(std::uint64_t bytes) {
  used_ -= bytes;
  const std::uint64_t shared = sharedWith(used_);
  if (shared < shared_) budget_.giveBack(std::exchange(shared_, shared) - shared);
}

bool BufferRoom::dropSpare() {
  if (dropLargeSpare()) return true;
  BufferShare* const first = smallSpare_.first();
  if (first != nullptr) first->giveWay();
  return first != nullptr;
}

bool BufferRoom::dropLargeSpare() {
  BufferShare* const first = largeSpare_.first();
  if (first != nullptr) first->giveWay();
  return first != nullptr;
}

bool BufferRoom::makeWay(const BufferShare& asks) {
  if (dropSpare()) return true;
  BufferShare* chosen = stuck();
  if (chosen == nullptr) chosen = ofDominantClient(asks);
  if (chosen == nullptr) chosen = slowest(asks);
  if (chosen == nullptr) return false;
  chosen->giveWay();
  return true;
}

BufferShare* BufferRoom::stuck() const {
  BufferShare* longest = nullptr;
  for (const ShareQueue& queue : leaving_) {
    BufferShare* first = queue.first();
    if (first != nullptr && (longest == nullptr || first->moved_ < longest->moved_)) longest = first;
  }
  return longest != nullptr && clock_.now() - longest->moved_ >= kStuck ? longest : nullptr;
}

BufferShare* BufferRoom::ofDominantClient(const BufferShare& asks) const {
  for (const ShareQueue& queue : leaving_) {
    if (queue.taken() > used_ / 2) return &queue != &leaving_[asks.client_] ? queue.first() : nullptr;
  }
  return nullptr;
}

BufferShare* BufferRoom::slowest(const BufferShare& asks) const {
  BufferShare* share = arriving_.first();
  // A share that has taken nothing yet has nothing to give back.
  while (share != nullptr && (share == &asks || share->taken_ == 0)) share = share->behind_;
  return share;
}

// --- a share -----------------------------------------------------------------------------------------------

BufferShare::BufferShare(BufferRoom& room, std::string_view client)
    : room_(&room), client_(static_cast<std::uint8_t>(std::hash<std::string_view>{}(client) % BufferRoom::kQueues)) {}

BufferShare::BufferShare(BufferShare&& other) noexcept
    : room_(other.room_),
      client_(other.client_),
      gaveWay_(other.gaveWay_),
      queue_(std::exchange(other.queue_, nullptr)),
      taken_(std::exchange(other.taken_, 0)),
      brought_(other.brought_),
      moved_(other.moved_),
      waker_(other.waker_),
      before_(other.before_),
      behind_(other.behind_) {
  if (queue_ == nullptr) return;
  (before_ != nullptr ? before_->behind_ : queue_->first_) = this;
  (behind_ != nullptr ? behind_->before_ : queue_->last_) = this;
}

bool BufferShare::reach(std::uint64_t bytes) {
  if (gaveWay_) return false;
  if (bytes <= taken_) return true;
  const std::uint64_t more = inUnits(bytes - taken_);
  while (!room_->take(more)) {
    if (!room_->makeWay(*this)) return false;
  }
  setTaken(taken_ + more);
  moveBack();
  return true;
}

bool BufferShare::reachFree(std::uint64_t bytes) {
  if (bytes <= taken_) return true;
  const std::uint64_t more = inUnits(bytes - taken_);
  while (!room_->take(more)) {
    if (!room_->dropSpare()) return false;
  }
  setTaken(taken_ + more);
  return true;
}

bool BufferShare::reachSpare(std::uint64_t bytes, Waker waker) {
  if (gaveWay_) return false;
  if (bytes <= taken_) return true;
  const std::uint64_t more = inUnits(bytes - taken_);
  const bool isSmall = taken_ + more <= kUnit;
  while (!room_->takeSpare(more)) {
    if (!isSmall || !room_->dropLargeSpare()) return false;
  }
  settle();
  taken_ += more;
  waker_ = waker;
  enter(isSmall ? room_->smallSpare_ : room_->largeSpare_);
  moved_ = room_->clock_.now();
  return true;
}

void BufferShare::keep(std::uint64_t bytes) {
  const std::uint64_t kept = inUnits(bytes);
  if (kept >= taken_) return;
  if (kept == 0) return release();
  room_->giveBack(taken_ - kept);
  setTaken(kept);
  moveBack();
}

void BufferShare::bring(std::uint64_t bytes) {
  brought_ += bytes;
  if (brought_ >= kUnit) moveBack();
}

void BufferShare::setTaken(std::uint64_t taken) {
  if (queue_ != nullptr) queue_->taken_ += taken - taken_;
  taken_ = taken;
}

void BufferShare::enter(ShareQueue& queue) {
  queue_ = &queue;
  queue_->append(*this);
  queue_->taken_ += taken_;
}

void BufferShare::moveBack() {
  brought_ = 0;
  if (queue_ == nullptr) return;
  queue_->remove(*this);
  queue_->append(*this);
  moved_ = room_->clock_.now();
}

void BufferShare::arrive(Waker waker) {
  if (queue_ != nullptr) return;
  waker_ = waker;
  enter(room_->arriving_);
}

void BufferShare::settle() {
  ShareQueue* queue = std::exchange(queue_, nullptr);
  if (queue == nullptr) return;
  queue->remove(*this);
  queue->taken_ -= taken_;
}

void BufferShare::leave() {
  settle();
  if (taken_ == 0) return;
  enter(room_->leaving_[client_]);
  moved_ = room_->clock_.now();
}

void BufferShare::release() {
  settle();
  if (taken_ > 0) room_->giveBack(std::exchange(taken_, 0));
}

void BufferShare::giveWay() {
  release();
  gaveWay_ = true;
  waker_.wake();
}

}  // namespace sluice::processing
