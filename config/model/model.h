// The objects of one configuration as their users wrote them, each checked against its own schema and nothing more.
//
// Everything that depends on two objects (attachment, references, conflicts) belongs to compile(). These are plain
// values with one owner; load() makes them and compile() reads them on the loading thread. Defaults of the API are
// filled in. An empty text means that the field was not given, unless the field says otherwise; an empty namespace
// means the namespace of the object that holds the reference.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/object_meta.h"
#include "config/model/backend_tls.h"
#include "config/model/backend_tls_policy.h"
#include "config/model/gateway_parameters.h"
#include "config/model/object_lists.h"
#include "config/model/policy_model.h"
#include "config/model/processor_model.h"
#include "config/model/route_model.h"
#include "config/model/traffic_policy.h"
#include "proxy/base/label_selector.h"
#include "proxy/base/secret.h"
#include "proxy/base/settings.h"

namespace sluice::config {

struct GatewayClass {
  static constexpr std::string_view kKind = "GatewayClass";
  ObjectMeta meta;
  std::string controllerName;
  std::string description;
  std::optional<ObjectRef> parametersRef;
};

enum class ListenerProtocol : std::uint8_t { kHttp, kHttps, kOther };
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
  std::string hostname;  // lower case, may begin with "*."; empty: all
  std::uint16_t port = 0;
  ListenerProtocol protocol = ListenerProtocol::kHttp;
  std::string protocolName;        // as written: "HTTP", "TLS", "example.com/quic"
  std::optional<ListenerTls> tls;  // kHttps may lack it: then it has no certificate
  RouteNamespaces routeNamespaces = RouteNamespaces::kSame;
  base::LabelSelector namespaceSelector;             // set for kSelector
  std::optional<std::vector<RouteKind>> routeKinds;  // none: the kinds that the protocol allows
  std::vector<UnsupportedField> unsupported;
  Position position;
};

struct GatewayAddress {
  std::string type = "IPAddress";
  std::string value;  // empty: the implementation chooses
  std::string path;
  Position position;
};

/// Labels and annotations for controllers that create the objects a Gateway runs in.
struct Infrastructure {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::optional<ObjectRef> parametersRef;
};

/// A Gateway, or an EgressGateway of kPrototypeGroup, which has the same spec. One name may occur once in each kind.
struct Gateway {
  static constexpr std::string_view kKind = "Gateway";
  static constexpr std::string_view kEgressKind = "EgressGateway";
  static constexpr bool kSeveralKinds = true;
  /// The annotation that asks how a new configuration comes to the replicas, and its one value: one replica serves it
  /// before all others.
  static constexpr std::string_view kRollout = "sluice.dev/rollout";
  static constexpr std::string_view kCanary = "Canary";
  ObjectMeta meta;
  std::string gatewayClassName;
  Infrastructure infrastructure;
  std::vector<GatewayAddress> addresses;  // entries have type IPAddress; a value is a valid IP literal
  std::vector<Listener> listeners;
  std::vector<UnsupportedField> unsupported;
};

/// A Namespace of the core group. A namespace need not have such an object to hold others.
struct Namespace {
  static constexpr std::string_view kKind = "Namespace";
  ObjectMeta meta;
};

struct ConfigMap {
  static constexpr std::string_view kKind = "ConfigMap";
  /// The key whose text holds the fields of a GatewayParameters' spec.
  static constexpr std::string_view kParametersKey = "gateway-parameters.yaml";
  ObjectMeta meta;
  struct DataEntry {
    std::string value;
    Position position;              // the value's position
    std::uint32_t blockColumn = 0;  // see Value
  };
  std::map<std::string, DataEntry> data;  // contains binaryData too, decoded
  /// The parameters of Gateways that name this ConfigMap (kParametersKey); null if there is no such key.
  std::shared_ptr<const GatewayParameters> parameters;

  /// Returns nullptr if there is no such key.
  const std::string* find(const std::string& key) const;
};

/// A Secret. `data` (decoded) and `stringData` (which wins) are in one map.
struct SecretObject {
  static constexpr std::string_view kKind = "Secret";
  ObjectMeta meta;
  std::string type;
  std::map<std::string, base::Secret> data;

  const base::Secret* find(const std::string& key) const;
};

/// The protocol of a Backend's port; kOther is one that this program does not speak.
enum class BackendProtocol : std::uint8_t { kAuto, kHttp11, kHttp2, kOther };

/// One port of a Backend's host; or one endpoint, which has a host of its own.
struct BackendPort {
  std::string name;
  std::uint16_t number = 0;
  BackendProtocol protocol = BackendProtocol::kAuto;
  std::optional<BackendTls> tls = std::nullopt;  // none: the Backend's own applies
  std::string protocolName = {};                 // as written: "HTTP", "MCP"; empty if not given
  std::string protocolPath = {};                 // path of the field
  // Only of an endpoint:
  std::string hostname = {};   // as Backend::hostname
  std::uint32_t priority = 0;  // those with the lowest get the requests as long as they serve; at most 15
  std::uint32_t weight = 1;    // among those of its priority; from 1 to 1000
};

/// One external destination, in any spelling. The group and kind of its metadata are those by which a backendRef names
/// it. Each spelling has its own read_backend_*.cc.
struct Backend {
  static constexpr std::string_view kKind = "Backend";
  static constexpr std::string_view kDestinationKind = "XBackendDestination";
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  /// A name in lower case, never of this machine or of the cluster, so that a Backend cannot lead back inside; or for
  /// type Ip an address in its canonical form, which the address guard judges like one that a name resolves to. Empty
  /// for a Service.
  std::string hostname;
  /// The Service of the cluster that it leads to, at the Service's ports of the same numbers.
  std::optional<ObjectRef> service;
  std::vector<BackendPort> ports;  // at least one; numbers are unique unless these are endpoints
  /// True of type Endpoints: a reference means all of `ports`, at most 64, and none by its number. There is no hostname
  /// then, and no two have the same host and number.
  bool hasEndpoints = false;
  /// Envoy Gateway's `fallback`: in a rule it gets requests when the other Backends do not serve.
  bool isFallback = false;
  std::optional<BackendTls> tls;
  std::vector<ProcessorUse> extensions;
  BackendTraffic traffic;
  std::vector<UnsupportedField> unsupported;

  /// Returns the port that a backendRef with this port means; 0 means the only port. Returns nullptr if there is no
  /// such port, if 0 is ambiguous, or if these are endpoints.
  const BackendPort* findPort(std::uint16_t number) const;
};

enum class TransportProtocol : std::uint8_t { kTcp, kOther };

/// core/v1 ServicePort.
struct ServicePort {
  std::string name;  // may be empty if the Service has no other port
  std::uint16_t number = 0;
  std::uint16_t targetPort = 0;  // 0: not given, or a name
  TransportProtocol protocol = TransportProtocol::kTcp;
  std::string appProtocol;
};

/// core/v1 Service. Its own address and its selector do not matter; only its endpoints do.
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
    std::uint16_t number = 0;  // 0: any
    TransportProtocol protocol = TransportProtocol::kTcp;
  };
  ObjectMeta meta;
  std::string service;  // same namespace; empty: no Service
  AddressType addressType = AddressType::kIpv4;
  std::vector<Port> ports;
  std::vector<std::string> addresses;  // IP literals of the ready endpoints, all of `addressType`
};

/// Permits references from other namespaces into the grant's own: from any `from` to any `to`.
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
    std::string name;  // empty: all objects of the kind
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
  /// Returns the legible part of the object, so that requests for it can be answered with 500; nullptr if nothing was
  /// legible or the object has another type. An illegible hostname, parent or listener is left out, because what it
  /// meant may belong to others. A match or rule is not left out, because its requests would then be served by a rule
  /// that covers more (see WrittenMatch and RouteRule); it takes none that another rule has written down.
  template <typename Object>
  const Object* legible() const {
    const std::shared_ptr<const Object>* object = sharedLegible<Object>();
    return object == nullptr ? nullptr : object->get();
  }
  /// Does the same for those who keep it; the pointer is valid as long as this object.
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

  /// Settings from the ConfigMap that our GatewayClass names; the defaults if it names none or if there is a fault. If
  /// there is one Gateway alone, its own settings are in them.
  base::Settings settings;
  /// The reason why the settings could not be read (GatewayClass Accepted=False, InvalidParameters); empty if they
  /// could.
  std::string settingsFault;
  /// The reason why the previous version of their ConfigMap applies instead of the written one; empty if the written
  /// one applies.
  std::string settingsKept;
  /// Name of the GatewayClass with our controllerName that the settings came from; empty if there is none. Other
  /// classes with our controllerName are refused.
  std::string gatewayClassName;
  /// ObjectSet::gatewayApiVersion.
  std::string gatewayApiVersion;
  /// PodKeeping::controllerNamespace.
  std::string controllerNamespace;

  const Rejected* findRejected(std::string_view group, std::string_view kind, std::string_view nameSpace,
                               std::string_view name) const;
  const Rejected* findKept(std::string_view group, std::string_view kind, std::string_view nameSpace,
                           std::string_view name) const;
};

/// Returns the labels of the Namespace object, if there is one, and the label with its name that every namespace has.
std::map<std::string, std::string> labelsOfNamespace(const Model& model, std::string_view name);

}  // namespace sluice::config
