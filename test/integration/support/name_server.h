// Runs dnsmasq on loopback, authoritative for every name below "test": its records can be changed while it runs, and
// its queries are counted from its log.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"

namespace sluice::test {

class NameServer {
 public:
  using Records = std::map<std::string, std::vector<std::string>>;  // names with their addresses

  /// Returns when the server answers. `ttl` is in seconds.
  explicit NameServer(const Records& records, int ttl = 60);

  /// Returns "127.0.0.1:PORT".
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Returns the number of queries for a name's A records so far, repeated ones included.
  int asked(const std::string& name) const;
  /// Replaces all records, and returns when the server uses the new ones.
  void change(const Records& records);
  /// Stops the server, which still receives queries but does not answer any more.
  void fallSilent() { process_->signal(SIGSTOP); }
  void speakAgain() { process_->signal(SIGCONT); }
  /// Kills the server.
  void die();
  /// Starts the server again at the same address; it lives as long as the calling thread.
  void revive() { start(); }

 private:
  void start();
  void write(const Records& records) const;
  /// Sends the signal and waits for one more such line.
  void awaitAnother(const std::string& line, int signal) const;

  TempDir folder_;
  int ttl_;
  std::uint16_t port_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace sluice::test
