#include "test/integration/support/passed_time.h"

#include <gtest/gtest.h>

namespace sluice::test {

void PassedTime::pass(const GatewayProcess& gateway, std::chrono::seconds by) {
  moveOn(by);
  // A waiting worker gave the kernel its timeout before the clock was moved. Asking for this page wakes every worker,
  // and each reads its clock before it answers.
  const std::string page = gateway.adminGet("/exchanges");
  EXPECT_NE(page.find("\"silentWorkers\":[]"), std::string::npos) << page;
}

std::string onlyTimeouts(const std::string& members) {
  std::string line = "timeouts: {" + members;
  for (const std::string name : {"requestHeader", "bodyIdle", "clientIdle", "tlsHandshake", "connect", "streamIdle",
                                 "responseIdle", "tunnelIdle", "upstreamIdle", "processor"}) {
    if ((" " + members).find(" " + name + ":") == std::string::npos) line += ", " + name + ": 24h";
  }
  // A Backend cannot answer a PING while time jumps.
  if (members.find("upstreamPing:") == std::string::npos) line += ", upstreamPing: 0s";
  return line + "}\n";
}

}  // namespace sluice::test
