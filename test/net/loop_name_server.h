// A name server on the test's own loop: it answers as the script says, by UDP and, if the answer is truncated or longer
// than the question allows, by TCP.
// Counts questions, and notes where they come from.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/poll.h"
#include "proxy/net/tcp_listener.h"
#include "test/net/socket_pair.h"

namespace sluice::test {

class LoopNameServer final : private net::PollSink {
 public:
  enum class Reply { kAnswer, kNoSuchName, kServerFailure, kFormatError, kRefusal, kSilence, kCutOff, kOtherQuestion };
  struct NameScript {
    Reply reply = Reply::kAnswer;
    std::vector<std::string> addresses = {};  // IPv4 and IPv6; each question gets the addresses of its type
    unsigned ttl = 60;
    std::string alias = {};  // if not empty, the name is an alias of this one, which has the addresses
    unsigned aliasTtl = 60;
    int silences = 0;        // questions dropped before the first answer
    int failures = 0;        // questions answered by SERVFAIL before the first answer
    bool truncated = false;  // by UDP; TCP gets the whole answer
    bool silentByTcp = false;
    bool silentToEdns = false;  // drops questions with EDNS
    bool refusesEdns = false;   // answers them by FORMERR
    bool silentToAaaa = false;
    bool held = false;  // the reply by UDP waits for release()
  };

  explicit LoopNameServer(net::Worker& worker)
      : worker_(worker),
        tcp_(listenOnLoopback()),
        address_(tcp_->address()),
        udp_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
        listener_(std::in_place, worker, *tcp_, [this](int fd, const net::Address&) { serveTcp(fd); }),
        poll_(worker, udp_.get(), *this) {
    ::bind(udp_.get(), address_.sockaddrPtr(), address_.length());
    poll_.watch(true, false);
  }

  std::string server() const { return address_.toString(); }
  NameScript& operator[](const std::string& name) { return scripts_[name]; }
  /// Returns the number of questions for A and AAAA, by UDP and TCP.
  int asked(const std::string& name) { return asked_[name]; }
  int askedByTcp() const { return askedByTcp_; }
  /// Returns the number of questions by UDP, and of the ports that they came from.
  std::size_t datagrams() const { return datagrams_; }
  std::size_t ports() const { return ports_.size(); }
  std::size_t held() const { return held_.size(); }
  /// Sends the replies that were held.
  void release() {
    for (const HeldReply& one : std::exchange(held_, {})) send(one);
  }
  /// Refuses connections by TCP from now on.
  void refuseTcp() {
    listener_.reset();
    tcp_.reset();
  }

 private:
  struct HeldReply {
    std::string bytes;
    net::Address to;
  };
  static constexpr std::size_t kHeaderSize = 12;
  static constexpr int kTypeA = 1;
  static constexpr int kTypeAlias = 5;
  static constexpr int kTypeAaaa = 28;

  static void put16(std::string& out, unsigned value) {
    out += static_cast<char>(value >> 8 & 0xff);
    out += static_cast<char>(value & 0xff);
  }
  static std::string encodeName(std::string_view name) {
    std::string out;
    while (!name.empty()) {
      const std::string_view label = name.substr(0, name.find('.'));
      out += static_cast<char>(label.size());
      out += label;
      name.remove_prefix(std::min(name.size(), label.size() + 1));
    }
    return out + '\0';
  }
  static void putRecord(std::string& out, std::string_view owner, int type, unsigned ttl, std::string_view data) {
    out += owner;
    put16(out, static_cast<unsigned>(type));
    put16(out, 1);
    put16(out, ttl >> 16);
    put16(out, ttl & 0xffff);
    put16(out, static_cast<unsigned>(data.size()));
    out += data;
  }

  static std::string nameIn(std::string_view query) {
    std::string name;
    std::size_t at = kHeaderSize;
    while (query[at] != '\0') {
      const auto length = static_cast<std::size_t>(query[at]);
      name.append(name.empty() ? "" : ".").append(query.substr(at + 1, length));
      at += length + 1;
    }
    return name;
  }

  /// Returns the reply; empty if there is none.
  std::string answer(std::string_view query, bool byTcp) {
    const std::string name = nameIn(query);
    const std::size_t at = kHeaderSize + name.size() + 1;
    const int type = static_cast<unsigned char>(query[at + 2]);
    ++asked_[name];
    if (byTcp) ++askedByTcp_;
    NameScript& script = scripts_[name];
    if (script.reply == Reply::kSilence || script.silences-- > 0) return {};
    if ((script.silentByTcp && byTcp) || (script.silentToEdns && hasEdns(query))) return {};
    if (script.silentToAaaa && type == kTypeAaaa) return {};
    const std::string_view id = query.substr(0, 2);
    const std::string_view question = query.substr(kHeaderSize, at + 5 - kHeaderSize);
    if (script.failures-- > 0) return reply({.reply = Reply::kServerFailure}, id, question, type, false);
    if (script.refusesEdns && hasEdns(query)) return reply({.reply = Reply::kFormatError}, id, question, type, false);
    if (script.reply == Reply::kOtherQuestion) {
      return reply(script, id, encodeName("other.test") + std::string("\0\1\0\1", 4), type, false);
    }
    const std::string whole = reply(script, id, question, type, false);
    const bool truncated = !byTcp && (script.truncated || whole.size() > mostBytes(query));
    return truncated ? reply(script, id, question, type, true) : whole;
  }

  static bool hasEdns(std::string_view query) { return query[11] != '\0'; }
  /// Returns the length of a reply that the question allows by UDP (RFC 6891 section 6.1.2; the option is the last
  /// record, and empty).
  static std::size_t mostBytes(std::string_view query) {
    if (!hasEdns(query)) return 512;
    const std::string_view size = query.substr(query.size() - 8, 2);
    return static_cast<unsigned char>(size[0]) * 256u + static_cast<unsigned char>(size[1]);
  }

  static std::string reply(const NameScript& script, std::string_view id, std::string_view question, int type,
                           bool truncated) {
    std::string records;
    unsigned count = 0;
    std::string owner = "\xc0\x0c";  // the question's name
    if (!script.alias.empty()) {
      putRecord(records, owner, kTypeAlias, script.aliasTtl, encodeName(script.alias));
      owner = encodeName(script.alias);
      ++count;
    }
    for (const std::string& text : script.addresses) {
      const net::Address address = *net::Address::parse(text, 0);
      if (address.isIpv6() != (type == kTypeAaaa)) continue;
      const auto* bytes = reinterpret_cast<const char*>(address.sockaddrPtr());
      putRecord(records, owner, type, script.ttl,
                address.isIpv6() ? std::string_view(bytes + 8, 16) : std::string_view(bytes + 4, 4));
      ++count;
    }
    const std::map<Reply, unsigned> codes = {
        {Reply::kFormatError, 1}, {Reply::kServerFailure, 2}, {Reply::kNoSuchName, 3}, {Reply::kRefusal, 5}};
    const unsigned rcode = codes.contains(script.reply) ? codes.at(script.reply) : 0;
    std::string out(id);
    put16(out, 0x8180 | rcode | (truncated ? 0x0200 : 0));
    put16(out, 1);
    put16(out, truncated ? 0 : script.reply == Reply::kCutOff ? 5 : count);
    put16(out, 0);
    put16(out, 0);
    out += question;
    return truncated ? out : out + records;
  }

  void onReady(bool, bool) override {
    char bytes[1500];
    sockaddr_storage from{};
    socklen_t length = sizeof(from);
    auto* peer = reinterpret_cast<sockaddr*>(&from);
    ssize_t count = 0;
    while ((count = ::recvfrom(udp_.get(), bytes, sizeof(bytes), 0, peer, &length)) > 0) {
      const std::string_view query(bytes, static_cast<std::size_t>(count));
      const HeldReply out{answer(query, false), net::Address::fromSockaddr(peer)};
      ++datagrams_;
      ports_.insert(out.to.port());
      if (scripts_[nameIn(query)].held) {
        held_.push_back(out);
      } else {
        send(out);
      }
    }
  }
  void send(const HeldReply& reply) const {
    if (reply.bytes.empty()) return;
    ::sendto(udp_.get(), reply.bytes.data(), reply.bytes.size(), 0, reply.to.sockaddrPtr(), reply.to.length());
  }

  struct TcpClient final : net::PollSink {
    TcpClient(LoopNameServer& owner, int descriptor)
        : stub(owner), fd(descriptor), poll(owner.worker_, descriptor, *this) {
      poll.watch(true, false);
    }
    void onReady(bool, bool) override {
      if (readAvailable(fd, received) == 0) poll.watch(false, false);
      if (received.size() < 2) return;
      const std::size_t length =
          static_cast<unsigned char>(received[0]) * 256u + static_cast<unsigned char>(received[1]);
      if (received.size() < 2 + length) return;
      const std::string body = stub.answer(std::string_view(received).substr(2, length), true);
      if (body.empty()) return received.clear();
      std::string out;
      put16(out, static_cast<unsigned>(body.size()));
      sendAll(fd, out + body);
      received.erase(0, 2 + length);
    }

    LoopNameServer& stub;
    Descriptor fd;
    net::Poll poll;
    std::string received;
  };
  void serveTcp(int fd) { clients_.push_back(std::make_unique<TcpClient>(*this, fd)); }

  net::Worker& worker_;
  std::optional<net::ListenSocket> tcp_;
  const net::Address address_;
  Descriptor udp_;
  std::map<std::string, NameScript> scripts_;
  std::map<std::string, int> asked_;
  int askedByTcp_ = 0;
  std::size_t datagrams_ = 0;
  std::set<std::uint16_t> ports_;
  std::vector<HeldReply> held_;
  std::vector<std::unique_ptr<TcpClient>> clients_;
  std::optional<net::TcpListener> listener_;
  net::Poll poll_;
};

using DnsReply = LoopNameServer::Reply;

}  // namespace sluice::test
