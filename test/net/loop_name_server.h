// A name server on the test's own loop: it answers as the script says, by UDP and, if the answer is truncated, by TCP.
// Counts questions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/poll.h"
#include "proxy/net/tcp_listener.h"
#include "test/net/socket_pair.h"

namespace sluice::test {

class LoopNameServer final : private net::PollSink {
 public:
  enum class Reply { kAnswer, kNoSuchName, kServerFailure, kSilence, kCutOff, kOtherQuestion };
  struct NameScript {
    Reply reply = Reply::kAnswer;
    std::vector<std::string> addresses = {};  // IPv4 and IPv6; each question gets the addresses of its type
    unsigned ttl = 60;
    std::string alias = {};  // if not empty, the name is an alias of this one, which has the addresses
    unsigned aliasTtl = 60;
    int silences = 0;        // questions dropped before the first answer
    bool truncated = false;  // by UDP; TCP gets the whole answer
  };

  explicit LoopNameServer(net::Worker& worker)
      : worker_(worker),
        tcp_(listenOnLoopback()),
        udp_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
        listener_(worker, tcp_, [this](int fd, const net::Address&) { serveTcp(fd); }),
        poll_(worker, udp_.get(), *this) {
    ::bind(udp_.get(), tcp_.address().sockaddrPtr(), tcp_.address().length());
    poll_.watch(true, false);
  }

  std::string server() const { return tcp_.address().toString(); }
  NameScript& operator[](const std::string& name) { return scripts_[name]; }
  /// Returns the number of questions for A and AAAA, by UDP and TCP.
  int asked(const std::string& name) { return asked_[name]; }
  int askedByTcp() const { return askedByTcp_; }

 private:
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

  /// Returns the reply; empty if there is none.
  std::string answer(std::string_view query, bool byTcp) {
    std::string name;
    std::size_t at = kHeaderSize;
    while (query[at] != '\0') {
      const auto length = static_cast<std::size_t>(query[at]);
      name.append(name.empty() ? "" : ".").append(query.substr(at + 1, length));
      at += length + 1;
    }
    const int type = static_cast<unsigned char>(query[at + 2]);
    ++asked_[name];
    if (byTcp) ++askedByTcp_;
    NameScript& script = scripts_[name];
    if (script.reply == Reply::kSilence || script.silences-- > 0) return {};
    const std::string_view question = query.substr(kHeaderSize, at + 5 - kHeaderSize);
    if (script.reply == Reply::kOtherQuestion) {
      return reply(script, query.substr(0, 2), encodeName("other.test") + std::string("\0\1\0\1", 4), type, false);
    }
    return reply(script, query.substr(0, 2), question, type, script.truncated && !byTcp);
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
    const unsigned rcode = script.reply == Reply::kNoSuchName ? 3 : script.reply == Reply::kServerFailure ? 2 : 0;
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
      const std::string out = answer({bytes, static_cast<std::size_t>(count)}, false);
      if (!out.empty()) ::sendto(udp_.get(), out.data(), out.size(), 0, peer, length);
    }
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
  net::ListenSocket tcp_;
  Descriptor udp_;
  std::map<std::string, NameScript> scripts_;
  std::map<std::string, int> asked_;
  int askedByTcp_ = 0;
  std::vector<std::unique_ptr<TcpClient>> clients_;
  net::TcpListener listener_;
  net::Poll poll_;
};

using DnsReply = LoopNameServer::Reply;

}  // namespace sluice::test
