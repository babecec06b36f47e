#include "config/object_readers.h"
#include "config/text.h"

namespace sluice::config {
namespace {

enum class DestinationType : std::uint8_t { kFqdn };
constexpr Choice<DestinationType> kDestinationTypes[] = {{"FQDN", DestinationType::kFqdn}};

void readDestination(FieldReader destination, Backend& backend) {
  destination.require("type");
  destination.choice("type", kDestinationTypes, DestinationType::kFqdn, /*ignoreCase=*/true);
  destination.require("fqdn");
  FieldReader fqdn = destination.map("fqdn");
  if (destination.has("fqdn")) {
    backend.hostname = readExternalHostname(fqdn, "hostname");
    backend.ports.push_back(BackendPort{"", fqdn.requiredPort("port"), BackendProtocol::kAuto, std::nullopt});
  }
  fqdn.finish();
  destination.finish();
}

BackendTls readTls(FieldReader reader) {
  BackendTls tls;
  tls.path = reader.path();
  tls.position = reader.position();
  tls.mode = readTlsMode(reader, TlsMode::kServerAuth);
  tls.serverName = toLower(reader.text("sni", rule::kDomainName));
  if (reader.has("caBundleRef")) {
    FieldReader ref = reader.map("caBundleRef");
    tls.caRefs.push_back(readObjectRef(ref, {"", "ConfigMap"}, false));
    ref.finish();
  }
  tls.clientCertificateRef = readClientCertificateRef(reader, tls.mode);
  reader.finish();
  return tls;
}

}  // namespace

Backend readBackendSeed(FieldReader& root, ObjectMeta meta) {
  Backend backend;
  backend.meta = std::move(meta);
  backend.group = kGatewayGroup;
  backend.kind = "Backend";
  root.require("spec");
  FieldReader spec = root.map("spec");
  if (root.has("spec")) spec.require("destination");
  if (spec.has("destination")) readDestination(spec.map("destination"), backend);
  if (spec.has("tls")) backend.tls = readTls(spec.map("tls"));
  backend.extensions = readProcessorUses(spec, "extensions");
  for (const ProcessorUse& use : backend.extensions) {
    backend.unbuilt.push_back(Unbuilt{use.path, use.position, "processor " + use.type + " is not supported", true});
  }
  spec.finish();
  return backend;
}

}  // namespace sluice::config
