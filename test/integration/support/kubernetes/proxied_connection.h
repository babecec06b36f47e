// One connection through a FaultProxy, from a client to the server, on a thread of its own.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/kubernetes/proxy_faults.h"
#include "test/integration/support/kubernetes/request_follower.h"
#include "test/integration/support/kubernetes/tls_pipe.h"

namespace sluice::test {

/// A socket with the bytes that are still to be sent on it. With TLS it shows plaintext, else the bytes as they are.
/// Never blocks.
class ProxySide {
 public:
  ProxySide(BlockingSocket socket, std::optional<TlsPipe> tls);

  BlockingSocket& socket() { return socket_; }
  bool speaksTls() const { return tls_.has_value(); }
  /// Returns the events to poll for: sending, and reading if `reads`.
  pollfd watched(bool reads) const;
  /// Appends the bytes that have come. Returns false once the peer has ended.
  bool receive(std::string& bytes);
  void send(std::string_view bytes);
  /// Sends as much as the peer takes now; returns false if it is gone.
  bool flush();
  bool hasSentAll() const { return output_.empty(); }
  bool hasRoom() const { return output_.size() < kRoom; }
  /// Sends close_notify, if this is TLS.
  void finish();

 private:
  static constexpr std::size_t kRoom = 256 * 1024;

  BlockingSocket socket_;
  std::optional<TlsPipe> tls_;
  std::string output_;
};

class ProxiedConnection {
 public:
  ProxiedConnection(ProxySide client, ProxySide server, ProxyFaults& faults);
  /// Ends both connections.
  ~ProxiedConnection();
  ProxiedConnection(const ProxiedConnection&) = delete;
  ProxiedConnection& operator=(const ProxiedConnection&) = delete;

  /// Has it look at the faults again.
  void wake() const;
  bool hasEnded() const { return ended_; }

 private:
  enum class Phase { kOpen, kServerEnded, kCut };

  void run();
  /// Moves bytes once; returns false when both connections are to be closed.
  bool move();
  bool moveRequests();
  void moveResponses();
  void forward(std::string_view bytes);
  void conclude();

  ProxySide client_;
  ProxySide server_;
  ProxyFaults& faults_;
  RequestFollower requests_;
  std::string head_;                    // of the last request
  std::optional<std::size_t> request_;  // its number
  bool answered_ = false;               // in the server's place: the body of that request is dropped
  std::optional<Cut> cut_;
  std::optional<CutPoint> point_;
  Phase phase_ = Phase::kOpen;
  BlockingSocket wakeUp_;
  std::atomic<bool> ending_ = false;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace sluice::test
