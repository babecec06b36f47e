#include "proxy/processing/buffer_budget.h"

namespace sluice::processing {

// --- a room ------------------------------------------------------------------------------------------------

bool BufferRoom::take(std::uint64_t bytes) {
  const std::uint64_t reserve = budget_.reserve();
  const std::uint64_t shared = used_ + bytes > reserve ? used_ + bytes - reserve : 0;
  if (shared > shared_) {
    if (!budget_.take(shared - shared_)) return false;
    shared_ = shared;
  }
  used_ += bytes;
  return true;
}

void BufferRoom::giveBack(std::uint64_t bytes) {
  used_ -= bytes;
  const std::uint64_t reserve = budget_.reserve();
  const std::uint64_t shared = used_ > reserve ? used_ - reserve : 0;
  if (shared < shared_) budget_.giveBack(std::exchange(shared_, shared) - shared);
}

bool BufferRoom::makeWay(const BufferShare& asks) {
  BufferShare* share = first_;
  // A share that has taken nothing yet has nothing to give back.
  while (share != nullptr && (share == &asks || share->taken_ == 0)) share = share->behind_;
  if (share == nullptr) return false;
  share->giveWay();
  return true;
}

void BufferRoom::append(BufferShare& share) {
  share.before_ = last_;
  share.behind_ = nullptr;
  (last_ != nullptr ? last_->behind_ : first_) = &share;
  last_ = &share;
}

void BufferRoom::remove(BufferShare& share) {
  (share.before_ != nullptr ? share.before_->behind_ : first_) = share.behind_;
  (share.behind_ != nullptr ? share.behind_->before_ : last_) = share.before_;
}

// --- a share -----------------------------------------------------------------------------------------------

BufferShare::BufferShare(BufferShare&& other) noexcept
    : room_(other.room_),
      taken_(std::exchange(other.taken_, 0)),
      brought_(other.brought_),
      waker_(other.waker_),
      waits_(std::exchange(other.waits_, false)),
      gaveWay_(other.gaveWay_),
      before_(other.before_),
      behind_(other.behind_) {
  if (!waits_) return;
  (before_ != nullptr ? before_->behind_ : room_->first_) = this;
  (behind_ != nullptr ? behind_->before_ : room_->last_) = this;
}

bool BufferShare::reach(std::uint64_t bytes) {
  if (gaveWay_) return false;
  if (bytes <= taken_) return true;
  const std::uint64_t more = inUnits(bytes - taken_);
  while (!room_->take(more)) {
    if (!room_->makeWay(*this)) return false;
  }
  taken_ += more;
  moveBack();
  return true;
}

void BufferShare::keep(std::uint64_t bytes) {
  const std::uint64_t kept = std::min(inUnits(bytes), taken_);
  room_->giveBack(std::exchange(taken_, kept) - kept);
}

void BufferShare::bring(std::uint64_t bytes) {
  brought_ += bytes;
  if (brought_ >= kUnit) moveBack();
}

void BufferShare::moveBack() {
  brought_ = 0;
  if (!waits_) return;
  room_->remove(*this);
  room_->append(*this);
}

void BufferShare::mayGiveWay(Waker waker) {
  if (waits_) return;
  waker_ = waker;
  waits_ = true;
  room_->append(*this);
}

void BufferShare::settle() {
  if (std::exchange(waits_, false)) room_->remove(*this);
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
