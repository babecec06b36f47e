// Reads the BackendTLS of the spellings with `spec.destination`.
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

void readCaRefs(FieldReader& tls, const DestinationForm& form, std::vector<ObjectRef>& refs) {
  const ObjectRefFields fields{form.strict ? kAnyRef.defaults : RefDefaults{"", "ConfigMap"}, true};
  const Value* given = tls.find("caBundleRef");
  if (form.first && given != nullptr && given->isMap()) {
    tls.read("caBundleRef", refs.emplace_back(), fields);
  } else {
    tls.read("caBundleRef", refs, kMaxCaRefs, fields);
  }
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

void readTlsOptions(FieldReader& holder, BackendTls& tls) {
  const Value* given = holder.find("options");
  tls.options = holder.textMap("options", kMaxOptionBytes);
  if (given == nullptr) return;
  for (const Member& member : given->members) {
    if (std::find(std::begin(kOptions), std::end(kOptions), member.key) != std::end(kOptions)) continue;
    const bool foreign = member.key.find('/') != std::string::npos && !member.key.starts_with("sluice.dev/");
    holder.addUnsupported({holder.pathOf("options"), member.position,
                           "option " + base::quote(member.key) + " is not supported", !foreign});
  }
}

void readDestinationTls(FieldReader& tls, const DestinationForm& form, BackendTls& result) {
  result.mode = TlsMode::kServerAuth;
  if (form.strict) tls.require("mode");
  readTlsMode(tls, result.mode);
  result.serverName = base::toLower(tls.text("sni", rule::kDomainName));
  if (result.serverName.ends_with('.')) result.serverName.pop_back();  // RFC 6066 section 3
  readCaRefs(tls, form, result.caRefs);
  tls.read("insecureSkipVerify", result.insecureSkipVerify);
  readClientCertificateRef(tls, result);
  readSubjectAltNames(tls, result);
  if (form.own) readTlsOptions(tls, result);
}

}  // namespace sluice::config
