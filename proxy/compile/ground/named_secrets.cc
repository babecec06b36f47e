#include "proxy/compile/ground/named_secrets.h"

#include <optional>
#include <string>
#include <string_view>

#include "config/catalog/config_references.h"
#include "config/ground/patterns.h"

namespace sluice::compile {
namespace {

/// Gathers the references to Secrets of one object.
class SecretCollector {
 public:
  SecretCollector(const config::Model& model, const Holder& holder) : model_(model), holder_(holder) {}

  void add(const config::ObjectRef& ref) {
    const bool isSecret = ref.group.empty() && ref.kind == config::SecretObject::kKind;
    if (!isSecret || !mayExist(ref) || !isPermitted(model_, ref, holder_)) return;
    names_.emplace(targetNamespace(ref, holder_.nameSpace), ref.name);
  }
  void add(const config::ProcessorUse& use) {
    for (const config::ObjectRef& ref : config::referencesIn(use, model_.settings.limits)) add(ref);
  }
  void add(const std::optional<config::BackendTls>& tls) {
    if (!tls) return;
    for (const config::ObjectRef& ref : tls->caRefs) add(ref);
    if (tls->clientCertificateRef) add(*tls->clientCertificateRef);
  }

  base::ObjectNames take() && { return std::move(names_); }

 private:
  const config::Model& model_;
  const Holder holder_;
  base::ObjectNames names_;
};

}  // namespace

bool mayExist(const config::ObjectRef& ref) {
  const auto obeys = [](const config::TextRule& rule, std::string_view text) {
    return text.size() <= rule.maxLength && rule.matches(text);
  };
  return obeys(config::rule::kObjectName, ref.name) &&
         (ref.nameSpace.empty() || obeys(config::rule::kNamespace, ref.nameSpace));
}

base::ObjectNames secretsNamedBy(const std::vector<config::ObjectRef>& refs, const config::Model& model,
                                 const Holder& holder) {
  SecretCollector collector(model, holder);
  for (const config::ObjectRef& ref : refs) collector.add(ref);
  return std::move(collector).take();
}

base::ObjectNames secretsNamedBy(const config::ProcessorUse& use, const config::Model& model, const Holder& holder) {
  SecretCollector collector(model, holder);
  collector.add(use);
  return std::move(collector).take();
}

base::ObjectNames secretsNamedBy(const config::Backend& backend, const config::BackendPort& port,
                                 const config::Model& model) {
  SecretCollector collector(model, holderOf(backend.meta));
  collector.add(port.tls ? port.tls : backend.tls);
  for (const config::ProcessorUse& use : backend.extensions) collector.add(use);
  return std::move(collector).take();
}

}  // namespace sluice::compile
