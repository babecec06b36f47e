// Bounds how much unsent data the kernel holds for a socket, so that a peer that reads slowly but steadily is seen to
// do so. A socket's send buffer grows to megabytes and takes more only when a third of it is free; by then such a peer
// looks like one that does not read at all.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace sluice::net {

inline constexpr int kMostUnsentBytes = 256 * 1024;

/// Sets the bound. Sockets accepted from a listening one inherit it. A system that does not support the option is used
/// without it.
inline void boundUnsent(int fd) {
  setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kMostUnsentBytes, sizeof(kMostUnsentBytes));
}

}  // namespace sluice::net
