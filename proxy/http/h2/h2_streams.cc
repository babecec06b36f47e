#include "proxy/http/h2/h2_streams.h"

#include <memory>
#include <type_traits>

namespace sluice::http {

H2Streams::~H2Streams() {
  while (newest_ != nullptr) remove(*newest_);
  if (buckets_ != few_.data()) memory_.release(buckets_);
}

H2Stream& H2Streams::add(StreamId id) {
  static_assert(std::is_trivially_destructible_v<H2Stream>);
  auto* stream = std::construct_at(static_cast<H2Stream*>(memory_.allocate(sizeof(H2Stream))));
  stream->next = newest_;
  if (newest_ != nullptr) newest_->previous = stream;
  newest_ = stream;
  if (++count_ > buckets()) grow();
  if (id != 0) name(*stream, id);
  return *stream;
}

void H2Streams::name(H2Stream& stream, StreamId id) {
  stream.id = id;
  enter(stream);
}

void H2Streams::enter(H2Stream& stream) {
  H2Stream*& first = buckets_[bucketOf(stream.id)];
  stream.nextOfBucket = first;
  first = &stream;
}

void H2Streams::remove(H2Stream& stream) {
  if (stream.id != 0) {
    H2Stream** link = &buckets_[bucketOf(stream.id)];
    while (*link != &stream) link = &(*link)->nextOfBucket;
    *link = stream.nextOfBucket;
  }
  (stream.previous != nullptr ? stream.previous->next : newest_) = stream.next;
  if (stream.next != nullptr) stream.next->previous = stream.previous;
  --count_;
  memory_.release(&stream);
}

void H2Streams::grow() {
  constexpr unsigned kGrowth = 2;  // a factor of four
  H2Stream** const before = buckets_;
  bucketBits_ += kGrowth;
  buckets_ = static_cast<H2Stream**>(memory_.allocateZeroed(buckets(), sizeof(H2Stream*)));
  for (H2Stream* stream = newest_; stream != nullptr; stream = stream->next) {
    if (stream->id != 0) enter(*stream);
  }
  if (before != few_.data()) memory_.release(before);
}

}  // namespace sluice::http
