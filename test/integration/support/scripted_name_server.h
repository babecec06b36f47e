// A name server that replies with exactly the bytes that a test gives it, well-formed or not, over UDP on loopback,
// with a thread of its own. Nothing listens on its TCP port.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "test/integration/support/blocking_socket.h"

namespace sluice::test {

struct DnsQuestion {
  static constexpr std::uint16_t kA = 1;
  static constexpr std::uint16_t kAaaa = 28;

  std::string name;  // "origin.test"
  std::uint16_t type = 0;
  /// number of earlier queries of this type
  int number = 0;
  /// the port that it came from
  std::uint16_t port = 0;
  /// the query's bytes as they came, to be answered byte by byte: the id, and the question section
  std::string id;
  std::string section;
};

class ScriptedNameServer {
 public:
  struct Datagram {
    std::string bytes;
    /// True sends the datagram from another port than the one that was queried.
    bool fromElsewhere = false;
  };
  /// Returns the datagrams that answer one query, in order; none is silence. Runs on the stub's thread.
  using Script = std::function<std::vector<Datagram>(const DnsQuestion&)>;

  explicit ScriptedNameServer(Script script);
  ~ScriptedNameServer();
  ScriptedNameServer(const ScriptedNameServer&) = delete;
  ScriptedNameServer& operator=(const ScriptedNameServer&) = delete;

  /// Returns "127.0.0.1:PORT".
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Applies the script from the next query on.
  void say(Script script);
  /// Returns the number of queries for A records so far.
  int asked() const { return asked_; }

 private:
  void serve();

  std::mutex mutex_;
  Script script_;
  std::uint16_t port_ = 0;
  BlockingSocket socket_;
  BlockingSocket elsewhere_;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// Returns 16 bits in network order.
std::string dnsNumber(std::size_t number);
/// Returns a reply's header and question; `flags` is the second 16-bit word of the header, a valid answer by default.
std::string dnsHead(const DnsQuestion& question, std::size_t answers, std::size_t flags = 0x8580);
/// Returns a record of the queried name.
std::string dnsRecord(std::size_t type, std::string_view data, std::size_t ttl = 0);
/// Returns a valid reply with those of the addresses that have the queried type.
std::string dnsReply(const DnsQuestion& question, const std::vector<std::string>& addresses, std::size_t ttl = 0);
/// Returns a script that always replies with these addresses.
ScriptedNameServer::Script dnsAlways(const std::vector<std::string>& addresses);

}  // namespace sluice::test
