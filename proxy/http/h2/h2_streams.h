// The streams of one HTTP/2 connection: newest first, and found by their id.
//
// Streams and the table that finds them live in the worker's H2Memory. The table grows with the streams that are open
// at once, and keeps its size until the connection ends: 16 bytes for each of them at most. Owned by the connection;
// one thread.
#pragma once

#include <array>
#include <cstddef>

#include "proxy/http/h2/h2_memory.h"
#include "proxy/http/h2/h2_stream.h"

namespace sluice::http {

class H2Streams {
 public:
  explicit H2Streams(H2Memory& memory) : memory_(memory) {}
  H2Streams(const H2Streams&) = delete;
  H2Streams& operator=(const H2Streams&) = delete;
  ~H2Streams();

  /// Returns nullptr if the connection has no such stream.
  H2Stream* find(StreamId id) const {
    H2Stream* stream = buckets_[bucketOf(id)];
    while (stream != nullptr && stream->id != id) stream = stream->nextOfBucket;
    return stream;
  }
  /// Adds a stream; one with id 0 is not found until it is named.
  H2Stream& add(StreamId id);
  /// Gives its id to a stream that was added without one.
  void name(H2Stream& stream, StreamId id);
  void remove(H2Stream& stream);
  /// Returns the first stream of the list; nullptr if there is none. The others follow by H2Stream::next.
  H2Stream* newest() const { return newest_; }
  std::size_t count() const { return count_; }

 private:
  static constexpr unsigned kFewBucketBits = 2;

  // The ids of one side differ by two. A client that skips ids until all streams share a bucket makes a look-up a walk
  // over limits.concurrentStreams at most.
  std::size_t bucketOf(StreamId id) const { return id / 2 % buckets(); }
  std::size_t buckets() const { return std::size_t{1} << bucketBits_; }
  void enter(H2Stream& stream);
  void grow();

  H2Memory& memory_;
  H2Stream* newest_ = nullptr;
  std::array<H2Stream*, std::size_t{1} << kFewBucketBits> few_{};
  H2Stream** buckets_ = few_.data();
  std::size_t count_ = 0;
  unsigned bucketBits_ = kFewBucketBits;
};

}  // namespace sluice::http
