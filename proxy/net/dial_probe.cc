#include "proxy/net/dial_probe.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sluice::net {
namespace {

/// A query for the NS records of the root, with recursion desired (RFC 1035 section 4.1).
constexpr std::array<std::uint8_t, 17> kRootQuestion = {0x51, 0x1c, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1};

/// Returns the sender of the ICMP message that a control message reports.
std::optional<Address> icmpSender(const cmsghdr& control) {
  sock_extended_err error{};
  std::memcpy(&error, CMSG_DATA(&control), sizeof(error));
  if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6) return std::nullopt;
  // The sender's address follows the error.
  sockaddr_in6 sender{};
  const std::size_t room = control.cmsg_len - CMSG_LEN(sizeof(error));
  std::memcpy(&sender, CMSG_DATA(&control) + sizeof(error), std::min(sizeof(sender), room));
  const auto* address = reinterpret_cast<const sockaddr*>(&sender);
  if (address->sa_family != AF_INET && address->sa_family != AF_INET6) return std::nullopt;
  return Address::fromSockaddr(address);
}

/// Returns the sender of the ICMP message that made the socket fail; nothing if no such message came.
std::optional<Address> takeIcmpSender(int fd) {
  alignas(cmsghdr) std::array<char, 512> controls{};
  msghdr message{};
  message.msg_control = controls.data();
  message.msg_controllen = controls.size();
  if (::recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return std::nullopt;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr; control = CMSG_NXTHDR(&message, control)) {
    const bool v4 = control->cmsg_level == IPPROTO_IP && control->cmsg_type == IP_RECVERR;
    const bool v6 = control->cmsg_level == IPPROTO_IPV6 && control->cmsg_type == IPV6_RECVERR;
    if (v4 || v6) return icmpSender(*control);
  }
  return std::nullopt;
}

ProbeResult resultOfError(int error) {
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET:
      return ProbeResult::kRefused;
    case ETIMEDOUT:
      return ProbeResult::kTimedOut;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case ENONET:
    case EACCES:
    case EPERM:
    case EINVAL:  // a route of the type blackhole
    case EPROTO:
    case ENOPROTOOPT:
    case EADDRNOTAVAIL:  // no address of this family to come from
    case EAFNOSUPPORT:
      return ProbeResult::kUnreachable;
    default:
      return ProbeResult::kFailed;
  }
}

}  // namespace

DialProbe::DialProbe(Worker& worker, ProbeProtocol protocol, const Address& to, base::Duration timeout, ProbeSink& sink)
    : worker_(worker),
      protocol_(protocol),
      to_(to),
      sink_(sink),
      deadline_(worker.now() + timeout),
      pause_(timeout / kDatagrams) {
  if (const int error = open(); error != 0) {
    endByError(error);
    return;
  }
  poll_.emplace(worker, fd_, static_cast<PollSink&>(*this));
  const bool udp = protocol == ProbeProtocol::kUdp;
  poll_->watch(udp, !udp);
  worker.timers().set(*this, udp ? worker.now() + pause_ : deadline_);
}

DialProbe::~DialProbe() {
  poll_.reset();
  if (fd_ >= 0) ::close(fd_);
}

int DialProbe::open() {
  const int type = protocol_ == ProbeProtocol::kTcp ? SOCK_STREAM : SOCK_DGRAM;
  fd_ = ::socket(to_.isIpv6() ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return errno;
  const int on = 1;
  if (to_.isIpv6()) {
    ::setsockopt(fd_, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
  } else {
    ::setsockopt(fd_, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
  }
  if (::connect(fd_, to_.sockaddrPtr(), to_.length()) != 0 && errno != EINPROGRESS) return errno;
  return protocol_ == ProbeProtocol::kTcp || sendQuestion() ? 0 : errno;
}

bool DialProbe::sendQuestion() {
  ++datagrams_;
  return ::send(fd_, kRootQuestion.data(), kRootQuestion.size(), MSG_NOSIGNAL) >= 0 || errno == EAGAIN;
}

void DialProbe::onReady(bool readable, bool writable) {
  int error = 0;
  socklen_t length = sizeof(error);
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    endByError(error);
  } else if (protocol_ == ProbeProtocol::kTcp) {
    if (!writable) return;
    end(ProbeResult::kReached);
  } else {
    char byte = 0;
    if (!readable || ::recv(fd_, &byte, sizeof(byte), MSG_DONTWAIT) < 0) {
      if (errno == EAGAIN) return poll_->watch(true, false);
      endByError(errno);
    } else {
      end(ProbeResult::kReached);
    }
  }
  sink_.onProbed();
}

void DialProbe::onTimer() {
  if (worker_.now() < deadline_) {
    if (datagrams_ >= kDatagrams || sendQuestion()) {
      worker_.timers().set(*this, std::min(worker_.now() + pause_, deadline_));
      return;
    }
    endByError(errno);
  } else {
    end(ProbeResult::kTimedOut);
  }
  sink_.onProbed();
}

void DialProbe::end(ProbeResult result, std::string detail, std::optional<Address> sender) {
  cancel();
  poll_.reset();
  outcome_ = ProbeOutcome{result, std::move(detail), sender};
}

void DialProbe::endByError(int error) {
  const std::optional<Address> sender = fd_ < 0 ? std::nullopt : takeIcmpSender(fd_);
  ProbeResult result = resultOfError(error);
  if (sender) {
    result = sender->withPort(to_.port()) == to_ ? ProbeResult::kRefused : ProbeResult::kRejected;
  }
  end(result, std::strerror(error), sender);
}

}  // namespace sluice::net
