// Tests through the binary that a connection whose peer has disappeared silently is probed as often as a policy of any
// kind and form asks.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

/// Has the kernel drop all packets of the peer from now on, unanswered, as if this machine were gone.
bool vanish(const BlockingSocket& socket) {
  sock_filter dropAll{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &dropAll};
  return setsockopt(socket.fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

/// Returns how many segments the kernel has dropped.
std::uint32_t droppedSegments(const BlockingSocket& socket) {
  constexpr std::size_t kDrops = 8;  // SK_MEMINFO_DROPS of linux/sock_diag.h
  std::array<std::uint32_t, kDrops + 1> info{};
  socklen_t length = sizeof info;
  getsockopt(socket.fd(), SOL_SOCKET, SO_MEMINFO, info.data(), &length);
  return info[kDrops];
}

TEST(KeepaliveFields, SetAfterHowManyProbesAConnectionIsLost) {
  for (const SpelledPolicy& policy : everySpelling("tcpKeepalive: {probes: 2, idleTime: 1s, interval: 1s}",
                                                   "keepAliveProbes: {maxProbes: 2, idleTime: 1s, interval: 1s}")) {
    std::atomic<bool> vanished = false;
    std::atomic<std::uint32_t> dropped = 0;
    RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
      self.readHead(socket);
      socket.send(kOk);
      const auto isAcknowledged = [&] {
        int unacknowledged = 0;
        return ioctl(socket.fd(), TIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
      };
      vanished = eventually(isAcknowledged) && vanish(socket);
      eventually(
          [&] {
            dropped = droppedSegments(socket);
            return self.stopping();
          },
          2 * kPatience);
    });
    const GatewayProcess gateway(governedSpec(origin.port(), policy.forTarget("kind: HTTPRoute, name: all")));
    EXPECT_EQ(askRaw(gateway.port()).status, 200) << policy.fields;
    ASSERT_TRUE(eventually([&] { return vanished.load(); })) << policy.fields;
    const std::string open = "http_client_open_connections{backend=\"test/origin\",http_connection_state=\"idle\"}";
    EXPECT_TRUE(eventually([&] { return gateway.metric(open) == 0; })) << policy.fields;
    // The last one resets the connection.
    EXPECT_TRUE(eventually([&] { return dropped >= 3; })) << policy.fields << dropped;
    EXPECT_EQ(dropped, 3U) << policy.fields;
  }
}

}  // namespace
}  // namespace sluice::test
