// Hands the bytes that an HTTP/2 connection receives to nghttp2: frame by frame where a frame is to be judged before,
// and with breaks where few bytes mean much work.
//
// A reference of one byte to HPACK's table may expand to a line of kilobytes, so one read may hold more fields than a
// worker should decode while other connections wait. Then the intake takes a break and keeps the other bytes, charged
// to the account of the heads, until goOn(). Without room for them the connection ends. While no bodies come, little is
// read at a time, for which there always is room (HeadCharge::kFree). Owned by H2Session; one thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/http/h2/h2_connection.h"
#include "proxy/http/h2/h2_frame_walk.h"
#include "proxy/http/h2/h2_receiver.h"
#include "proxy/http/head_account.h"

namespace sluice::http {

class H2Intake {
 public:
  /// Both outlive the intake. `account` is null if kept bytes are free.
  H2Intake(H2Connection& connection, H2Receiver& receiver, HeadAccount* account);
  H2Intake(const H2Intake&) = delete;
  H2Intake& operator=(const H2Intake&) = delete;

  /// Takes bytes, and all of them; not once the connection is closed. Ends the connection if nghttp2 fails, or if there
  /// is no room.
  void take(std::string_view bytes);
  /// Returns true during a break.
  bool pauses() const { return pauses_; }
  /// Ends the break, until the next one; only during a break.
  void goOn();
  /// Drops the bytes that are kept, because the connection has ended.
  void drop();

 private:
  /// Returns false if there is no room to keep so many bytes; then the connection has ended.
  bool mayKeep(std::size_t count);
  /// Hands bytes on until a break begins. Returns how many were taken.
  std::size_t handOn(std::string_view bytes);
  /// Hands on bytes that the walk has passed. Returns how many nghttp2 took: all of them, or those before a break.
  std::size_t receive(std::string_view bytes);

  H2Connection& connection_;
  H2Receiver& receiver_;
  H2FrameWalk walk_;
  std::size_t ahead_ = 0;  // bytes that the walk has passed, and nghttp2 has not seen
  bool stopped_ = false;   // the walk has stopped after them, before a frame that must be judged first
  bool pauses_ = false;
  base::ByteQueue kept_;
  HeadCharge charge_;
};

}  // namespace sluice::http
