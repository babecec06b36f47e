// settings.yaml: every tunable of the process with its default. The keys and defaults are part of the product's
// interface.
//
// Unknown keys are errors; each value carries its unit in the type. The settings are read from the ConfigMap that
// GatewayClass.spec.parametersRef names.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/identity_terms.h"
#include "proxy/base/label_selector.h"

namespace sluice::base {

struct DnsSettings {
  std::vector<std::string> servers;                       // "ip" or "ip:port"; if empty, the system's servers
  std::map<std::string, std::vector<std::string>> hosts;  // name in lower case -> addresses
  Duration timeout = std::chrono::seconds(2);             // per try
  std::uint32_t attempts = 3;
  Duration minTtl = std::chrono::seconds(1);
  Duration maxTtl = std::chrono::seconds(300);
  Duration negativeTtl = std::chrono::seconds(5);
  Duration staleTtl = std::chrono::seconds(300);
  std::uint32_t maxAddresses = 16;
  bool ipv6 = false;

  friend bool operator==(const DnsSettings&, const DnsSettings&) = default;
};

struct TimeoutSettings {
  Duration requestHeader = std::chrono::seconds(10);
  Duration bodyIdle = std::chrono::seconds(60);
  Duration expectContinue = std::chrono::seconds(1);
  Duration clientIdle = std::chrono::seconds(120);
  Duration tlsHandshake = std::chrono::seconds(10);
  Duration connect = std::chrono::seconds(5);
  Duration drain = std::chrono::seconds(2);  // the rest of an upload behind its response
  Duration responseIdle = std::chrono::seconds(60);
  Duration streamIdle = std::chrono::seconds(300);
  Duration tunnelIdle = std::chrono::seconds(300);  // a tunnel of CONNECT without a byte
  Duration tunnel = Duration::zero();               // its whole time; zero: none
  Duration tunnelSniff = std::chrono::seconds(2);   // its first bytes, from the first one on
  Duration request = Duration::zero();              // zero means no deadline
  Duration upstreamIdle = std::chrono::seconds(60);
  Duration upstreamPing = std::chrono::seconds(10);  // zero means no pings
  Duration processor = std::chrono::milliseconds(200);
  Duration adminAnswer = std::chrono::seconds(30);

  friend bool operator==(const TimeoutSettings&, const TimeoutSettings&) = default;
};

struct LimitSettings {
  std::uint64_t requestLineBytes = 16 * 1024;
  std::uint64_t headerBytes = 64 * 1024;
  std::uint64_t headerFields = 100;
  std::uint64_t responseFields = 200;
  std::uint64_t headerMemory = 1024 * 1024;
  std::uint64_t headerMemoryTotal = 256 * 1024 * 1024;
  std::uint64_t informationalResponses = 10;
  std::uint64_t chunkExtensionBytes = 1024;
  std::uint64_t concurrentStreams = 100;
  std::uint64_t streamWindow = 256 * 1024;
  std::uint64_t connectionWindow = 1024 * 1024;
  std::uint64_t drainBytes = 1024 * 1024;  // of a stream; 0: none
  std::uint64_t resetsPerMinute = 200;
  std::uint64_t emptyFrames = 100;
  std::uint64_t queuedControlFrames = 1000;
  std::uint64_t controlFramesPerMinute = 10000;
  std::uint64_t connections = 20000;
  std::uint64_t connectionsPerAddress = 0;  // 0: no bound
  std::uint64_t handshakesPerAddress = 0;   // new TLS handshakes per second; 0: no bound
  std::uint64_t connectionMemory = 4 * 1024 * 1024;
  std::uint64_t connectionMemoryTotal = 1024 * 1024 * 1024;
  std::uint64_t responseRate = 1024;  // bytes per timeouts.responseIdle; 0 means no minimum
  std::uint64_t exchangeBuffer = 256 * 1024;
  std::uint64_t replayBuffer = 1024 * 1024;
  std::uint64_t processorBuffer = 2 * 1024 * 1024;
  std::uint64_t processorBufferTotal = 256 * 1024 * 1024;
  std::uint64_t processorContext = 16 * 1024;
  std::uint64_t luaScriptBytes = 256 * 1024;
  std::uint64_t stepWork = 8 * 1024 * 1024;  // of the patterns and expressions of one request
  std::uint64_t decompressedBody = 16 * 1024 * 1024;
  std::uint64_t decompressionRatio = 100;
  std::uint64_t backendConnections = 1024;
  std::uint64_t backendPending = 1024;
  std::uint64_t backendRequests = 1024;
  std::uint64_t dynamicClusters = 1024;  // of each worker
  std::uint64_t tunnels = 20000;         // of CONNECT
  std::uint64_t tunnelsPerAddress = 0;   // 0: no bound
  std::uint64_t passwordChecks = 64;     // of all workers
  std::uint64_t probesPerSecond = 500;   // of all health checks
  std::uint64_t adminConnections = 256;
  std::uint64_t matches = 20000;
  std::uint64_t configBytes = 256 * 1024;
  std::uint64_t references = 64;

  friend bool operator==(const LimitSettings&, const LimitSettings&) = default;
};

/// NTLM and Negotiate authenticate connections: either the Backend's connection serves that client alone from then on,
/// or the gateway refuses them.
enum class ConnectionAuth : std::uint8_t { kPin, kRefuse };

/// An HTTP/1.1 client that closes its side while it waits for a response is taken to have left (kAbort), or still gets
/// the response (kAllow).
enum class ClientHalfClose : std::uint8_t { kAbort, kAllow };

/// The gateway's own answers tell clients the code of the error of a Backend that fails, or its name, too.
enum class ErrorDetail : std::uint8_t { kCodes, kNames };

/// How "%2F" in the paths of requests is handled.
enum class EncodedSlash : std::uint8_t { kAuto, kKeep, kReject, kDecode };
/// Whether runs of "/" are merged into one.
enum class MergeSlashes : std::uint8_t { kAuto, kTrue, kFalse };

/// kAuto keeps the client's spelling, unless a rule of that host, on that listener, matches by a path other than
/// PathPrefix "/": then "%2F" is rejected, and runs of "/" become one.
struct PathSettings {
  EncodedSlash encodedSlash = EncodedSlash::kAuto;
  MergeSlashes mergeSlashes = MergeSlashes::kAuto;

  friend bool operator==(const PathSettings&, const PathSettings&) = default;
};

/// The values that the gateway sends to backends in X-Forwarded-For, -Proto and -Host.
enum class ForwardedHeaders : std::uint8_t {
  kOff,       // nothing
  kAppend,    // the received values, and the address of the sender
  kOverwrite  // the client's address
};

struct ForwardedSettings {
  ForwardedHeaders mode = ForwardedHeaders::kOff;
  /// The number of proxies between clients and the gateway whose forwarded headers are trusted.
  std::uint32_t trustedHops = 0;

  friend bool operator==(const ForwardedSettings&, const ForwardedSettings&) = default;
};

/// The header field of requests and responses that identifies a request.
struct RequestIdSettings {
  bool accept = true;                   // keep the id that a client has sent
  std::string header = "x-request-id";  // in lower case; empty: requests have no id

  friend bool operator==(const RequestIdSettings&, const RequestIdSettings&) = default;
};

struct NamespacedName {
  std::string nameSpace;
  std::string name;

  friend bool operator==(const NamespacedName&, const NamespacedName&) = default;
};

/// The bytes of a Secret that seal the values of sessionPersistence.
struct SessionKeyRef {
  std::string nameSpace;
  std::string name;
  std::string key = "key";
  /// The key used before; values sealed with it can still be opened. Empty if there is none.
  std::string previousKey;

  friend bool operator==(const SessionKeyRef&, const SessionKeyRef&) = default;
};

/// The entry of a Secret with the key of revisions. Replicas share it, so that their revisions can be compared.
struct RevisionKeyRef {
  std::string nameSpace;
  std::string name;
  std::string key = "key";

  friend bool operator==(const RevisionKeyRef&, const RevisionKeyRef&) = default;
};

struct RevisionSettings {
  std::uint32_t keep = 10;
  std::uint32_t failures = 5;            // refusals of a replica before it counts as failing
  std::optional<RevisionKeyRef> keyRef;  // if absent, the process has a key of its own

  friend bool operator==(const RevisionSettings&, const RevisionSettings&) = default;
};

/// Where a hook of an extension server applies, from the narrowest scope to the widest.
enum class HookScope : std::uint8_t { kRoute, kHostname, kListener, kProcess };

struct ExtensionHook {
  HookScope scope = HookScope::kRoute;
  bool failOpen = false;

  friend bool operator==(const ExtensionHook&, const ExtensionHook&) = default;
};

/// How failed calls to an extension server are retried.
struct ExtensionRetry {
  std::uint32_t maxAttempts = 4;
  Duration initialBackoff = std::chrono::milliseconds(100);
  Duration maxBackoff = std::chrono::seconds(1);
  double backoffMultiplier = 2;
  std::vector<std::string> retryableStatusCodes = {"UNAVAILABLE"};  // names of gRPC status codes

  friend bool operator==(const ExtensionRetry&, const ExtensionRetry&) = default;
};

struct SecretName {
  std::string nameSpace;
  std::string name;

  friend bool operator==(const SecretName&, const SecretName&) = default;
};

/// TLS towards an extension server.
struct ExtensionTls {
  SecretName authorities;            // has them in tls.crt or ca.crt
  std::optional<SecretName> client;  // has the gateway's own tls.crt and tls.key

  friend bool operator==(const ExtensionTls&, const ExtensionTls&) = default;
};

/// An extensionManager of Envoy Gateway; extension_manager.h explains its effect.
struct ExtensionManager {
  std::string name;                  // empty for the one that the key extensionManager describes
  std::vector<ExtensionHook> hooks;  // at least one, each scope once, in the order of HookScope
  std::string hostname;              // of the server: a name in lower case, or an IP literal
  std::uint16_t port = 0;
  std::optional<ExtensionTls> tls;  // none: HTTP/2 in plaintext
  ExtensionRetry retry;
  std::uint64_t maxMessageSize = 4 * 1000 * 1000;

  friend bool operator==(const ExtensionManager&, const ExtensionManager&) = default;
};

/// Bounds the retries of the requests of one rule, in the whole process.
struct RetryBudgetSettings {
  std::uint32_t percent = 20;       // of the requests of the last 10s may be retries
  std::uint32_t minPerSecond = 10;  // so many retries are allowed in each second, whatever the percentage is

  friend bool operator==(const RetryBudgetSettings&, const RetryBudgetSettings&) = default;
};

/// The Gateways for which a controller runs Pods, and the properties that these Gateways may choose for them.
struct ProvisioningSettings {
  /// The controller runs Pods for the Gateways of namespaces with one of these names, or with labels that the selector
  /// matches. Without names and selector, it does so in all namespaces.
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespaceSelector;
  /// In these namespaces, a Gateway's Pods may read the Secrets of other namespaces that routes and Backends may refer
  /// to. Elsewhere, such a Secret also needs a ReferenceGrant for the Gateway. If absent, only the controller's own
  /// namespace is trusted.
  std::optional<std::vector<std::string>> trustedNamespaces;
  bool allowImage = false;
  bool allowServiceType = false;
  bool allowScheduling = false;  // nodeSelector, tolerations and affinity
  bool allowServiceAccountAnnotations = false;

  friend bool operator==(const ProvisioningSettings&, const ProvisioningSettings&) = default;
};

struct Settings {
  std::uint32_t workers = 0;  // 0 means one per core
  Duration drainTimeout = std::chrono::seconds(25);
  std::optional<Duration> drainDelay = std::nullopt;  // absent: the default, which is longer in a Pod
  ConnectionAuth connectionAuth = ConnectionAuth::kPin;
  ClientHalfClose clientHalfClose = ClientHalfClose::kAbort;
  ErrorDetail errorDetail = ErrorDetail::kCodes;
  PathSettings paths;
  ForwardedSettings forwarded;
  RequestIdSettings requestId;
  IdentityTerms identity;
  std::string accessLogPath = "/dev/stdout";  // "off" for no access log
  std::optional<SessionKeyRef> sessionKey;    // if absent, the process makes a random key
  std::vector<NamespacedName> processorCatalogs;
  std::vector<ExtensionManager> extensionManagers;  // one without a name is alone
  std::vector<NamespacedName> egressPolicies;       // they cover every Gateway of the class
  RevisionSettings revisions;
  /// The folder of --state-dir, if that flag does not name it; empty: none.
  std::string stateDir;
  DnsSettings dns;
  std::vector<std::string> addressGuardAllow;  // CIDRs
  TimeoutSettings timeouts;
  LimitSettings limits;
  RetryBudgetSettings retryBudget;
  ProvisioningSettings provisioning;

  friend bool operator==(const Settings&, const Settings&) = default;
};

}  // namespace sluice::base
