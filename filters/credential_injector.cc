#include "filters/credential_injector.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "proxy/base/base64.h"
#include "proxy/http/hygiene.h"
#include "proxy/processing/field_edits.h"
#include "proxy/processing/query_edit.h"

namespace sluice::filters {
namespace {

using base::Secret;
using processing::Made;
using processing::Phase;
using processing::Refusal;
using processing::Use;
using processing::Verdict;

constexpr std::string_view kCredentialInjectorSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "CredentialInjector",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "secretRef": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 253},
        "namespace": {"type": "string", "minLength": 1, "maxLength": 63},
        "key": {"type": "string", "minLength": 1, "maxLength": 253}
      },
      "required": ["name"]
    },
    "header": {"type": "string", "minLength": 1, "maxLength": 256},
    "prefix": {"type": "string", "maxLength": 256},
    "queryParam": {"type": "string", "minLength": 1, "maxLength": 256},
    "basic": {"type": "boolean", "default": false},
    "allowPlaintext": {"type": "boolean", "default": false}
  },
  "required": ["secretRef"]
})";

/// Returns true for TRACE: its recipient answers with the request it received (RFC 9110 section 9.3.8), so that the
/// client would read the credential.
bool wouldBeEchoed(const http::RequestHead& request) { return request.method == http::Method::kTrace; }

Verdict refuse(base::Error error) { return Verdict::reply({std::move(error), {}}); }

Verdict refuseEcho() {
  return refuse(base::Error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kDownstream,
                            "TRACE would show the gateway's credential"));
}

/// Removes the credentials that the client has sent in other fields than `own`: a Backend that knows several might
/// prefer them to the gateway's.
void removeOthers(processing::RequestEditor& edit, std::string_view own) {
  static constexpr std::string_view kWellKnown[] = {"authorization", "x-api-key", "api-key", "x-goog-api-key"};
  for (const std::string_view name : kWellKnown) {
    if (name != own) edit.removeSent(name);
  }
}

/// The views of fields that it adds point into the processor itself, so an exchange keeps the processor until its end.
class HeaderCredential final : public processing::Processor {
 public:
  HeaderCredential(std::string name, Secret value) : name_(std::move(name)), value_(std::move(value)) {}

  Verdict process(processing::Call& call, const processing::Peer& /*peer*/) const override {
    if (wouldBeEchoed(call.request)) return refuseEcho();
    removeOthers(call.edit, name_);
    call.edit.removeTwins(name_);
    call.edit.add({name_, value_.reveal(), http::fieldId(name_), http::Care::kSecret});
    return Verdict::goOn();
  }

 private:
  const std::string name_;  // in lower case, like all names of a head
  const Secret value_;
};

class QueryCredential final : public processing::Processor {
 public:
  QueryCredential(std::string name, Secret parameter) : name_(std::move(name)), parameter_(std::move(parameter)) {}

  Verdict process(processing::Call& call, const processing::Peer& /*peer*/) const override {
    if (wouldBeEchoed(call.request)) return refuseEcho();
    if (!call.request.target.starts_with('/')) {
      return refuse(base::Error::badRequest(400, "a request without a path cannot carry the gateway's credential"));
    }
    removeOthers(call.edit, {});
    call.edit.setParameter(name_, parameter_.reveal(), http::Care::kSecret);
    return Verdict::goOn();
  }

 private:
  const std::string name_;
  const Secret parameter_;  // "name=value", encoded
};

/// Joins the parts without a reallocation, which would leave a copy behind in freed memory.
Secret join(std::string_view a, std::string_view b, std::string_view c = {}) {
  std::string joined;
  joined.reserve(a.size() + b.size() + c.size());
  joined.append(a).append(b).append(c);
  return Secret(std::move(joined));
}

/// Removes a line break at the end, which files have but credentials do not.
std::string_view withoutLineEnd(std::string_view bytes) {
  if (!bytes.ends_with('\n')) return bytes;
  bytes.remove_suffix(bytes.ends_with("\r\n") ? 2 : 1);
  return bytes;
}

bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// Returns why the bytes cannot be a credential; empty if they can.
std::string_view faultOf(std::string_view bytes) {
  if (bytes.empty()) return "is empty";
  if (std::any_of(bytes.begin(), bytes.end(), isControl)) return "holds control characters";
  if (bytes.front() == ' ' || bytes.back() == ' ') return "begins or ends with a space";
  return {};
}

std::string_view textOf(const content::Value& map, std::string_view member) {
  const content::Value* value = map.find(member);
  return value != nullptr ? std::string_view(value->text) : std::string_view{};
}

bool isSet(const content::Value& map, std::string_view member) { return textOf(map, member) == "true"; }

class SecretReader {
 public:
  SecretReader(const Use& use, const content::Value& ref) : use_(use), ref_(ref) {}

  /// Returns an empty secret, and sets refusal, after an error.
  Secret read(std::string_view key) {
    auto found = use_.secrets.find(textOf(ref_, "namespace"), textOf(ref_, "name"), key);
    if (!found.bytes) {
      refusal = {std::move(found.refusal.reason), "secretRef: " + found.refusal.message};
      return {};
    }
    const std::string_view bytes = withoutLineEnd(found.bytes->reveal());
    const std::string_view fault = faultOf(bytes);
    if (fault.empty()) return Secret(std::string(bytes));
    refusal = {"InvalidSecretRef", "secretRef: what Secret " + std::string(textOf(ref_, "name")) + " holds" +
                                       (key.empty() ? "" : " in " + std::string(key)) + " " + std::string(fault)};
    return {};
  }

  Refusal refusal;

 private:
  const Use& use_;
  const content::Value& ref_;
};

/// Returns "username:password" in Base64 (RFC 7617 section 2), or an empty secret after an error of the reader.
Secret readBasic(SecretReader& secrets) {
  const Secret user = secrets.read("username");
  if (user.empty()) return {};
  if (user.reveal().find(':') != std::string_view::npos) {
    secrets.refusal = {"InvalidSecretRef", "secretRef: username holds a colon"};
    return {};
  }
  const Secret password = secrets.read("password");
  if (password.empty()) return {};
  return Secret(base::encodeBase64(join(user.reveal(), ":", password.reveal()).reveal()));
}

/// Returns a description of members that contradict each other; empty if there are none.
std::string_view conflictIn(const content::Value& config, const content::Value& ref) {
  const bool basic = isSet(config, "basic");
  if (config.find("header") != nullptr && config.find("queryParam") != nullptr) {
    return "header and queryParam exclude each other";
  }
  if (basic && config.find("queryParam") != nullptr) return "basic and queryParam exclude each other";
  if (basic && config.find("prefix") != nullptr) return "basic and prefix exclude each other";
  if (basic && ref.find("key") != nullptr) return "basic takes username and password, and no secretRef.key";
  return {};
}

std::string_view prefixFor(const content::Value& config, std::string_view header) {
  if (isSet(config, "basic")) return "Basic ";
  if (const content::Value* prefix = config.find("prefix")) return prefix->text;
  return header == "authorization" ? "Bearer " : "";
}

Made makeCredentialInjector(const Use& use) {
  const auto invalid = [](std::string message) { return Made{nullptr, {"InvalidConfig", std::move(message)}}; };
  const content::Value* ref = use.config.find("secretRef");
  if (ref == nullptr) return invalid("secretRef is required");
  const std::string_view conflict = conflictIn(use.config, *ref);
  if (!conflict.empty()) return invalid(std::string(conflict));
  if (use.exposed && !isSet(use.config, "allowPlaintext")) {
    return {nullptr,
            {"InsecureCredential",
             "the Backend is outside and spoken to without TLS: everybody on the way could read the credential; "
             "allowPlaintext: true permits it"}};
  }
  const std::string_view parameter = textOf(use.config, "queryParam");
  const std::string_view wanted = textOf(use.config, "header");
  auto header = processing::editableField(wanted.empty() ? "Authorization" : wanted);
  if (!header) return invalid("header: " + header.error().detail);
  const std::string_view prefix = parameter.empty() ? prefixFor(use.config, *header) : textOf(use.config, "prefix");
  if (std::any_of(prefix.begin(), prefix.end(), isControl) || prefix.starts_with(' ')) {
    return invalid("prefix: holds control characters or begins with a space");
  }

  SecretReader secrets(use, *ref);
  const Secret credential = isSet(use.config, "basic") ? readBasic(secrets) : secrets.read(textOf(*ref, "key"));
  if (credential.empty()) return {nullptr, std::move(secrets.refusal)};
  Secret value = join(prefix, credential.reveal());
  if (parameter.empty()) {
    return {std::make_shared<const HeaderCredential>(std::move(header).value(), std::move(value)), {}};
  }
  const Secret encoded(processing::encodeQuery(value.reveal()));
  return {std::make_shared<const QueryCredential>(std::string(parameter),
                                                  join(processing::encodeQuery(parameter), "=", encoded.reveal())),
          {}};
}

}  // namespace

processing::BuiltinType credentialInjector() {
  return {"gateway.networking.k8s.io/CredentialInjector:v1",
          {Phase::kRequestHeaders, Phase::kBackendRequest},
          false,
          kCredentialInjectorSchema,
          makeCredentialInjector};
}

}  // namespace sluice::filters
