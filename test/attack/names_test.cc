// Tests attacks by way of names: forged answers, name servers that break off or keep silent, and names that are many.
// The victim is a client whose Backend has another name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/scripted_name_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using Datagrams = std::vector<ScriptedNameServer::Datagram>;

constexpr std::size_t kTruncated = 0x8780;

/// A gateway with the victim's Backend, whose name is victim.test, and one for each of many hostile names.
class HostileNames : public testing::Test {
 protected:
  GatewaySpec spec(int count, const std::string& dns) const {
    GatewaySpec all{
        .backends = {{.name = "victim", .hostname = "victim.test", .port = origin_.port(), .addresses = ""}},
        .settings = "drainTimeout: 0s\n",
        .dns = "servers: [\"" + names_.address() + "\"], " + dns};
    all.routes = routeTo("/victim", "victim");
    for (int i = 0; i < count; ++i) {
      const std::string name = "hostile-" + std::to_string(i);
      all.backends.push_back({.name = name, .hostname = name + ".test", .port = origin_.port(), .addresses = ""});
      all.routes += "---\n" + routeTo("/" + std::to_string(i), name);
    }
    return all;
  }
  static std::string routeTo(const std::string& path, const std::string& backend) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + backend +
           "}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n" + ruleOfPrefix(path, backend);
  }
  static std::string askingFor(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"; }
  static int statusAt(const GatewayProcess& gateway, const std::string& path) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send(askingFor(path));
    return readResponse(client).status;
  }
  /// Returns a client for each hostile name, which has asked.
  static std::vector<BlockingSocket> askForAll(const GatewayProcess& gateway, int count) {
    std::vector<BlockingSocket> clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(BlockingSocket::connect(gateway.port()));
      clients.back().send(askingFor("/" + std::to_string(i)));
    }
    return clients;
  }
  static bool isVictims(const DnsQuestion& question) { return question.name == "victim.test"; }

  RawOrigin origin_{RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")};
  ScriptedNameServer names_{dnsAlways({"127.0.0.1"})};
};

TEST_F(HostileNames, CannotBeForgedAtAPortThatAnotherQuestionHasShown) {
  constexpr int kQuestions = 30;
  std::mutex mutex;
  std::set<std::uint16_t> ports;
  names_.say([&](const DnsQuestion& question) {
    const std::lock_guard lock(mutex);
    ports.insert(question.port);
    return Datagrams{};
  });
  const GatewayProcess gateway(spec(kQuestions, "timeout: 60s"));
  const auto clients = askForAll(gateway, kQuestions);
  ASSERT_TRUE(eventually([&] { return names_.asked() == kQuestions; }));
  names_.say(dnsAlways({"127.0.0.1"}));
  EXPECT_EQ(ports.size(), std::size_t{kQuestions});
}

TEST_F(HostileNames, HarmNobodyByTruncatedAnswersWithoutTcp) {
  constexpr int kAttackers = 4;
  names_.say([](const DnsQuestion& question) {
    return Datagrams{{isVictims(question) ? dnsReply(question, {"127.0.0.1"}) : dnsHead(question, 0, kTruncated)}};
  });
  GatewayProcess gateway(spec(kAttackers, "minTtl: 0s, negativeTtl: 0s, staleTtl: 0s, timeout: 20s, attempts: 1"));
  Attack attack(gateway, [&] { return statusAt(gateway, "/victim") == 200; });
  std::atomic<bool> done = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> attackers;
  for (int i = 0; i < kAttackers; ++i) {
    attackers.emplace_back([&, path = "/" + std::to_string(i)] {
      while (!done) failed += statusAt(gateway, path) == 503 ? 1 : 0;
    });
  }
  EXPECT_TRUE(eventually([&] { return failed > 100; }));
  attack.stands();
  done = true;
  for (std::thread& attacker : attackers) attacker.join();
}

TEST_F(HostileNames, LeaveDescriptorsToOthersWhenTheyAreManyAndSilent) {
  constexpr int kNames = 100;
  names_.say([](const DnsQuestion& question) {
    return isVictims(question) ? Datagrams{{dnsReply(question, {"127.0.0.1"}, 300)}} : Datagrams{};
  });
  GatewaySpec few = spec(kNames, "timeout: 20s");
  few.startedBy = {"prlimit", "--nofile=256:256"};
  GatewayProcess gateway(few);
  Attack attack(gateway, [&] { return statusAt(gateway, "/victim") == 200; });
  const auto clients = askForAll(gateway, kNames);
  ASSERT_TRUE(eventually([&] { return names_.asked() > 10; }));
  attack.stands();
  EXPECT_EQ(statusAt(gateway, "/victim"), 200);
  EXPECT_LT(names_.asked(), kNames) << "the others wait";
}

}  // namespace
}  // namespace sluice::test
