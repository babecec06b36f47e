// A network of a test's own, in which Pods have addresses: a network namespace with loopback and a bridge. It needs
// root, and leaves nothing of itself on the machine.
#pragma once

#include <string>

namespace sluice::test {

class PodNetwork {
 public:
  static constexpr const char* kBridge = "pods";
  static constexpr const char* kAddress = "10.88.0.1";  // the bridge's, by which Pods reach programs of the test
  static constexpr const char* kRange = "10.88.0.0/16";

  /// Returns the reason why there can be none here; empty if there can.
  static std::string obstacle();

  /// Moves the main thread, and with it all threads and programs that it starts from now on, into the network.
  PodNetwork();
  /// Moves it back. The network goes with the last program that is in it.
  ~PodNetwork();
  PodNetwork(const PodNetwork&) = delete;
  PodNetwork& operator=(const PodNetwork&) = delete;

 private:
  int before_ = -1;  // the network in which the thread was
};

}  // namespace sluice::test
