// The interface of a pool for the room that it shares with others. Implemented by Pool.
#pragma once

namespace sluice::upstream {

class Connection;

class RoomUser {
 public:
  RoomUser() = default;
  // Rooms refer to it by its address.
  RoomUser(const RoomUser&) = delete;
  RoomUser& operator=(const RoomUser&) = delete;

  /// Returns true if it has connections that end, or become idle, with the request that they serve, including those
  /// that are to be reaped. A busy connection of HTTP/2 may stay busy for ever.
  virtual bool mayYield() const = 0;
  /// Returns true if requests wait, and it has no connection at all.
  virtual bool starves() const = 0;
  /// Returns the connection that has been idle for longest, of those that serve any client and have served one, or have
  /// waited for one for ConnectionRoom::kRest; nullptr if there is none.
  virtual Connection* leastRecentlyUsed() = 0;
  /// Makes it offer connections that become idle to other pools, until none of these starves.
  virtual void urge() = 0;
  /// Makes it settle in this beat.
  virtual void markDirty() = 0;

 protected:
  ~RoomUser() = default;
};

}  // namespace sluice::upstream
