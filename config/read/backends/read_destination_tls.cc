// Reads BackendTLS of the spellings with `spec.destination`.
#include <algorithm>

#include "config/read/backends/backend_readers.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxCaRefs = 8;
constexpr std::size_t kMaxSubjectAltNames = 16;
constexpr std::size_t kMaxOptionBytes = 4096;

constexpr std::string_view kOptions[] = {tls_option::kSpkiPins, tls_option::kMinVersion, tls_option::kCipherSuites};

std::vector<ObjectRef> readCaRefs(FieldReader& tls, const DestinationForm& form) {
  const RefDefaults defaults = form.strict ? RefDefaults{"", "", true} : RefDefaults{"", "ConfigMap"};
  const Value* given = tls.find("caBundleRef");
  if (given == nullptr || !given->isMap() || !form.first) {
    return readObjectRefs(tls, "caBundleRef", kMaxCaRefs, defaults, true);
  }
  FieldReader ref = tls.map("caBundleRef");
  std::vector<ObjectRef> refs = {readObjectRef(ref, defaults, true)};
  ref.finish();
  return refs;
}

void readSubjectAltNames(FieldReader& tls, BackendTls& result) {
  for (const Item& item : tls.list("subjectAltNames", kMaxSubjectAltNames)) {
    const bool isUri = item.value->isString() && item.value->text.find(':') != std::string::npos;
    const TextRule& rule = isUri ? rule::kUri : rule::kHostname;
    if (auto name = readText(*item.value, item.path, rule, tls.context())) {
      result.subjectAltNames.push_back(std::move(*name));
    }
  }
}

}  // namespace

void readTlsOptions(FieldReader& holder, BackendTls& tls, std::vector<UnsupportedField>& unsupported) {
  const Value* given = holder.find("options");
  tls.options = holder.textMap("options", kMaxOptionBytes);
  if (given == nullptr) return;
  for (const Member& member : given->members) {
    if (std::find(std::begin(kOptions), std::end(kOptions), member.key) != std::end(kOptions)) continue;
    const bool foreign = member.key.find('/') != std::string::npos && !member.key.starts_with("sluice.dev/");
    unsupported.push_back({holder.pathOf("options"), member.position,
                           "option " + base::quote(member.key) + " is not supported", !foreign});
  }
}

BackendTls readDestinationTls(FieldReader tls, const DestinationForm& form,
                              std::vector<UnsupportedField>& unsupported) {
  BackendTls result;
  result.path = tls.path();
  result.position = tls.position();
  if (form.strict) tls.require("mode");
  result.mode = readTlsMode(tls, TlsMode::kServerAuth);
  result.serverName = base::toLower(tls.text("sni", rule::kDomainName));
  if (result.serverName.ends_with('.')) result.serverName.pop_back();  // RFC 6066 section 3
  result.caRefs = readCaRefs(tls, form);
  result.insecureSkipVerify = tls.boolean("insecureSkipVerify", false);
  result.clientCertificateRef = readClientCertificateRef(tls, result.mode);
  readSubjectAltNames(tls, result);
  if (form.own) readTlsOptions(tls, result, unsupported);
  tls.finish();
  return result;
}

}  // namespace sluice::config
