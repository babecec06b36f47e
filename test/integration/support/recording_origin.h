// An HTTP/1.1 origin that records the request bodies it gets, and answers each request once it has arrived whole. Every
// request must state its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "test/integration/support/raw_origin.h"

namespace sluice::test {

class RecordingOrigin {
 public:
  /// Returns the answer to the request of this number, counted from 0; an empty one resets the connection. Called under
  /// a lock.
  using Answer = std::function<std::string(std::size_t number)>;

  explicit RecordingOrigin(Answer answer) : answer_(std::move(answer)) {}

  std::uint16_t port() const { return origin_.port(); }
  std::vector<std::string> heads() const { return origin_.heads(); }
  std::vector<std::string> bodies() const;
  /// Waits until `count` bodies have come; returns false if they do not come.
  bool hears(std::size_t count) const;

 private:
  void serve(BlockingSocket& socket, RawOrigin& self);

  const Answer answer_;
  mutable std::mutex mutex_;
  std::vector<std::string> bodies_;
  RawOrigin origin_{[this](BlockingSocket& socket, RawOrigin& self) { serve(socket, self); }};
};

}  // namespace sluice::test
