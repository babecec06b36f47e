// The bounds of a server's answers: of those read at one time, so that other exchanges of the worker have their turn,
// and of those that carry nothing.
//
// It is part of a conversation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice::filters::ext_proc {

class AnswerBounds {
 public:
  /// Called for each message that is read, with its size.
  void read(std::size_t bytes) { read_ += std::max(bytes, kLeast); }
  /// Ends the turn although more could be read.
  void stop() { read_ = kMostOfTurn; }
  /// Returns true if no further answers are read in this turn.
  bool isSpent() const { return read_ >= kMostOfTurn; }
  /// Begins another turn. Returns true if the one that ends was spent.
  bool renew() { return std::exchange(read_, 0) >= kMostOfTurn; }

  /// Called for each part that is sent to the server.
  void told() { ++idle_; }
  /// Called for each answer that carries something.
  void carried() { idle_ = std::max(idle_, kMostIdle); }
  /// Called for each answer that carries nothing. Returns false if there are too many of them: more in a row than
  /// kMostIdle and the number of parts that were sent.
  bool passOver() { return idle_-- > 0; }

 private:
  /// Bytes that are read in one turn.
  static constexpr std::size_t kMostOfTurn = std::size_t{256} * 1024;
  /// The least number of bytes for which a message is counted, because reading it takes time even if it is short.
  static constexpr std::size_t kLeast = std::size_t{4} * 1024;
  static constexpr std::size_t kMostIdle = 1024;

  std::size_t read_ = 0;          // bytes, in this turn
  std::size_t idle_ = kMostIdle;  // answers that may still carry nothing
};

}  // namespace sluice::filters::ext_proc
