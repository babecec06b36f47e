// The room for further dials of a connection that has room itself. Each takes a connection's, because it may become
// one.
#pragma once

namespace sluice::upstream {

class DialRoom {
 public:
  /// Returns false if there is no room, or if pools wait for it.
  virtual bool tryTakeMore() = 0;
  virtual void giveBackMore() = 0;

 protected:
  ~DialRoom() = default;
};

}  // namespace sluice::upstream
