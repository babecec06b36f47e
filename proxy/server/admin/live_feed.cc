#include "proxy/server/admin/live_feed.h"

#include <utility>

namespace sluice::server {

LivePlace::LivePlace(LiveFeed& feed, std::function<void()> wake) : feed_(&feed), wake_(std::move(wake)) {
  feed.places_.push_back(this);
}

LivePlace::~LivePlace() {
  if (feed_ != nullptr) feed_->leave(*this);
}

std::shared_ptr<const std::string> LivePlace::next(std::uint64_t& read) const {
  if (feed_ == nullptr || feed_->newest_ == nullptr || read == feed_->number_) return nullptr;
  read = feed_->number_;
  return feed_->newest_;
}

bool LivePlace::ended() const { return feed_ == nullptr || feed_->closed_; }

LiveFeed::~LiveFeed() {
  for (const LivePlace* place : places_) place->feed_ = nullptr;
}

std::shared_ptr<const LivePlace> LiveFeed::join(std::function<void()> wake) {
  if (places_.size() == kMostReaders) return nullptr;
  return std::make_shared<const LivePlace>(*this, std::move(wake));
}

void LiveFeed::publish(std::string text) {
  if (places_.empty()) return;
  newest_ = std::make_shared<const std::string>(std::move(text));
  ++number_;
  wakeAll();
}

void LiveFeed::close() {
  closed_ = true;
  wakeAll();
}

void LiveFeed::wakeAll() const {
  for (const LivePlace* place : places_) place->wake_();
}

void LiveFeed::leave(const LivePlace& place) { std::erase(places_, &place); }

}  // namespace sluice::server
