// One attempt to reach an address by TCP or UDP, for commands that check whether there is a path to it, and find out
// what blocks the path.
//
// TCP: a connection is opened and closed at once. UDP: a query for the name servers of the root is sent, up to three
// times, and any answer is a success. An ICMP error is reported with its sender, which shows whether the address itself
// or a machine on the path has refused. Owned by the caller. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/net/address.h"
#include "proxy/net/poll.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"

namespace sluice::net {

enum class ProbeProtocol : std::uint8_t { kTcp, kUdp };

enum class ProbeResult : std::uint8_t {
  kReached,      // a connection was established, or a datagram came back
  kRefused,      // the address refused, by RST or by ICMP; a firewall may have done so in its name
  kRejected,     // another machine refused by ICMP
  kUnreachable,  // this machine has no route to the address, or does not permit it
  kTimedOut,     // nothing came back
  kFailed        // this machine could not even try, as without free descriptors
};

struct ProbeOutcome {
  ProbeResult result;
  std::string detail;             // the system's words for it; empty if there are none
  std::optional<Address> sender;  // the machine that refused by ICMP; its port has no meaning
};

class ProbeSink {
 public:
  virtual ~ProbeSink() = default;
  /// Called inside a Turn when a probe has its outcome, but not from within its constructor. May not destroy the probe.
  virtual void onProbed() = 0;
};

class DialProbe final : private PollSink, private Timer {
 public:
  /// Starts the probe. If that fails at once, there is an outcome when the constructor returns.
  DialProbe(Worker& worker, ProbeProtocol protocol, const Address& to, base::Duration timeout, ProbeSink& sink);
  ~DialProbe() override;
  DialProbe(const DialProbe&) = delete;
  DialProbe& operator=(const DialProbe&) = delete;

  /// Returns nothing while the probe is open.
  const std::optional<ProbeOutcome>& outcome() const { return outcome_; }

 private:
  /// The number of times that a datagram is sent, because one may be lost. TCP repeats by itself.
  static constexpr int kDatagrams = 3;

  /// Returns the error of the system, or 0 if the probe is on its way.
  int open();
  bool sendQuestion();
  void onReady(bool readable, bool writable) override;
  void onTimer() override;
  void end(ProbeResult result, std::string detail = {}, std::optional<Address> sender = {});
  void endByError(int error);

  Worker& worker_;
  const ProbeProtocol protocol_;
  const Address to_;
  ProbeSink& sink_;
  const base::MonotonicTime deadline_;
  const base::Duration pause_;  // between two datagrams
  int fd_ = -1;
  int datagrams_ = 0;
  std::optional<Poll> poll_;
  std::optional<ProbeOutcome> outcome_;
};

}  // namespace sluice::net
