// The length of a body that arrives in DATA, beside the one that its message has announced (RFC 9113 section 8.1.1).
#pragma once

#include <cstdint>
#include <limits>

namespace sluice::http {

class H2BodyLength {
 public:
  /// Notes the length in bytes that Content-Length, or the absence of a body, promises.
  void announce(std::uint64_t length) { announced_ = length; }
  bool isAnnounced() const { return announced_ != kAny; }
  /// Counts bytes of the body. Returns false once there are more than were announced.
  bool add(std::uint64_t bytes) {
    received_ += bytes;
    return received_ <= announced_;
  }
  /// Returns true if the body may end here.
  bool isComplete() const { return !isAnnounced() || received_ == announced_; }
  std::uint64_t received() const { return received_; }

 private:
  static constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t announced_ = kAny;
  std::uint64_t received_ = 0;
};

}  // namespace sluice::http
