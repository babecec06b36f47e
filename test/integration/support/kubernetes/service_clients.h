// Clients of a Service that reach its Pods as kube-proxy leads them: each connection goes to one of the endpoints that
// are ready, one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/child_process.h"

namespace sluice::test {

class ServiceClients {
 public:
  /// Clients of a Service with EndpointSlices in this namespace, at that port. Half of the clients make a connection
  /// for each request; the others keep theirs until a response says that the server closes it. Each sends GET requests
  /// with this path and waits for the answer, until stop() or until it has sent kMostRequests. No request is repeated.
  /// Main thread.
  ServiceClients(const std::string& kubeconfig, const std::string& nameSpace, const std::string& service,
                 std::uint16_t port, std::string path);
  ~ServiceClients() { stop(); }
  ServiceClients(const ServiceClients&) = delete;
  ServiceClients& operator=(const ServiceClients&) = delete;
  void stop();

  /// Returns the addresses that are ready, as the clients know them.
  std::vector<std::string> ready() const;
  /// Waits until so many requests more have got an answer of 200 since this call.
  bool goOn(int requests) const;
  int answered() const { return answered_; }
  /// Returns how many requests failed, and at which addresses: had no answer, or another one than 200.
  std::map<std::string, int> failures() const;
  /// Returns the failures with their reasons, for people.
  std::string report() const;

 private:
  static constexpr int kClients = 4;
  // With the pause between two of them, more than the test that takes longest may take.
  static constexpr int kMostRequests = 120'000;

  struct EndpointConnection {
    BlockingSocket socket;
    std::string address;
  };

  void askAll(std::uint16_t port, const std::string& path, bool keeps);
  void connect(EndpointConnection& connection, std::uint16_t port);
  void fail(const std::string& address, const std::string& reason);

  TempDir folder_;
  ChildProcess follower_;  // prints the addresses that are ready whenever they change
  std::atomic<bool> stopping_ = false;
  std::atomic<int> answered_ = 0;
  std::atomic<std::size_t> turn_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, int> failures_;
  std::map<std::string, int> reasons_;
  std::vector<std::thread> clients_;
};

}  // namespace sluice::test
