#include "test/integration/support/kubernetes/service_clients.h"

#include <sstream>
#include <utility>

#include "test/integration/support/http1.h"
#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

/// The clients leave the machine time for all else that runs in the cluster.
constexpr milliseconds kBetweenRequests{10};
// With a range in it, kubectl would print the first version of an object alone.
constexpr const char* kReadyAddresses =
    R"(jsonpath=ready: {.endpoints[?(@.conditions.ready==true)].addresses[0]}{"\n"})";

}  // namespace

ServiceClients::ServiceClients(const std::string& kubeconfig, const std::string& nameSpace, const std::string& service,
                               std::uint16_t port, std::string path)
    : follower_(
          {kapiProgram("kubectl"), "--kubeconfig", kubeconfig, "--cache-dir", folder_.path(), "get", "endpointslices",
           "-n", nameSpace, "-l", "kubernetes.io/service-name=" + service, "--watch", "-o", kReadyAddresses},
          {"HOME=" + folder_.path(), "KUBERC=off"}) {
  EXPECT_TRUE(eventually([this] { return !ready().empty(); })) << follower_.errors();
  for (int i = 0; i < kClients; ++i) {
    clients_.emplace_back([this, port, path, keeps = i % 2 == 0] { askAll(port, path, keeps); });
  }
}

void ServiceClients::stop() {
  stopping_ = true;
  for (std::thread& each : clients_) each.join();
  clients_.clear();
}

std::vector<std::string> ServiceClients::ready() const {
  const std::string text = follower_.output();
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text.rfind("ready:", end);
  std::istringstream in(text.substr(begin, end - begin));
  std::vector<std::string> addresses;
  for (std::string word; in >> word;) addresses.push_back(word);
  addresses.erase(addresses.begin());
  return addresses;
}

bool ServiceClients::goOn(int requests) const {
  return eventually([this, until = answered_ + requests] { return answered_ >= until; });
}

std::map<std::string, int> ServiceClients::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

std::string ServiceClients::report() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [reason, count] : reasons_) text += reason + " (" + std::to_string(count) + ")\n";
  return text;
}

void ServiceClients::fail(const std::string& address, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++failures_[address];
  ++reasons_[address + ": " + reason];
}

void ServiceClients::askAll(std::uint16_t port, const std::string& path, bool keeps) {
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
  EndpointConnection connection;
  for (int i = 0; i < kMostRequests && !stopping_; ++i) {
    if (!connection.socket.ok()) connect(connection, port);
    const ReceivedResponse answer = askRaw(connection.socket, request);
    if (answer.status == 200) {
      ++answered_;
    } else {
      fail(connection.address, connection.socket.ok() ? "\"" + answer.head + "\"" : "no connection");
    }
    if (!keeps || answer.status != 200 || answer.field("connection") == "close") connection.socket.close();
    letTimePass(kBetweenRequests);
  }
}

void ServiceClients::connect(EndpointConnection& connection, std::uint16_t port) {
  const std::vector<std::string> addresses = ready();
  connection.address = addresses.empty() ? "no endpoint" : addresses[turn_++ % addresses.size()];
  connection.socket = addresses.empty() ? BlockingSocket() : BlockingSocket::connectTo(connection.address, port);
}

}  // namespace sluice::test
