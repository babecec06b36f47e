// The body of the request as the steps of one Backend that run before authentication have left it.
//
// It belongs to that Backend alone: the body that all Backends share goes on unchanged beside it. The exchange owns it;
// one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "proxy/base/byte_queue.h"
#include "proxy/http/message.h"

namespace sluice::processing {

struct Step;

class OwnBody {
 public:
  explicit OwnBody(base::ChunkPool& pool) : bytes(pool) {}

  /// Returns true if it differs from the body that all share, which is otherwise sent to the Backend as well.
  bool isChanged() const { return changed_; }
  /// From here on it consists of these bytes, and of a copy of the trailers; null if there are none.
  void change(base::ByteQueue&& whole, const http::Trailers* behind);
  /// Returns the trailers; nullptr if there are none.
  http::Trailers* trailers() { return trailers_ ? &*trailers_ : nullptr; }
  std::optional<http::Trailers> takeTrailers() { return std::exchange(trailers_, std::nullopt); }
  /// From here on it is the body that all share.
  void drop();
  /// Forgets everything.
  void clear();

  base::ByteQueue bytes;
  /// A step of the Backend judges the whole body, or has done so.
  bool wasJudged = false;
  /// The first step that waits for the attempt, like those behind it, because it changes the body as it flows; null if
  /// all have begun.
  const Step* rest = nullptr;

 private:
  bool changed_ = false;
  std::optional<http::Trailers> trailers_;
};

/// The way in which the stage of a step uses the body of its Backend alone.
class OwnBodyUse {
 public:
  /// `own` is null for a step that works on the body of all.
  explicit OwnBodyUse(OwnBody* own) : own_(own) {}

  bool isUsed() const { return own_ != nullptr; }
  /// Puts the Backend's own body into `bytes` and its trailers into `behind`, if they differ from those that go on, or
  /// may differ in the trailers because the step `edits`. Returns false if it has to wait until the body that goes on
  /// has `ended`.
  bool enter(base::ByteQueue& bytes, http::Trailers*& behind, bool ended, bool edits);
  bool isEntered() const { return isEntered_; }
  /// Undoes enter(), when the step has worked on what was put there.
  void leave(base::ByteQueue& bytes, http::Trailers*& behind);
  /// Takes what the step has put in the place of `bytes`.
  void take(base::ByteQueue& bytes, base::ByteQueue&& changed);
  /// Returns how many bytes of the other body are held; `copied` if it will be a copy of those that go on.
  std::size_t beside(std::size_t copied) const;

 private:
  OwnBody* const own_;
  bool isEntered_ = false;
  bool isCopy_ = false;               // the own body is a copy of the other one, so far
  http::Trailers* shared_ = nullptr;  // those behind the bytes that go on, while it is entered
};

}  // namespace sluice::processing
