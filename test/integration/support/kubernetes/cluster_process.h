// Runs `sluice controller`, or `sluice run --kubernetes`, for a test, with ports of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/child_process.h"

namespace sluice::test {

class ClusterProcess {
 public:
  /// The lines that are logged when a process has got the Lease, and when it has lost it or given it back.
  static constexpr const char* kLeads = "this controller leads";
  static constexpr const char* kLeadsNoMore = "this controller does not lead any more";

  /// Starts it; `command` is the command with its flags but for --kubeconfig, --admin and --health. `startedBy` is a
  /// program that executes it, with its arguments.
  ClusterProcess(std::vector<std::string> command, const std::string& kubeconfig,
                 std::vector<std::string> startedBy = {});
  /// Stops it by SIGTERM, unless it has ended: an exit code other than 0 is a test failure.
  ~ClusterProcess();
  ClusterProcess(const ClusterProcess&) = delete;
  ClusterProcess& operator=(const ClusterProcess&) = delete;

  /// Ends it by SIGTERM and returns when it has ended; another exit code than 0 is a test failure.
  void stop();
  /// Ends it as a lost machine would.
  void kill();
  /// Waits until it has logged that it leads; it is a test failure if it does not in time.
  void waitUntilItLeads();
  ChildProcess& process() { return process_; }
  /// Returns the body of a page of the admin port; empty if it does not answer 200.
  std::string adminGet(const std::string& target) const;

 private:
  std::uint16_t adminPort_ = freePort();
  std::uint16_t healthPort_ = freePort();
  ChildProcess process_;
  bool over_ = false;
};

}  // namespace sluice::test
