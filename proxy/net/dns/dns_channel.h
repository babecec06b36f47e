// Runs c-ares on the worker's loop: one question, one answer. Caches nothing. Internal to proxy/net, owned by the
// resolver.
//
// Asks name servers only: no hosts file, no search domains, no aliases. Each try of each server has `timeout`, without
// the doubling that c-ares would do between its own rounds. Truncated answers are asked for again by TCP. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/settings.h"
#include "proxy/net/dns/dns_answer.h"
#include "proxy/net/poll.h"
#include "proxy/net/timers.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace sluice::net {

class DnsChannelSink {
 public:
  virtual ~DnsChannelSink() = default;
  /// Called from within c-ares, also from within ask(): may only record.
  virtual void onAnswer(DnsAnswer answer) = 0;
  /// Called inside a Turn once c-ares is off the stack; onAnswer() may have been called before.
  virtual void onProcessed() = 0;
};

class DnsChannel final : private Timer {
 public:
  /// Fails with an error of config's origin if a server is no address.
  static base::Result<std::unique_ptr<DnsChannel>> open(Worker& worker, const base::DnsSettings& settings,
                                                        DnsChannelSink& sink);
  /// Drops the questions in flight: the sink is not called again.
  ~DnsChannel() override;
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  /// Asks for a name; the answer arrives by the sink's onAnswer().
  void ask(std::string_view name);

 private:
  struct DnsSocket;
  struct DnsQuery;
  DnsChannel(Worker& worker, const base::DnsSettings& settings, DnsChannelSink& sink);
  base::Result<bool> init(const std::vector<std::string>& servers);
  void send(std::unique_ptr<DnsQuery> question);
  void answered(std::unique_ptr<DnsQuery> question, int status, const ares_addrinfo* info);
  void socketState(int fd, bool readable, bool writable);
  void process(int readable, int writable);
  void arm();
  void onTimer() override;

  Worker& worker_;
  DnsChannelSink& sink_;
  const base::Duration timeout_;
  const int attempts_;
  const std::size_t maxAddresses_;
  const bool ipv6_;
  ares_channeldata* channel_ = nullptr;
  std::vector<std::unique_ptr<DnsSocket>> sockets_;  // a few at most
};

}  // namespace sluice::net
