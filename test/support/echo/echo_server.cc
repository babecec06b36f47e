#include "test/support/echo/echo_server.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"

namespace sluice::echo {
namespace {

base::Result<std::string> readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return base::Error::config(path + ": " + std::strerror(errno));
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

base::Result<net::TlsServerIdentity> readIdentity(const ServerSettings& settings) {
  auto certificatePem = readFile(settings.certificateFile);
  if (!certificatePem) return certificatePem.error();
  auto keyPem = readFile(settings.keyFile);
  if (!keyPem) return keyPem.error();
  auto certificate = pki::CertificateChain::parse(*certificatePem);
  if (!certificate) return certificate.error();
  auto key = pki::PrivateKey::parse(base::Secret(std::move(*keyPem)));
  if (!key) return key.error();
  return net::TlsServerIdentity{std::make_shared<const pki::CertificateChain>(std::move(*certificate)),
                                std::make_shared<const pki::PrivateKey>(std::move(*key))};
}

}  // namespace

base::Result<std::unique_ptr<EchoServer>> EchoServer::make(const ServerSettings& settings) {
  std::shared_ptr<const net::TlsServerContext> tls;
  if (!settings.certificateFile.empty()) {
    auto identity = readIdentity(settings);
    if (!identity) return identity.error();
    auto context = net::TlsServerContext::make({{std::move(*identity)}, settings.protocols});
    if (!context) return context.error();
    tls = std::move(*context);
  }
  auto socket = net::ListenSocket::open(settings.address);
  if (!socket) return socket.error();
  return std::unique_ptr<EchoServer>(new EchoServer(std::move(*socket), std::move(tls)));
}

EchoServer::EchoServer(net::ListenSocket&& socket, std::shared_ptr<const net::TlsServerContext> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {
  worker_.setBeats(this);
  listener_.emplace(worker_, socket_, [this](int fd, const net::Address& peer) {
    touch(connections_.create(static_cast<EchoConnectionOwner&>(*this), fd, peer, tls_.get()));
  });
}

void EchoServer::touch(EchoConnection& connection) {
  if (std::exchange(connection.touched, true)) return;
  touched_.push_back(connection.handle());
}

void EchoServer::drive() {
  beating_.swap(touched_);
  for (const EchoConnection::Handle handle : beating_) {
    EchoConnection* connection = connections_.find(handle);
    if (connection == nullptr) continue;
    connection->touched = false;  // later events need another beat
    connection->drive();
  }
}

void EchoServer::flush() {
  for (const EchoConnection::Handle handle : beating_) {
    if (EchoConnection* connection = connections_.find(handle)) connection->flush();
  }
}

void EchoServer::reap() {
  for (const EchoConnection::Handle handle : beating_) {
    const EchoConnection* connection = connections_.find(handle);
    if (connection != nullptr && connection->dead()) connections_.destroy(handle);
  }
  beating_.clear();
}

}  // namespace sluice::echo
