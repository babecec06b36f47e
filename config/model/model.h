// The objects of one configuration as their users wrote them, checked one by one against their schemas and nothing
// more.
//
// What depends on two objects (attachment, references, conflicts) is compile()'s. Plain values with one owner; made by
// load() and read by compile() on the loading thread. Defaults of the API are filled in. A text that is empty was not
// given, unless the field says otherwise; a namespace that is empty means that of the object that holds the reference.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/label_selector.h"
#include "config/model/object_lists.h"
#include "config/model/object_meta.h"
#include "config/model/processor_model.h"
#include "config/model/route_model.h"
#include "config/yaml/document.h"
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
  LabelSelector namespaceSelector;                   // kSelector
  std::optional<std::vector<RouteKind>> routeKinds;  // none: what the protocol allows
  std::vector<Unbuilt> unbuilt;
  Position position;
};

struct GatewayAddress {
  std::string type = "IPAddress";
  std::string value;  // empty: of the implementation's choice
  std::string path;
  Position position;
};

/// For whoever creates the objects that a Gateway runs in.
struct Infrastructure {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::optional<ObjectRef> parametersRef;
};

struct Gateway {
  static constexpr std::string_view kKind = "Gateway";
  ObjectMeta meta;
  std::string gatewayClassName;
  Infrastructure infrastructure;
  std::vector<GatewayAddress> addresses;  // type IPAddress with a value: a valid IP literal
  std::vector<Listener> listeners;
  std::vector<Unbuilt> unbuilt;
};

/// Of the core group; a namespace need not have one to hold objects.
struct Namespace {
  static constexpr std::string_view kKind = "Namespace";
  ObjectMeta meta;
};

struct ConfigMap {
  static constexpr std::string_view kKind = "ConfigMap";
  ObjectMeta meta;
  struct Entry {
    std::string value;
    Position position;              // of the value
    std::uint32_t blockColumn = 0;  // as in Value
  };
  std::map<std::string, Entry> data;  // binaryData, decoded, is in here too

  /// nullptr if there is no such key.
  const std::string* find(const std::string& key) const;
};

/// A Secret: `data` (decoded) and `stringData` (which wins) in one map.
struct SecretObject {
  static constexpr std::string_view kKind = "Secret";
  ObjectMeta meta;
  std::string type;
  std::map<std::string, base::Secret> data;

  const base::Secret* find(const std::string& key) const;
};

/// What every spelling of TLS towards a Backend comes down to (C-01).
enum class TlsMode : std::uint8_t { kNone, kPassthrough, kServerAuth, kMutual };

struct BackendTls {
  TlsMode mode = TlsMode::kNone;
  std::string serverName;         // SNI, lower case; empty: the hostname
  std::vector<ObjectRef> caRefs;  // ConfigMaps (or Secrets) with the key ca.crt; empty: the system's authorities
  std::vector<std::string>
      subjectAltNames;  // DNS names, one of which the certificate must have; empty: the hostname verified
  std::optional<ObjectRef> clientCertificateRef;  // kMutual: a Secret with tls.crt and tls.key
  bool insecureSkipVerify = false;
  /// `tls.options` of our own Backend (E-57), by the keys of tls_option, as they were written.
  std::map<std::string, std::string> options;
  std::string path = "spec.tls";
  Position position;
};

namespace tls_option {
inline constexpr std::string_view kSpkiPins = "sluice.dev/spki-pins";
inline constexpr std::string_view kMinVersion = "sluice.dev/min-tls-version";
inline constexpr std::string_view kCipherSuites = "sluice.dev/cipher-suites";
}  // namespace tls_option

/// What a port of a Backend speaks; kOther is none of ours.
enum class BackendProtocol : std::uint8_t { kAuto, kHttp11, kHttp2, kOther };

struct BackendPort {
  std::string name;
  std::uint16_t number = 0;
  BackendProtocol protocol = BackendProtocol::kAuto;
  std::optional<BackendTls> tls = std::nullopt;  // none: that of the Backend
  std::string protocolName = {};                 // as written: "HTTP", "MCP"; empty if it was not
  std::string protocolPath = {};                 // of the field
};

/// One external destination, in whichever spelling it came: what a backendRef names it by are the group and kind of its
/// metadata. Each spelling has its own read_backend_*.cc.
struct Backend {
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  /// Lower case, a name; never an address, nor this machine's or the cluster's own name (E-54). Empty, with or without
  /// ports, for destinations of a kind that is not built.
  std::string hostname;
  std::vector<BackendPort> ports;  // at least one, each number once
  std::optional<BackendTls> tls;
  std::vector<ProcessorUse> extensions;
  std::vector<Unbuilt> unbuilt;

  /// What a backendRef with this port means: 0 is the only port. nullptr if there is no such port, or none was named
  /// among several.
  const BackendPort* findPort(std::uint16_t number) const;
};

enum class TransportProtocol : std::uint8_t { kTcp, kOther };

/// core/v1 ServicePort.
struct ServicePort {
  std::string name;  // may be empty, if the Service has no other
  std::uint16_t number = 0;
  std::uint16_t targetPort = 0;  // 0: not given, or a name
  TransportProtocol protocol = TransportProtocol::kTcp;
  std::string appProtocol;
};

/// core/v1 Service. Whether it has an address of its own, or a selector, does not matter: its endpoints do.
struct Service {
  static constexpr std::string_view kKind = "Service";
  ObjectMeta meta;
  bool isExternalName = false;
  bool prefersIpv6 = false;  // the first of its ipFamilies
  std::vector<ServicePort> ports;
};

enum class AddressType : std::uint8_t { kIpv4, kIpv6, kFqdn };

/// discovery.k8s.io/v1 EndpointSlice.
struct EndpointSlice {
  static constexpr std::string_view kKind = "EndpointSlice";
  struct Port {
    std::string name;          // that of the Service's port
    std::uint16_t number = 0;  // 0: any
    TransportProtocol protocol = TransportProtocol::kTcp;
  };
  ObjectMeta meta;
  std::string service;  // in its namespace; empty: of none
  AddressType addressType = AddressType::kIpv4;
  std::vector<Port> ports;
  std::vector<std::string> addresses;  // of the endpoints that are ready; IP literals of its type
};

/// Leave for references from other namespaces into that of the grant: any `from` to any `to`.
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
    std::string name;  // empty: all of the kind
  };
  ObjectMeta meta;
  std::vector<From> from;
  std::vector<To> to;
};

/// An object that its schema refuses: absent from the lists of the Model, but what refers to it must answer 500, not
/// 404 (C-11).
struct Rejected : ObjectVersion {
  std::string group;
  std::string kind;
  std::string nameSpace;
  std::string name;
  std::string message;  // its first problem, with the field
  Position position;
  /// What could still be read of it, so that what it would have carried can answer 500; nullptr if nothing could, or if
  /// it is no such object. It never claims more than was written: a match, hostname, parent or listener that is not
  /// legible is left out, and a rule without a legible match too. A PayloadProcessor is legible if its target is.
  template <typename Object>
  const Object* legible() const {
    const auto* object = std::any_cast<std::shared_ptr<const Object>>(&remains);
    return object == nullptr ? nullptr : object->get();
  }
  std::any remains;  // a std::shared_ptr<const Object>
};

struct Model : ObjectLists {
  std::vector<Rejected> rejected;
  /// Objects that their schema refuses while their previous valid version serves on: that one is in its list, with
  /// the ObjectVersion of the refused one. See keepLastGood().
  std::vector<Rejected> kept;

  /// From the ConfigMap that our GatewayClass names; the defaults if it names none, or if there is a fault.
  base::Settings settings;
  /// Why the settings could not be read (GatewayClass Accepted=False, InvalidParameters); empty if they could.
  std::string settingsFault;
  /// Why `settings` are not those that are written but the ones before them; empty if they are.
  std::string settingsKept;
  /// The GatewayClass with our controllerName that the settings came from; empty if there is none. Others with our name
  /// are refused.
  std::string gatewayClassName;

  const Rejected* findRejected(std::string_view group, std::string_view kind, std::string_view nameSpace,
                               std::string_view name) const;
  const Rejected* findKept(std::string_view group, std::string_view kind, std::string_view nameSpace,
                           std::string_view name) const;
};

/// Those of the Namespace object, if there is one, and the one that every namespace has: its name.
std::map<std::string, std::string> labelsOfNamespace(const Model& model, std::string_view name);

}  // namespace sluice::config
