// An HTTP/1.1 origin for many connections at once, whose behaviour a test switches while requests come. One thread with
// an event loop serves all connections.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

/// The behaviour of a SwitchedOrigin for a request.
enum class OriginMode : std::uint8_t {
  kServe,   // answers 200 with its name
  kHold,    // keeps the request until the mode changes, and then treats it by the new mode
  kBusy,    // answers 503
  kBroken,  // answers 500
  kReset    // resets the connection
};

class SwitchedOrigin {
 public:
  /// Listens at that address of 127.0.0.0/8, at a port from the kernel if `port` is 0.
  explicit SwitchedOrigin(std::string name, const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  ~SwitchedOrigin();
  SwitchedOrigin(const SwitchedOrigin&) = delete;
  SwitchedOrigin& operator=(const SwitchedOrigin&) = delete;

  std::uint16_t port() const { return port_; }
  /// Applies the mode to the requests that it holds, and to all later ones.
  void set(OriginMode mode);
  /// Resets all connections, and refuses further ones.
  void leave();
  /// Accepts connections again and serves. With `probes` it answers that many health checks before the first request,
  /// and holds further ones until then.
  void comeBack(std::size_t probes = kAny);
  static constexpr std::size_t kAny = SIZE_MAX;
  /// Accepts health checks, GET /healthz, from now on without an answer.
  void holdProbes();

  /// Wait until it has so many requests, health checks or held requests; return false if that does not happen.
  bool hears(std::size_t requests);
  bool isProbed(std::size_t probes);
  bool holds(std::size_t requests);
  /// Waits until no client is connected any more.
  bool isDeserted();

  /// Returns the number of requests so far, without health checks.
  std::size_t requests() const;
  std::size_t probes() const;
  std::size_t connections() const;
  /// Returns the heads of all requests, and of health checks.
  std::vector<std::string> heads() const;

 private:
  /// A connection with the bytes that it has sent and that are not read yet.
  struct SwitchedPeer {
    std::string unread;
    bool held = false;  // it waits for the answer to its last request
  };

  void listen();
  void loop();
  void accept();
  void read(int fd);
  void take(int fd, SwitchedPeer& peer);
  void answer(int fd, SwitchedPeer& peer);
  void drop(int fd);
  bool answersProbe() const { return !holdsProbes_ && probesLeft_ > 0; }
  bool await(const std::function<bool()>& holds);
  std::size_t heldCount() const;

  const std::string name_;
  const std::string address_;
  std::uint16_t port_;
  const int poll_;
  const int stop_;
  int holder_ = -1;  // reserves the port while the origin does not listen

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  int listener_ = -1;
  std::map<int, SwitchedPeer> peers_;
  OriginMode mode_ = OriginMode::kServe;
  std::size_t requests_ = 0;
  std::size_t probes_ = 0;
  std::size_t probesLeft_ = kAny;
  bool holdsProbes_ = false;
  std::vector<std::string> heads_;
  std::thread thread_;
};

}  // namespace sluice::test
