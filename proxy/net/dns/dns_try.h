// One question to one name server, on a c-ares channel of its own. So it has its own source port and id, which an
// attacker would have to guess for each question in order to forge an answer, and a failure of its sockets affects no
// other question. Internal to proxy/net, owned by a DnsLookup. One thread.
//
// It asks by UDP, and again by TCP if the answer is truncated. No hosts file, no search domains, no aliases of the
// system are used.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/dns/dns_answer.h"
#include "proxy/net/poll.h"
#include "proxy/net/timers.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace sluice::net {

class DnsTrySink {
 public:
  virtual ~DnsTrySink() = default;
  /// Called inside a Turn when the try has an outcome, but not from within its constructor. May destroy the try.
  virtual void onTried() = 0;
};

class DnsTry final : private Timer {
 public:
  struct DnsTryParts {
    Worker& worker;
    const std::string& name;
    bool ipv6;  // asks for AAAA records instead of A records
    const Address& server;
    bool edns;  // allows answers of kDatagramSize bytes; the server may not know this extension
    base::Duration timeout;
    std::size_t maxAddresses;
  };
  /// The length of an answer that no link on its way has to cut in pieces.
  static constexpr int kDatagramSize = 1232;

  /// Sends the question. If that fails at once, there is an outcome when the constructor returns.
  DnsTry(const DnsTryParts& parts, DnsTrySink& sink);
  ~DnsTry() override;
  DnsTry(const DnsTry&) = delete;
  DnsTry& operator=(const DnsTry&) = delete;

  /// An answer, a denial, or a failure of this server; nothing while the question is open.
  std::optional<DnsAnswer>& outcome() { return outcome_; }

 private:
  struct DnsSocket;
  int open(const DnsTryParts& parts);
  void ask(bool ipv6);
  void end(int status, const ares_addrinfo* info);
  void socketState(int fd, bool readable, bool writable);
  void process(int readable, int writable);
  void onTimer() override;

  Worker& worker_;
  DnsTrySink& sink_;
  const std::string name_;
  const Address server_;
  const std::size_t maxAddresses_;
  std::optional<DnsAnswer> outcome_;
  std::vector<std::unique_ptr<DnsSocket>> sockets_;  // one for UDP, and one for TCP
  ares_channeldata* channel_ = nullptr;
};

}  // namespace sluice::net
