#include "proxy/control/configuration/named_certificates.h"

#include <map>
#include <string_view>
#include <utility>

#include "config/model/client_traffic_policy.h"
#include "proxy/compile/ground/grants.h"
#include "proxy/compile/ground/references.h"
#include "proxy/pki/certificate_times.h"

namespace sluice::control {
namespace {

using Use = NamedCertificate::Use;

constexpr std::string_view kChainKey = "tls.crt";
constexpr std::string_view kAuthoritiesKey = "ca.crt";

class CertificateWalk {
 public:
  explicit CertificateWalk(const config::Model& model) : model_(model) {}

  void add(const config::Gateway& gateway) {
    for (const config::Listener& listener : gateway.listeners) {
      if (!listener.tls || !config::terminatesTls(listener.protocol)) continue;
      for (const config::ObjectRef& ref : listener.tls->certificateRefs) add(gateway.meta, ref, Use::kListener);
    }
    if (!gateway.frontend) return;
    for (const config::FrontendValidation* each : gateway.frontend->validations()) {
      addAuthorities(gateway.meta, each->caCertificateRefs);
    }
  }
  void add(const config::Backend& backend) {
    if (backend.tls) add(backend.meta, *backend.tls);
    for (const config::BackendPort& port : backend.ports) {
      if (port.tls) add(backend.meta, *port.tls);
    }
  }
  void add(const config::ObjectMeta& holder, const config::BackendTls& tls) {
    addAuthorities(holder, tls.caRefs);
    if (tls.mode == config::TlsMode::kMutual && tls.clientCertificateRef) {
      add(holder, *tls.clientCertificateRef, Use::kClient);
    }
  }
  void addAuthorities(const config::ObjectMeta& holder, const std::vector<config::ObjectRef>& refs) {
    for (const config::ObjectRef& ref : refs) add(holder, ref, Use::kAuthorities);
  }
  std::vector<NamedCertificate> take() { return std::move(found_); }

 private:
  using Times = std::vector<pki::Validity>;

  void add(const config::ObjectMeta& holder, const config::ObjectRef& ref, Use use) {
    if (!compile::isPermitted(model_, ref, compile::holderOf(holder))) return;
    const std::string key(use == Use::kAuthorities ? kAuthoritiesKey : kChainKey);
    const Times& times = timesOf(ref, compile::targetNamespace(ref, holder.nameSpace), key);
    if (times.empty()) return;
    found_.push_back(
        {use, holder.title(), ref.path, ref.position, compile::describe(ref, holder.nameSpace) + ": " + key, times});
  }

  /// Many objects may refer to one text, which is parsed once. Returns nothing if it does not exist or cannot be read.
  const Times& timesOf(const config::ObjectRef& ref, std::string_view nameSpace, const std::string& key) {
    static const Times kNone;
    std::string_view text;
    if (!ref.group.empty()) return kNone;
    if (ref.kind == config::SecretObject::kKind) {
      const auto* secret = model_.find<config::SecretObject>(nameSpace, ref.name);
      const base::Secret* value = secret == nullptr ? nullptr : secret->find(key);
      if (value != nullptr) text = value->reveal();
    } else if (ref.kind == config::ConfigMap::kKind) {
      const auto* map = model_.find<config::ConfigMap>(nameSpace, ref.name);
      const std::string* value = map == nullptr ? nullptr : map->find(key);
      if (value != nullptr) text = *value;
    }
    if (text.empty()) return kNone;
    const auto [known, isNew] = read_.try_emplace(text.data());
    if (isNew) {
      if (auto times = pki::certificateTimes(text); times.ok()) known->second = std::move(*times);
    }
    return known->second;
  }

  const config::Model& model_;
  std::map<const char*, Times> read_;  // by the texts in the model
  std::vector<NamedCertificate> found_;
};

}  // namespace

std::vector<NamedCertificate> namedCertificates(const config::Model& model) {
  CertificateWalk walk(model);
  for (const config::Gateway& each : model.all<config::Gateway>()) {
    if (each.gatewayClassName == model.gatewayClassName) walk.add(each);
  }
  for (const config::Backend& each : model.all<config::Backend>()) walk.add(each);
  for (const auto& each : model.all<config::BackendTlsPolicy>()) walk.add(each.meta, each.tls);
  for (const auto& each : model.all<config::ClientTrafficPolicy>()) {
    if (each.validation) walk.addAuthorities(each.meta, each.validation->caCertificateRefs);
  }
  return walk.take();
}

}  // namespace sluice::control
