// A TurnEnd acts on the records of a turn (net/worker.h) once, at its end, when all data of the turn has arrived.
//
// It is marked in the turn, and called in the beat after it, when all calls of the ApiClient have notified their users.
// Belongs to the main thread.
#pragma once

#include <vector>

namespace sluice::kubernetes {

class TurnEnd;

/// Keeps the marked TurnEnds in the order in which they were marked.
class TurnEnds {
 public:
  bool empty() const { return marked_.empty(); }
  /// Calls those that are marked, including those that are marked meanwhile.
  void call();

 private:
  friend class TurnEnd;
  std::vector<TurnEnd*> marked_;  // null: destroyed since
};

/// Base class of objects that act at the end of a turn.
class TurnEnd {
 public:
  TurnEnd(const TurnEnd&) = delete;
  TurnEnd& operator=(const TurnEnd&) = delete;
  virtual ~TurnEnd();

 protected:
  /// `ends` outlive it.
  explicit TurnEnd(TurnEnds& ends) : ends_(ends) {}
  /// Requests onTurnEnd() at the end of this turn; inside a Turn.
  void mark();
  bool isMarked() const { return marked_; }
  /// Called at the end of a turn. Unlike code in the turn, it may destroy any call of the ApiClient.
  virtual void onTurnEnd() = 0;

 private:
  friend class TurnEnds;
  TurnEnds& ends_;
  bool marked_ = false;
};

}  // namespace sluice::kubernetes
