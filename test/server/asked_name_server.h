// A name server that does nothing by itself: the test waits for its question, and may answer it. And a configuration
// that has a name resolved by it.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "proxy/routing/snapshot.h"
#include "test/net/socket_pair.h"
#include "test/support/table_entry.h"

namespace sluice::test {

class AskedNameServer {
 public:
  AskedNameServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* at = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd_.get(), at, length) != 0 || ::getsockname(fd_.get(), at, &length) != 0) std::abort();
    const timeval patience{10, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    name_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  /// Returns settings by which only this server is queried, and answers are not cached.
  base::DnsSettings settings() const {
    base::DnsSettings settings;
    settings.servers = {name_};
    settings.minTtl = base::Duration::zero();
    return settings;
  }
  /// Waits for a question; returns false if none comes.
  bool isAsked() {
    char bytes[512];
    socklen_t length = sizeof asker_;
    const ssize_t count = ::recvfrom(fd_.get(), bytes, sizeof bytes, 0, reinterpret_cast<sockaddr*>(&asker_), &length);
    question_.assign(bytes, count > 0 ? static_cast<std::size_t>(count) : 0);
    return count > 0;
  }
  /// Answers the last question by an address of loopback that may not be cached.
  void answer() const {
    constexpr std::size_t kHeaderSize = 12;
    const std::size_t end = question_.find('\0', kHeaderSize) + 5;
    const std::string reply = question_.substr(0, 2) + std::string("\x81\x80\0\1\0\1\0\0\0\0", 10) +
                              question_.substr(kHeaderSize, end - kHeaderSize) +
                              std::string("\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1", 16);
    ::sendto(fd_.get(), reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&asker_), sizeof asker_);
  }
  /// Refuses questions from now on.
  void die() { fd_.close(); }

 private:
  Descriptor fd_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::string name_;
  std::string question_;
  sockaddr_in asker_{};
};

/// Returns a configuration whose requests all go to one Backend, of that name.
inline std::shared_ptr<const routing::Snapshot> snapshotWithDns(const std::string& hostname,
                                                                const base::DnsSettings& dns) {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = "demo/origin";
  plan->identity = plan->hostname = plan->authority = hostname;
  plan->port = 80;
  plan->protocol = routing::UpstreamProtocol::kHttp11;
  auto rule = std::make_shared<routing::Rule>();
  rule->backends.emplace_back().backend = plan;
  rule->totalWeight = 1;
  routing::RouteTableBuilder builder;
  builder.addListener("");
  routing::test::TableEntry entry;
  entry.rule = std::move(rule);
  EXPECT_TRUE(routing::test::addTo(builder, std::move(entry)).ok());
  auto snapshot = std::make_shared<routing::Snapshot>();
  snapshot->settings.dns = dns;
  snapshot->backends = {plan};
  snapshot->binds.emplace_back().service = routing::HttpService{builder.build()};
  return snapshot;
}

}  // namespace sluice::test
