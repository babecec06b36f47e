// A LiveFeed hands the newest of a series of texts to all clients whose answers stay open, such as the event streams of
// a page. A client that reads slowly skips the texts between, so it keeps no more than the one that it is reading.
//
// It belongs to the main thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice::server {

class LiveFeed;

/// The place of one reader, which it holds as long as its answer is open.
class LivePlace {
 public:
  /// `wake` is called, inside a Turn, when there is something to read.
  LivePlace(LiveFeed& feed, std::function<void()> wake);
  LivePlace(const LivePlace&) = delete;
  LivePlace& operator=(const LivePlace&) = delete;
  ~LivePlace();

  /// Returns the newest text if its number is another one than `read`, and sets `read` to that; else null.
  std::shared_ptr<const std::string> next(std::uint64_t& read) const;
  /// Returns true if no text follows any more.
  bool ended() const;

 private:
  friend class LiveFeed;
  mutable LiveFeed* feed_;  // null once the feed is gone
  std::function<void()> wake_;
};

class LiveFeed {
 public:
  /// The number of readers at a time. A text that a slow reader has begun is kept for it.
  static constexpr std::size_t kMostReaders = 16;

  LiveFeed() = default;
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;
  ~LiveFeed();

  /// Returns a place; null if all are taken.
  std::shared_ptr<const LivePlace> join(std::function<void()> wake);
  std::size_t readers() const { return places_.size(); }
  /// Makes `text` the newest one. Called inside a Turn.
  void publish(std::string text);
  /// Forgets the newest text: a reader that comes later must not get one that is old by then.
  void forget() { newest_ = nullptr; }
  /// Ends the answers of all readers, present and future ones, after what they are reading. Called inside a Turn.
  void close();

 private:
  friend class LivePlace;
  void leave(const LivePlace& place);
  void wakeAll() const;

  std::vector<const LivePlace*> places_;
  std::shared_ptr<const std::string> newest_;  // may be null
  std::uint64_t number_ = 0;                   // of the newest text
  bool closed_ = false;
};

}  // namespace sluice::server
