#include "config/read/gateways/identity_reader.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/terms/reserved_fields.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMostSources = 3;
constexpr std::size_t kMostTrustDomains = 64;

constexpr std::string_view kClientCertificate = "ClientCertificate";
constexpr std::string_view kSourceTypes[] = {kClientCertificate, "ServiceAccountToken", "PodAddress"};

/// The name of a trust domain in a SPIFFE ID (section 2.1 of its specification).
bool isTrustDomain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return isDigit(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_'; });
}

constexpr TextRule kTrustDomain{isTrustDomain, "a trust domain like cluster.local", 255};

void readCertificateSource(FieldReader& reader, base::CertificateSource& source) {
  reader.read("trustDomains", source.trustDomains, kTrustDomain, kMostTrustDomains);
}

/// Reads one source. `given` are the types of those before it.
void readIdentitySource(FieldReader reader, std::vector<std::string_view>& given, base::IdentityTerms& terms) {
  const std::string_view type = reader.word(required("type"), kSourceTypes, {});
  if (type != kClientCertificate) {
    if (!type.empty()) reader.error("type", "identity by " + std::string(type) + " is not supported");
    // Its other members are those of a source that is not known here.
    reader.ignoreOthers();
    return;
  }
  if (std::find(given.begin(), given.end(), type) != given.end()) {
    reader.error("type", "repeats " + std::string(type) + ", of which there may be one");
  }
  given.push_back(type);
  reader.readInto(terms.clientCertificate.emplace(), readCertificateSource);
}

/// Fields that the gateway itself writes or removes, or that tell a Backend something else.
bool isTakenField(std::string_view name) {
  return base::isReservedField(name) || name.starts_with("x-forwarded") || name == "host" || base::isLoopField(name) ||
         name == "forwarded" || name == "x-real-ip" || name == "authorization" || name == "cookie";
}

void readForward(FieldReader& reader, base::IdentityTerms& terms) {
  std::string name = base::toLower(reader.anyText("header", rule::kHeaderName.maxLength));
  if (name.empty()) return;
  if (!isHeaderName(name)) {
    reader.error("header", "must be a header name, or empty for none");
  } else if (isTakenField(name)) {
    reader.error("header", "must not be " + name + ", which has another meaning");
  }
  terms.forwardHeader = std::move(name);
}

}  // namespace

void readIdentity(FieldReader& reader, base::IdentityTerms& terms) {
  std::vector<std::string_view> given;
  for (const Item& item : reader.list("sources", kMostSources)) readIdentitySource(reader.map(item), given, terms);
  reader.read("forward", terms, readForward);
}

}  // namespace sluice::config
