// The lookup of one name as any program of this machine makes it: with /etc/hosts, the name servers and the search
// domains of /etc/resolv.conf. So the short names of a cluster's Services are found, which the resolver never does.
//
// It is for commands: nothing is cached, and nothing blocks but the reading of those two files. Owned by the caller.
// One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/net/address.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace sluice::net {

class SystemLookup final : private Timer {
 public:
  /// Asks for the addresses of both families. `done` is called once, inside a Turn, when there is an answer, but not if
  /// there is one when the constructor returns. It may not destroy the lookup. `servers` are asked in place of the
  /// system's, if there are any.
  SystemLookup(Worker& worker, std::string name, base::Duration timeout, std::function<void()> done,
               const Addresses& servers = {});
  ~SystemLookup() override;
  SystemLookup(const SystemLookup&) = delete;
  SystemLookup& operator=(const SystemLookup&) = delete;

  /// Returns the addresses, with port 0, or dns_error or dns_timeout; nothing while the lookup is open.
  const std::optional<base::Result<Addresses>>& answer() const { return answer_; }

 private:
  struct LookupSocket;
  int open(const Addresses& servers);
  void take(int status, const ares_addrinfo* info);
  void fail(base::ErrorType type, const char* reason);
  void socketState(int fd, bool readable, bool writable);
  void process(int readable, int writable);
  void proceed();
  void onTimer() override;

  Worker& worker_;
  const std::string name_;
  const base::MonotonicTime deadline_;
  const std::function<void()> done_;
  std::vector<std::unique_ptr<LookupSocket>> sockets_;
  ares_channeldata* channel_ = nullptr;
  std::optional<base::Result<Addresses>> answer_;
};

}  // namespace sluice::net
