// A name server that says exactly what a test gives it, well-formed or not: UDP on loopback, a thread. Nobody listens
// on its TCP port.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "test/integration/support/socket.h"

namespace sluice::test {

struct DnsQuestion {
  static constexpr std::uint16_t kA = 1;
  static constexpr std::uint16_t kAaaa = 28;

  std::string name;  // "origin.test"
  std::uint16_t type = 0;
  /// How many of this type were asked before.
  int number = 0;
  /// As it came, to be answered byte by byte: the id, and the section of questions.
  std::string id;
  std::string section;
};

class DnsStub {
 public:
  struct Datagram {
    std::string bytes;
    /// Sent from another port than the one that was asked.
    bool fromElsewhere = false;
  };
  /// What one question is answered with, in order; nothing: silence. Runs on the stub's thread.
  using Script = std::function<std::vector<Datagram>(const DnsQuestion&)>;

  explicit DnsStub(Script script);
  ~DnsStub();
  DnsStub(const DnsStub&) = delete;
  DnsStub& operator=(const DnsStub&) = delete;

  /// "127.0.0.1:PORT".
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// From the next question on.
  void say(Script script);
  /// Questions for A records so far.
  int asked() const { return asked_; }

 private:
  void serve();

  std::mutex mutex_;
  Script script_;
  std::uint16_t port_ = 0;
  Socket socket_;
  Socket elsewhere_;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// 16 bits, in network order.
std::string dnsNumber(std::size_t number);
/// A reply's header and question; `flags` is the second word of the header, a good answer by default.
std::string dnsHead(const DnsQuestion& question, std::size_t answers, std::size_t flags = 0x8580);
/// A record of the name that was asked for.
std::string dnsRecord(std::size_t type, std::string_view data, std::size_t ttl = 0);
/// A good reply: those of the addresses that are of the type that was asked for.
std::string dnsReply(const DnsQuestion& question, const std::vector<std::string>& addresses, std::size_t ttl = 0);
/// A script that says the same at any time.
DnsStub::Script dnsAlways(const std::vector<std::string>& addresses);

}  // namespace sluice::test
