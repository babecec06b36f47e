// dnsmasq on loopback as the one who knows every name below "test": what it says is changed while it runs, and what it
// was asked is counted from its log.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/process.h"

namespace sluice::test {

class NameServer {
 public:
  using Records = std::map<std::string, std::vector<std::string>>;  // name -> addresses

  /// Returns when it answers. `ttl` in seconds.
  explicit NameServer(const Records& records, int ttl = 60);

  /// "127.0.0.1:PORT".
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Questions for a name's A records so far, repeated ones too.
  int asked(const std::string& name) const;
  /// Returns when it knows the new ones, and nothing else.
  void change(const Records& records);
  /// It takes questions but does not answer any more.
  void fallSilent() { process_->signal(SIGSTOP); }
  void speakAgain() { process_->signal(SIGCONT); }
  /// It is gone.
  void die();
  /// It is back at the same address, and lives as long as the calling thread.
  void revive() { start(); }

 private:
  void start();
  void write(const Records& records) const;
  /// Sends the signal and waits for one more such line.
  void awaitAnother(const std::string& line, int signal) const;

  TempDir folder_;
  int ttl_;
  std::uint16_t port_;
  std::unique_ptr<Process> process_;
};

}  // namespace sluice::test
