// Sends any ClientHello to a TLS listener. The first byte chooses the meaning of the others: raw records, the contents
// of the server_name extension, or a name in a well-formed one. The gateway's own reader, which chooses the certificate
// before OpenSSL has parsed the extension, and OpenSSL find the same name, and routes see it as one listener's.
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/text.h"
#include "proxy/net/tls/tls_client_hello.h"
#include "proxy/net/tls/tls_engine.h"
#include "proxy/routing/table/route_table_builder.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/routing/request_maker.h"
#include "test/support/test_pki.h"

namespace {

using sluice::net::TlsEngine;
using sluice::test::require;

std::string number16(std::size_t number) {
  return {static_cast<char>(number >> 8 & 0xFF), static_cast<char>(number & 0xFF)};
}
std::string sized16(const std::string& bytes) { return number16(bytes.size()) + bytes; }
std::string extension(std::size_t type, const std::string& contents) { return number16(type) + sized16(contents); }

/// Returns the record of a ClientHello with this server_name extension. It offers no share of a key, so a server of
/// TLS 1.3 asks for another hello, and signs nothing.
std::string helloWith(const std::string& serverName, bool tls13) {
  constexpr std::size_t kSupportedGroups = 10;
  constexpr std::size_t kSignatureAlgorithms = 13;
  constexpr std::size_t kSupportedVersions = 43;
  constexpr std::size_t kKeyShare = 51;
  std::string extensions = extension(0, serverName);
  extensions += extension(kSupportedGroups, sized16(number16(0x001D) + number16(0x0017)));
  extensions += extension(kSignatureAlgorithms, sized16(number16(0x0403)));
  if (tls13) extensions += extension(kSupportedVersions, "\x02\x03\x04") + extension(kKeyShare, number16(0));
  const std::string body = number16(0x0303) + std::string(32, 'r') + std::string(1, '\0') +
                           sized16(number16(0x1301) + number16(0xC02B)) + std::string("\x01\0", 2) +
                           sized16(extensions);
  const std::string message = std::string("\x01\0", 2) + sized16(body);
  return "\x16\x03\x01" + sized16(message);
}

/// The names that two readers have found; none where nothing was read.
struct NamesRead {
  std::optional<std::string> ours;
  std::optional<std::string> openssl;
  bool failed = false;
};

int noteOurs(SSL* ssl, int* /*alert*/, void* names) {
  static_cast<NamesRead*>(names)->ours = sluice::net::helloServerName(ssl);
  return SSL_CLIENT_HELLO_SUCCESS;
}

std::shared_ptr<const sluice::net::TlsServerContext> makeListener() {
  sluice::net::TlsServerSettings settings;
  for (const char* name : {"a.test", "*.b.test"}) {
    sluice::test::CertificateSpec spec;
    spec.dnsNames = {name};
    const sluice::test::CertifiedKey made = sluice::test::selfSigned(spec);
    settings.identities.push_back(
        {std::make_shared<const sluice::pki::CertificateChain>(
             sluice::pki::CertificateChain::parse(made.certificate).value()),
         std::make_shared<const sluice::pki::PrivateKey>(sluice::pki::PrivateKey::parse(made.secretKey()).value())});
  }
  settings.alpn = {"h2", "http/1.1"};
  return sluice::net::TlsServerContext::make(settings).value();
}

/// Reads the hello at a listener whose own callback is replaced by one that only notes the name.
NamesRead readTwice(std::string_view records) {
  static const auto kReader = makeListener();
  SSL_CTX* const context = kReader->state().certificates.front().context.get();
  NamesRead names;
  SSL_CTX_set_client_hello_cb(context, noteOurs, &names);
  SSL* const ssl = SSL_new(context);
  BIO* const in = BIO_new_mem_buf(records.data(), static_cast<int>(records.size()));
  BIO_set_mem_eof_return(in, -1);
  SSL_set_bio(ssl, in, BIO_new(BIO_s_mem()));
  SSL_set_accept_state(ssl);
  const int result = SSL_do_handshake(ssl);
  names.failed = SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ;
  if (const char* found = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)) names.openssl = found;
  SSL_free(ssl);
  ERR_clear_error();
  return names;
}

/// Returns the name that the gateway's listener has found; none if it has refused the hello.
std::optional<std::string> nameAtListener(std::string_view records) {
  static const auto kListener = makeListener();
  std::array<char, 64 * 1024> room{};
  static const sluice::base::SystemClock kClock;
  TlsEngine engine(kListener->state(), kClock);
  engine.wire().input = records;
  engine.wire().output = room;
  const TlsEngine::Step step = engine.handshake();
  require(ERR_peek_error() == 0, "the queue of errors is not empty");
  if (step == TlsEngine::Step::kFailed) return std::nullopt;
  return engine.facts().sni;
}

constexpr std::string_view kListeners[] = {"", "a.test", "*.b.test", "c.b.test", "*.c.b.test"};

sluice::routing::RouteTable tableOfListeners() {
  sluice::routing::RouteTableBuilder builder;
  for (const std::string_view hostname : kListeners) {
    auto listener = std::make_shared<sluice::routing::ServedListener>();
    listener->section = hostname;
    builder.addListener(hostname, std::move(listener));
  }
  return std::move(builder).build();
}

/// Returns the hostname of the listener that a host belongs to.
std::string_view ownerOf(std::string_view host) {
  constexpr std::size_t kMostOfName = 253;
  std::string_view owner;
  if (host.size() > kMostOfName) return owner;
  for (const std::string_view hostname : kListeners) {
    const std::string_view suffix = hostname.substr(std::min<std::size_t>(1, hostname.size()));
    const bool wild = hostname.starts_with("*.") && host.ends_with(suffix) && host.size() > suffix.size();
    if (host == hostname) return hostname;
    if (wild && hostname.size() > owner.size()) owner = hostname;
  }
  return owner;
}

void checkRoutes(const std::string& name) {
  static const sluice::routing::RouteTable kTable = tableOfListeners();
  for (const char* host : {"a.test", "x.b.test", "c.b.test", "y.x.c.b.test", "other.test"}) {
    const auto match = kTable.match(sluice::routing::test::RequestMaker("GET", host, "/").head(), name);
    const bool owned = name.empty() || name == host || ownerOf(name) == ownerOf(host);
    require(match.misdirected != owned, "the connection's name decides otherwise");
    require((match.listener != nullptr) == owned, "a misdirected request has a listener");
    require(!owned || match.listener->section == ownerOf(host), "another listener takes the host");
  }
}

}  // namespace

int sluice::test::fuzzSni(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 20'000;
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, std::min(size - 1, kMostBytes));
  const bool tls13 = (data[0] & 4) == 0;
  const bool isName = data[0] % 4 == 2;
  std::string records = bytes;
  if (isName) records = helloWith(sized16(std::string(1, '\0') + sized16(bytes)), tls13);
  if (data[0] % 4 == 1) records = helloWith(bytes, tls13);

  const NamesRead names = readTwice(records);
  if (!names.failed && names.ours) {
    require(names.openssl.value_or("") == *names.ours, "the readers find different names");
  }
  const auto found = nameAtListener(records);
  if (found) {
    require(!names.ours || *found == base::toLower(*names.ours), "the listener knows another name");
    require(found->size() <= TLSEXT_MAXLEN_host_name, "the name is too long");
    require(found->find('\0') == std::string::npos, "the name has another end for C");
    require(*found == base::toLower(*found), "the name is not in lower case");
    checkRoutes(*found);
  }
  const bool isGood =
      !bytes.empty() && bytes.size() <= TLSEXT_MAXLEN_host_name && bytes.find('\0') == std::string::npos;
  require(!isName || found.has_value() == (bytes.empty() || isGood), "a good name is refused, or a bad one taken");
  checkRoutes(base::toLower(bytes));
  return 0;
}
