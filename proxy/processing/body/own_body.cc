#include "proxy/processing/body/own_body.h"

#include <algorithm>

namespace sluice::processing {
namespace {

bool areEqual(const http::Headers& a, const http::Headers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const http::Field& one, const http::Field& other) {
    return one.name == other.name && one.value == other.value;
  });
}

}  // namespace

void OwnBody::change(base::ByteQueue&& whole, const http::Trailers* behind) {
  changed_ = true;
  bytes = std::move(whole);
  if (behind == nullptr) return;
  trailers_.emplace(bytes.pool());
  trailers_->fields = behind->fields.copy(trailers_->arena);
}

void OwnBody::drop() {
  bytes.clear();
  trailers_.reset();
  changed_ = false;
}

void OwnBody::clear() {
  drop();
  wasJudged = false;
  rest = nullptr;
}

bool OwnBodyUse::enter(base::ByteQueue& bytes, http::Trailers*& behind, bool ended, bool edits) {
  if (own_ == nullptr || isEntered_) return true;
  own_->wasJudged = true;
  if (!own_->isChanged() && (behind == nullptr || !edits)) return true;
  if (!ended) return false;
  if (!own_->isChanged()) {
    base::ByteQueue copy(bytes.pool());
    copy.appendCopy(bytes, bytes.size());
    own_->change(std::move(copy), behind);
    isCopy_ = true;
  }
  std::swap(bytes, own_->bytes);
  shared_ = std::exchange(behind, own_->trailers());
  isEntered_ = true;
  return true;
}

void OwnBodyUse::leave(base::ByteQueue& bytes, http::Trailers*& behind) {
  if (!std::exchange(isEntered_, false)) return;
  std::swap(bytes, own_->bytes);
  if (isCopy_ && areEqual(behind->fields, shared_->fields)) own_->drop();
  behind = shared_;
}

void OwnBodyUse::take(base::ByteQueue& bytes, base::ByteQueue&& changed) {
  if (own_ != nullptr && !isEntered_) return own_->change(std::move(changed), nullptr);
  isCopy_ = false;
  bytes = std::move(changed);
}

std::size_t OwnBodyUse::beside(std::size_t copied) const {
  if (own_ == nullptr) return 0;
  return own_->isChanged() ? own_->bytes.size() : copied;
}

}  // namespace sluice::processing
