// The objects of one configuration as their users wrote them. Each was checked only against its own schema.
//
// Everything that depends on two objects (attachment, references, conflicts) belongs to compile(). These are plain
// values with one owner; load() makes them and compile() reads them on the loading thread. Defaults of the API are
// filled in. Unless a field's comment defines it otherwise, an empty text means that the field is absent. An empty
// namespace means the namespace of the object with the reference.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/object_meta.h"
#include "config/model/backend_tls.h"
#include "config/model/backend_tls_policy.h"
#include "config/model/gateway_api_crds.h"
#include "config/model/gateway_parameters.h"
#include "config/model/key_pair.h"
#include "config/model/object_lists.h"
#include "config/model/policy_model.h"
#include "config/model/processor_model.h"
#include "config/model/route_model.h"
#include "config/model/traffic_policy.h"
#include "proxy/base/label_selector.h"
#include "proxy/base/secret.h"
#include "proxy/base/settings.h"
#include "proxy/base/terms/endpoint_zones.h"

namespace sluice::config {

struct GatewayClass {
  static constexpr std::string_view kKind = "GatewayClass";
  ObjectMeta meta;
  std::string controllerName;
  std::string description;
  std::optional<ObjectRef> parametersRef;
};

enum class ListenerProtocol : std::uint8_t {
  kHttp,
  kHttps,
  kHttpProxy,   // sluice.dev/HTTPPROXY: a forward proxy
  kHttpsProxy,  // sluice.dev/HTTPSPROXY: a forward proxy that clients reach by TLS
  kOther
};
/// Returns true if the listener ends the TLS of its clients.
constexpr bool terminatesTls(ListenerProtocol protocol) {
  return protocol == ListenerProtocol::kHttps || protocol == ListenerProtocol::kHttpsProxy;
}
/// Returns true if clients name the destinations of their requests.
constexpr bool isForwardProxy(ListenerProtocol protocol) {
  return protocol == ListenerProtocol::kHttpProxy || protocol == ListenerProtocol::kHttpsProxy;
}
enum class ListenerTlsMode : std::uint8_t { kTerminate, kPassthrough };
enum class RouteNamespaces : std::uint8_t { kSame, kAll, kSelector };

struct ListenerTls {
  ListenerTlsMode mode = ListenerTlsMode::kTerminate;
  std::vector<ObjectRef> certificateRefs;
};

struct RouteKind {
  std::string group;
  std::string kind;
  friend bool operator==(const RouteKind&, const RouteKind&) = default;
};

struct Listener {
  std::string name;
  std::string path;      // "spec.listeners[0]"
  std::string hostname;  // lower case, may begin with "*."; empty for all
  std::uint16_t port = 0;
  ListenerProtocol protocol = ListenerProtocol::kHttp;
  std::string protocolName;        // as written: "HTTP", "TLS", "example.com/quic"
  std::optional<ListenerTls> tls;  // a protocol with TLS may lack it, and then has no certificate
  RouteNamespaces routeNamespaces = RouteNamespaces::kSame;
  base::LabelSelector namespaceSelector;             // set for kSelector
  std::optional<std::vector<RouteKind>> routeKinds;  // nullopt for the kinds that the protocol allows
  std::vector<UnsupportedField> unsupported;
  Position position;
};

struct GatewayAddress {
  std::string type = "IPAddress";
  std::string value;  // empty if the implementation chooses
  std::string path;
  Position position;
};

/// The labels and annotations for controllers that create the objects in which a Gateway runs.
struct Infrastructure {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::optional<ObjectRef> parametersRef;
};

/// spec.tls.frontend: how clients of HTTPS listeners are verified.
struct FrontendValidation {
  std::vector<ObjectRef> caCertificateRefs;  // ConfigMaps or Secrets with ca.crt, and perhaps crl.pem; 1 to 16
  bool insecureFallback = false;             // mode AllowInsecureFallback
  std::string path;                          // "spec.tls.frontend.default.validation"
  Position position;
};

struct FrontendPort {
  std::uint16_t port = 0;
  std::optional<FrontendValidation> validation;  // none: clients of this port are not verified
};

struct GatewayFrontend {
  std::optional<FrontendValidation> byDefault;
  std::vector<FrontendPort> perPort;  // each port once; replaces the default

  /// Returns how clients of the port are verified; nullptr if they are not.
  const FrontendValidation* ofPort(std::uint16_t port) const;
  /// Returns the default and those of ports, as they are written.
  std::vector<const FrontendValidation*> validations() const;
};

/// A Gateway, or an EgressGateway of kPrototypeGroup, which has the same spec. Two objects of different kinds may have
/// the same name.
struct Gateway {
  static constexpr std::string_view kKind = "Gateway";
  static constexpr std::string_view kEgressKind = "EgressGateway";
  static constexpr bool kSeveralKinds = true;
  /// The annotation that selects how a new configuration reaches the replicas. Its only value is Canary: one replica
  /// serves the configuration before all others.
  static constexpr std::string_view kRollout = "sluice.dev/rollout";
  static constexpr std::string_view kCanary = "Canary";
  ObjectMeta meta;
  std::string gatewayClassName;
  Infrastructure infrastructure;
  std::vector<GatewayAddress> addresses;  // all have type IPAddress; each value is a valid IP literal
  std::vector<Listener> listeners;
  std::optional<GatewayFrontend> frontend;
  std::vector<UnsupportedField> unsupported;
};

/// A Namespace of the core group. Other objects may be in a namespace without such an object.
struct Namespace {
  static constexpr std::string_view kKind = "Namespace";
  ObjectMeta meta;
};

struct ConfigMap {
  static constexpr std::string_view kKind = "ConfigMap";
  /// The key whose text has the fields of a GatewayParameters' spec.
  static constexpr std::string_view kParametersKey = "gateway-parameters.yaml";
  ObjectMeta meta;
  struct DataEntry {
    std::string value;
    Position position;              // the value's position
    std::uint32_t blockColumn = 0;  // see Value
  };
  std::map<std::string, DataEntry> data;  // contains binaryData too, decoded
  /// The parameters for Gateways that name this ConfigMap (kParametersKey); null if there is no such key.
  std::shared_ptr<const GatewayParameters> parameters;

  /// Returns nullptr if there is no such key.
  const std::string* find(const std::string& key) const;
};

/// A Secret. `data` (decoded) and `stringData` (which overrides it) are in one map.
struct SecretObject {
  static constexpr std::string_view kKind = "Secret";
  static constexpr std::string_view kCertificate = "tls.crt";
  static constexpr std::string_view kPrivateKey = "tls.key";
  ObjectMeta meta;
  std::string type;
  std::map<std::string, base::Secret> data;

  const base::Secret* find(const std::string& key) const;
  base::Result<KeyPair> keyPair() const;
};

/// The protocol of a Backend's port. kOther is a protocol that this program does not support.
enum class BackendProtocol : std::uint8_t { kAuto, kHttp11, kHttp2, kOther };

/// One port of a Backend's host, or one endpoint, which has its own host.
struct BackendPort {
  std::string name;
  std::uint16_t number = 0;
  BackendProtocol protocol = BackendProtocol::kAuto;
  std::optional<BackendTls> tls = std::nullopt;  // nullopt if the Backend's own TLS applies
  std::string protocolName = {};                 // as written: "HTTP", "MCP"; empty if absent
  std::string protocolPath = {};                 // path of the field
  // Only endpoints have the members below.
  std::string hostname = {};   // as Backend::hostname
  std::uint32_t priority = 0;  // while those with the lowest number serve, they get all requests; at most 15
  std::uint32_t weight = 1;    // among the endpoints with its priority; from 1 to 1000
};

/// Destinations that requests name: those of type Dynamic, a wildcard in place of a hostname, and Envoy Gateway's
/// DynamicResolver.
struct DynamicDestination {
  /// In lower case: exact names, or "*.suffix" for one label or more before the suffix; empty: any name or address.
  std::vector<std::string> hostnames;
};

/// One external destination, in any spelling. Its metadata has the group and kind by which a backendRef refers to it.
/// Each spelling has its own read_backend_*.cc.
struct Backend {
  static constexpr std::string_view kKind = "Backend";
  static constexpr std::string_view kDestinationKind = "XBackendDestination";
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  /// A name in lower case, or an address in canonical form for type Ip; empty for a Service. The name never belongs to
  /// this machine or to the cluster, so that a Backend cannot lead back inside. The address guard checks the address in
  /// the same way as one to which a name resolves.
  std::string hostname;
  /// The Service in the cluster that the Backend leads to. Their ports have the same numbers.
  std::optional<ObjectRef> service;
  std::vector<BackendPort> ports;  // at least one; numbers are unique unless these are endpoints
  /// True for type Endpoints. A reference then refers to all of `ports`, at most 64, and gives no port number. There is
  /// no hostname, and no two endpoints have the same host and number.
  bool hasEndpoints = false;
  /// If set, there is no hostname and no Service. A reference without a port refers to all of `ports`; a port with the
  /// number 0, which is the only one, stands for any.
  std::optional<DynamicDestination> dynamic;
  /// The `fallback` of Envoy Gateway. In a rule, the Backend gets requests only when the other Backends do not serve.
  bool isFallback = false;
  std::optional<BackendTls> tls;
  std::vector<ProcessorUse> extensions;
  BackendTraffic traffic;
  std::vector<UnsupportedField> unsupported;

  /// Returns the port for a backendRef with this number; 0 stands for the only port. Returns nullptr if there is no
  /// such port, if 0 is ambiguous, or if these are endpoints.
  const BackendPort* findPort(std::uint16_t number) const;
};

enum class TransportProtocol : std::uint8_t { kTcp, kOther };

/// core/v1 ServicePort.
struct ServicePort {
  std::string name;  // may be empty if it is the only port
  std::uint16_t number = 0;
  std::uint16_t targetPort = 0;  // 0 if absent or a name
  TransportProtocol protocol = TransportProtocol::kTcp;
  std::string appProtocol;
};

/// core/v1 Service. Only its endpoints matter, not its own address and selector.
struct Service {
  static constexpr std::string_view kKind = "Service";
  ObjectMeta meta;
  bool isExternalName = false;
  bool prefersIpv6 = false;  // the first of its ipFamilies is IPv6
  std::vector<ServicePort> ports;
};

enum class AddressType : std::uint8_t { kIpv4, kIpv6, kFqdn };

/// discovery.k8s.io/v1 EndpointSlice.
struct EndpointSlice {
  static constexpr std::string_view kKind = "EndpointSlice";
  static constexpr std::string_view kServiceLabel = "kubernetes.io/service-name";
  struct Port {
    std::string name;          // the name of the Service's port
    std::uint16_t number = 0;  // 0 for any
    TransportProtocol protocol = TransportProtocol::kTcp;
  };
  ObjectMeta meta;
  std::string service;  // in the same namespace; empty if there is none
  AddressType addressType = AddressType::kIpv4;
  struct SliceEndpoint {
    std::string address;  // an IP literal of type `addressType`
    base::EndpointZones zones;
    bool terminating = false;  // it serves until it ends, and is used if no endpoint of the Service is ready
  };
  std::vector<Port> ports;
  std::vector<SliceEndpoint> endpoints;  // without those that do not serve
};

/// Permits references from other namespaces into its own. Every `from` may refer to every `to`.
struct ReferenceGrant {
  static constexpr std::string_view kKind = "ReferenceGrant";
  struct From {
    std::string group;
    std::string kind;
    std::string nameSpace;
  };
  struct To {
    std::string group;
    std::string kind;
    std::string name;  // empty for all objects of the kind
  };
  ObjectMeta meta;
  std::vector<From> from;
  std::vector<To> to;
};

/// An object that its schema refuses. It is absent from the lists of the Model, but requests that need it must be
/// answered with 500 instead of 404.
struct Rejected : ObjectVersion {
  std::string group;
  std::string kind;
  std::string nameSpace;
  std::string name;
  std::string message;  // its first problem, with the field
  Position position;
  /// Returns the readable part of the object, so that its requests are answered with 500; nullptr if nothing could be
  /// read or the object has another type. A hostname, parent or listener that could not be read is left out, because it
  /// may have meant one that belongs to another object. A match or rule is never left out, because a broader rule would
  /// then serve its requests. Its replacement takes no request that another rule matches explicitly (see WrittenMatch
  /// and RouteRule).
  template <typename Object>
  const Object* legible() const {
    const std::shared_ptr<const Object>* object = sharedLegible<Object>();
    return object == nullptr ? nullptr : object->get();
  }
  /// Does the same for callers that keep the object. The pointer is valid as long as this object.
  template <typename Object>
  const std::shared_ptr<const Object>* sharedLegible() const {
    return std::any_cast<std::shared_ptr<const Object>>(&remains);
  }
  std::any remains;  // a std::shared_ptr<const Object>
};

struct Model : ObjectLists {
  std::vector<Rejected> rejected;
  /// Objects that their schema refuses while their previous valid version stays in service. That version is in its
  /// list, with the ObjectVersion of the refused one. See keepLastGood().
  std::vector<Rejected> kept;
  /// The pairs that serve on for Secrets whose newest version has none, by namespace and name. See keepLastPairs().
  std::map<std::pair<std::string, std::string>, KeyPair> lastPairs;

  /// The settings from the ConfigMap that this controller's GatewayClass names; the defaults if it names none or if
  /// there is a fault. If there is exactly one Gateway, its own settings override them.
  base::Settings settings;
  /// The reason why the settings could not be read (GatewayClass Accepted=False, InvalidParameters); empty if they
  /// could.
  std::string settingsFault;
  /// The reason why the previous version of their ConfigMap is used instead of the current one; empty if the current
  /// one is used.
  std::string settingsKept;
  /// The name of this controller's GatewayClass that the settings came from; empty if there is none. Other classes with
  /// the same controllerName are refused.
  std::string gatewayClassName;
  /// A copy of ObjectSet::gatewayApi.
  GatewayApiCrds gatewayApi;
  /// Copies of PodKeeping::controllerNamespace and PodKeeping::severalGateways.
  std::string controllerNamespace;
  bool severalGateways = false;

  /// Returns true if a controller runs Pods for each Gateway, which serve no other one.
  bool gatewaysHaveOwnPods() const { return !controllerNamespace.empty() && !severalGateways; }

  const Rejected* findRejected(std::string_view group, std::string_view kind, std::string_view nameSpace,
                               std::string_view name) const;
  const Rejected* findKept(std::string_view group, std::string_view kind, std::string_view nameSpace,
                           std::string_view name) const;
  /// Returns the pair that serves on for that Secret; nullptr if there is none.
  const KeyPair* findLastPair(const std::string& nameSpace, const std::string& name) const;
};

/// Returns the labels of the Namespace object, if it exists, and the label with its name that every namespace has.
std::map<std::string, std::string> labelsOfNamespace(const Model& model, std::string_view name);

}  // namespace sluice::config
