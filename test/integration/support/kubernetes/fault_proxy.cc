#include "test/integration/support/kubernetes/fault_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace sluice::test {
namespace {

CertifiedKey identityOf(const KubeApiServer& server) {
  CertificateSpec spec;
  spec.dnsNames = {"localhost", "kubernetes.default.svc"};
  spec.ipAddresses = {"127.0.0.1"};
  spec.extendedKeyUsage = "serverAuth";
  return issue(server.authority(), spec);
}

CertifiedKey administratorOf(const KubeApiServer& server) {
  return {readFile(server.dataFolder() + "/admin.crt"), readFile(server.dataFolder() + "/admin.key")};
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << text;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

int listenOn(std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(listener, SOMAXCONN), 0);
  return listener;
}

}  // namespace

FaultProxy::FaultProxy(const KubeApiServer& server, Layer layer, User user) : serverPort_(server.port()) {
  if (layer == Layer::kHttp) {
    const CertifiedKey authority = server.authority();
    towardsClients_ = TlsPipeContext::server(identityOf(server));
    towardsServer_ = TlsPipeContext::client(
        authority.certificate, user == User::kAdministrator ? std::optional(administratorOf(server)) : std::nullopt);
  }
  folder_.write("kubeconfig", replaced(readFile(server.kubeconfig()), server.url(), url()));
  accept();
}

FaultProxy::~FaultProxy() {
  refuse();
  cutAll();
}

void FaultProxy::accept() {
  if (listener_ >= 0) return;
  listener_ = listenOn(port_);
  acceptor_ = std::thread([this, listener = listener_] { acceptAll(listener); });
}

void FaultProxy::refuse() {
  if (listener_ < 0) return;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(std::exchange(listener_, -1));
}

void FaultProxy::acceptAll(int listener) {
  for (int fd = 0; (fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) connect(BlockingSocket(fd));
}

void FaultProxy::connect(BlockingSocket client) {
  faults_.noteConnection();
  const int on = 1;
  setsockopt(client.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  BlockingSocket server = BlockingSocket::connect(serverPort_);
  if (!server.ok()) return client.reset();
  const auto pipe = [](const std::optional<TlsPipeContext>& context) {
    return context ? std::optional<TlsPipe>(*context) : std::nullopt;
  };
  ProxySide near(std::move(client), pipe(towardsClients_));
  ProxySide far(std::move(server), pipe(towardsServer_));
  const std::lock_guard lock(mutex_);
  connections_.remove_if([](const ProxiedConnection& one) { return one.hasEnded(); });
  connections_.emplace_back(std::move(near), std::move(far), faults_);
}

void FaultProxy::cut(const Cut& cut) { faults_.add(cut); }

void FaultProxy::cutAll() {
  const std::lock_guard lock(mutex_);
  connections_.clear();
}

void FaultProxy::stall(const std::string& request) {
  faults_.stall(request);
  wakeAll();
}

void FaultProxy::resume() {
  faults_.stall(std::nullopt);
  wakeAll();
}

void FaultProxy::wakeAll() {
  const std::lock_guard lock(mutex_);
  for (const ProxiedConnection& connection : connections_) connection.wake();
}

std::size_t FaultProxy::openConnections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(), [](const auto& one) { return !one.hasEnded(); }));
}

std::vector<std::string> FaultProxy::requests() const {
  std::vector<std::string> requests;
  for (const std::string& head : heads()) requests.push_back(head.substr(0, head.find(" HTTP/1.1\r\n")));
  return requests;
}

}  // namespace sluice::test
