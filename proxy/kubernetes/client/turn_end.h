// A TurnEnd acts on what a turn has recorded (net/worker.h), once at the end of the turn, when all that has arrived in
// it is known.
//
// It is marked in the turn, and called in the beat after it, when all calls of the ApiClient have told their users what
// they have. Belongs to the main thread.
#pragma once

#include <vector>

namespace sluice::kubernetes {

class TurnEnd;

/// Those that are marked, in the order in which they were.
class TurnEnds {
 public:
  bool empty() const { return marked_.empty(); }
  /// Calls those that are marked, including those that are marked meanwhile.
  void call();

 private:
  friend class TurnEnd;
  std::vector<TurnEnd*> marked_;  // null: destroyed since
};

/// Base class of whoever acts so.
class TurnEnd {
 public:
  TurnEnd(const TurnEnd&) = delete;
  TurnEnd& operator=(const TurnEnd&) = delete;
  virtual ~TurnEnd();

 protected:
  /// `ends` outlive it.
  explicit TurnEnd(TurnEnds& ends) : ends_(ends) {}
  /// Has onTurnEnd() called at the end of this turn; inside a Turn.
  void mark();
  bool isMarked() const { return marked_; }
  /// Unlike in the turn, calls of the ApiClient may be destroyed, whosever they are.
  virtual void onTurnEnd() = 0;

 private:
  friend class TurnEnds;
  TurnEnds& ends_;
  bool marked_ = false;
};

}  // namespace sluice::kubernetes
