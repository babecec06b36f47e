#include "test/integration/support/scripted_name_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

namespace sluice::test {
namespace {

// RFC 1035 section 4.1.1 fixes this size.
constexpr std::size_t kHeaderBytes = 12;

BlockingSocket boundToLoopback() {
  BlockingSocket one(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(one.fd(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) ADD_FAILURE() << "no port for DNS";
  return one;
}

std::uint16_t portOf(const BlockingSocket& one) {
  sockaddr_in at{};
  socklen_t length = sizeof at;
  getsockname(one.fd(), reinterpret_cast<sockaddr*>(&at), &length);
  return ntohs(at.sin_port);
}

std::size_t byteAt(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

DnsQuestion parse(std::string_view datagram) {
  DnsQuestion question;
  question.id = datagram.substr(0, 2);
  std::size_t at = kHeaderBytes;
  while (const std::size_t size = byteAt(datagram, at)) {
    question.name += (question.name.empty() ? "" : ".") + std::string(datagram.substr(at + 1, size));
    at += size + 1;
  }
  question.section = datagram.substr(kHeaderBytes, at + 5 - kHeaderBytes);
  question.type = static_cast<std::uint16_t>(byteAt(datagram, at + 1) * 256 + byteAt(datagram, at + 2));
  return question;
}

}  // namespace

ScriptedNameServer::ScriptedNameServer(Script script)
    : script_(std::move(script)), socket_(boundToLoopback()), elsewhere_(boundToLoopback()) {
  port_ = portOf(socket_);
  thread_ = std::thread([this] { serve(); });
}

ScriptedNameServer::~ScriptedNameServer() {
  stopping_ = true;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port_);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sendto(elsewhere_.fd(), "", 0, 0, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  thread_.join();
}

void ScriptedNameServer::say(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void ScriptedNameServer::serve() {
  std::array<char, 2048> buffer{};
  int others = 0;
  while (true) {
    sockaddr_in from{};
    socklen_t length = sizeof from;
    const ssize_t size =
        recvfrom(socket_.fd(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
    if (stopping_) return;
    if (size <= static_cast<ssize_t>(kHeaderBytes)) continue;
    DnsQuestion question = parse({buffer.data(), static_cast<std::size_t>(size)});
    question.port = ntohs(from.sin_port);
    question.number = question.type == DnsQuestion::kA ? asked_++ : others++;
    const std::lock_guard lock(mutex_);
    for (const Datagram& datagram : script_(question)) {
      sendto((datagram.fromElsewhere ? elsewhere_ : socket_).fd(), datagram.bytes.data(), datagram.bytes.size(), 0,
             reinterpret_cast<const sockaddr*>(&from), length);
    }
  }
}

std::string dnsNumber(std::size_t number) {
  return {static_cast<char>(number >> 8U & 0xffU), static_cast<char>(number & 0xffU)};
}

std::string dnsHead(const DnsQuestion& question, std::size_t answers, std::size_t flags) {
  return question.id + dnsNumber(flags) + dnsNumber(1) + dnsNumber(answers) + dnsNumber(0) + dnsNumber(0) +
         question.section;
}

std::string dnsRecord(std::size_t type, std::string_view data, std::size_t ttl) {
  const std::string asQuestioned = dnsNumber(0xc000 + kHeaderBytes);
  return asQuestioned + dnsNumber(type) + dnsNumber(1) + dnsNumber(0) + dnsNumber(ttl) + dnsNumber(data.size()) +
         std::string(data);
}

std::string dnsReply(const DnsQuestion& question, const std::vector<std::string>& addresses, std::size_t ttl) {
  std::string records;
  std::size_t count = 0;
  for (const std::string& address : addresses) {
    std::array<char, 16> bytes{};
    const bool isIpv6 = address.find(':') != std::string::npos;
    if (question.type != (isIpv6 ? DnsQuestion::kAaaa : DnsQuestion::kA)) continue;
    if (inet_pton(isIpv6 ? AF_INET6 : AF_INET, address.c_str(), bytes.data()) != 1) ADD_FAILURE() << address;
    records += dnsRecord(question.type, {bytes.data(), isIpv6 ? 16U : 4U}, ttl);
    ++count;
  }
  return dnsHead(question, count) + records;
}

ScriptedNameServer::Script dnsAlways(const std::vector<std::string>& addresses) {
  return [addresses](const DnsQuestion& question) {
    return std::vector<ScriptedNameServer::Datagram>{{dnsReply(question, addresses)}};
  };
}

}  // namespace sluice::test
