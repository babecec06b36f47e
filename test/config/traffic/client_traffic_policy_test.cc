// Tests the reader of Envoy Gateway's ClientTrafficPolicy: the validation of clients that is served, and whether a
// policy restricts them by anything else.
#include "config/model/client_traffic_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "config/load/object_reading.h"
#include "config/yaml/yaml_reader.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kAuthorities = "caCertificateRefs: [{kind: ConfigMap, name: ca}]";
constexpr const char* kKeyHash = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
constexpr const char* kCertificateHash = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

std::string clientPolicyText(const std::string& fields) {
  return object("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "p",
                "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], " + fields + "}\n");
}
std::string validatingClients(const std::string& fields) { return "tls: {clientValidation: {" + fields + "}}"; }

/// Returns the policy if its schema accepts it.
ClientTrafficPolicy loadedClientPolicy(const std::string& fields) {
  const Configuration configuration = loadText(clientPolicyText(fields));
  EXPECT_FALSE(hasErrors(configuration.problems)) << fields;
  const auto& all = configuration.model.all<ClientTrafficPolicy>();
  return all.empty() ? ClientTrafficPolicy() : all.at(0);
}

/// Returns the policy as an API server has it, which may know fields that this program does not know.
ClientTrafficPolicy clientPolicyOfKubernetes(const std::string& fields) {
  Problems problems;
  const std::vector<Document> documents = readYaml(clientPolicyText(fields), {}, problems);
  ObjectSet set;
  std::vector<ObjectReading> readings;
  readObjects(documents.at(0).root, {Severity::kWarning, base::Secret()}, readings);
  set.readings.push_back(std::make_shared<const std::vector<ObjectReading>>(std::move(readings)));
  const Configuration configuration = load(set, nullptr);
  EXPECT_THAT(configuration.model.all<ClientTrafficPolicy>(), SizeIs(1)) << fields;
  return configuration.model.all<ClientTrafficPolicy>().at(0);
}

std::string warningOfClientPolicy(const std::string& fields) {
  for (const Problem& each : loadText(clientPolicyText(fields)).problems) {
    if (each.severity == Severity::kWarning) return each.field + ": " + each.message;
  }
  return {};
}

pki::Sha256Digest countingDigest() {
  pki::Sha256Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<unsigned char>(i);
  return digest;
}

TEST(ClientTrafficPolicies, AreServedForTheCertificatesOfClients) {
  const ClientTrafficPolicy policy = loadedClientPolicy(validatingClients(
      "optional: true, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}, {namespace: keys, name: more}], "
      "crl: "
      "{refs: [{name: revoked}], onlyVerifyLeafCertificate: false}, spkiHashes: ['" +
      std::string(kKeyHash) + "'], certificateHashes: ['" + kCertificateHash +
      "'], subjectAltNames: {dnsNames: [{type: Suffix, value: .example.com}], emailAddresses: [{value: a@b.test}], "
      "ipAddresses: [{type: Exact, value: '0:0::1'}], uris: [{type: Prefix, value: 'spiffe://cluster.local/'}]}"));
  EXPECT_EQ(policy.targets.at(0).object.name, "g");
  EXPECT_TRUE(policy.restricts);
  EXPECT_EQ(policy.note, Finding());
  ASSERT_TRUE(policy.validation);
  const ClientCertificateTerms& terms = *policy.validation;
  EXPECT_TRUE(terms.optional);
  EXPECT_EQ(terms.path, "spec.tls.clientValidation");
  EXPECT_EQ(terms.position.line, 4U);
  ASSERT_THAT(terms.caCertificateRefs, SizeIs(2));
  EXPECT_EQ(terms.caCertificateRefs[0].kind, "ConfigMap");
  EXPECT_EQ(terms.caCertificateRefs[1].kind, "Secret");
  EXPECT_EQ(terms.caCertificateRefs[1].nameSpace, "keys");
  EXPECT_EQ(terms.caCertificateRefs[1].path, "spec.tls.clientValidation.caCertificateRefs[1]");
  ASSERT_THAT(terms.revocationListRefs, SizeIs(1));
  EXPECT_EQ(terms.revocationListRefs[0].name, "revoked");
  EXPECT_THAT(terms.keys, ElementsAre(countingDigest()));
  EXPECT_THAT(terms.certificates, ElementsAre(countingDigest()));
  using Name = pki::AdmittedName;
  EXPECT_THAT(terms.names, ElementsAre(Name{Name::Kind::kDns, Name::Match::kSuffix, ".example.com"},
                                       Name{Name::Kind::kEmail, Name::Match::kExact, "a@b.test"},
                                       Name{Name::Kind::kIp, Name::Match::kExact, "::1"},
                                       Name{Name::Kind::kUri, Name::Match::kPrefix, "spiffe://cluster.local/"}));
}

TEST(ClientTrafficPolicies, DemandACertificateByDefault) {
  const ClientTrafficPolicy policy = loadedClientPolicy(validatingClients(kAuthorities));
  ASSERT_TRUE(policy.validation);
  EXPECT_FALSE(policy.validation->optional);
  EXPECT_THAT(policy.validation->revocationListRefs, IsEmpty());
  EXPECT_THAT(policy.validation->names, IsEmpty());
  EXPECT_EQ(warningOfClientPolicy(validatingClients(kAuthorities)), "");
}

TEST(ClientTrafficPolicies, ReadHashesOfCertificatesAsOpensslPrintsThem) {
  std::string withColons;
  for (std::size_t i = 0; i < 64; i += 2) {
    withColons += (i == 0 ? "" : ":") + std::string(kCertificateHash).substr(i, 2);
  }
  const ClientTrafficPolicy policy =
      loadedClientPolicy(validatingClients(std::string(kAuthorities) + ", certificateHashes: ['" + withColons + "']"));
  ASSERT_TRUE(policy.validation);
  EXPECT_THAT(policy.validation->certificates, ElementsAre(countingDigest()));
}

TEST(ClientTrafficPolicies, CloseTheirTargetsByWhatCannotBeServed) {
  const std::string spec = "spec.tls.clientValidation";
  const std::pair<std::string, std::string> parts[] = {
      {"", spec + ": verifies clients without caCertificateRefs"},
      {"spkiHashes: ['" + std::string(kKeyHash) + "']", spec + ": verifies clients without caCertificateRefs"},
      {"caCertificateRefs: []", spec + ": verifies clients without caCertificateRefs"},
      {kAuthorities + std::string(", crl: {refs: [{name: a}], onlyVerifyLeafCertificate: true}"),
       spec + ".crl.onlyVerifyLeafCertificate: looks up only the certificates of clients"},
      {kAuthorities + std::string(", subjectAltNames: {dnsNames: [{value: a}, {type: RegularExpression, value: a.*}]}"),
       spec + ".subjectAltNames.dnsNames[1].type: admits names by a regular expression"},
      {kAuthorities + std::string(", subjectAltNames: {otherNames: [{oid: 1.2.3, value: a}]}"),
       spec + ".subjectAltNames.otherNames: admits clients by other names"}};
  for (const auto& [fields, message] : parts) {
    const ClientTrafficPolicy policy = loadedClientPolicy(validatingClients(fields));
    EXPECT_TRUE(policy.restricts) << fields;
    EXPECT_FALSE(policy.validation) << fields;
    EXPECT_EQ(policy.note.text(), message + ", which is not supported: the targets of the policy answer 500");
    EXPECT_EQ(warningOfClientPolicy(validatingClients(fields)), policy.note.text());
  }
}

TEST(ClientTrafficPolicies, CloseTheirTargetsByAnyOtherRestrictionToo) {
  const std::string beside = ", connection: {connectionLimit: {value: 1}}";
  const ClientTrafficPolicy policy = loadedClientPolicy(validatingClients(kAuthorities) + beside);
  EXPECT_TRUE(policy.restricts);
  EXPECT_FALSE(policy.validation);
  EXPECT_EQ(policy.note.field, "spec.connection.connectionLimit");
  EXPECT_FALSE(
      loadedClientPolicy("tls: {minVersion: '1.3', clientValidation: {" + std::string(kAuthorities) + "}}").validation);
}

TEST(ClientTrafficPolicies, AreRefusedIfTheirValidationIsWrong) {
  const std::string refs = std::string(kAuthorities) + ", ";
  const std::pair<std::string, std::string> wrong[] = {
      {"optional: 1, " + refs, "optional: must be true or false"},
      {"caCertificateRefs: [{kind: ConfigMap}]", "caCertificateRefs[0].name: is required"},
      {refs + "crl: {}", "crl.refs: is required"},
      {refs + "crl: {refs: []}", "crl.refs: must have at least one item"},
      {refs + "spkiHashes: [abc]", "spkiHashes[0]: must be the SHA-256 of a public key in base64, but is \"abc\""},
      {refs + "certificateHashes: [abc]",
       "certificateHashes[0]: must be the SHA-256 of a certificate in hexadecimal, but is \"abc\""},
      {refs + "certificateHashes: ['" + std::string(64, 'g') + "']", "certificateHashes[0]: must be the SHA-256"},
      {refs + "subjectAltNames: {uris: [{type: Contains, value: a}]}",
       "subjectAltNames.uris[0].type: must be Exact, Prefix, Suffix or RegularExpression"},
      {refs + "subjectAltNames: {uris: [{}]}", "subjectAltNames.uris[0].value: is required"},
      {refs + "subjectAltNames: {names: []}", "subjectAltNames.names: unknown field"},
      {refs + "mode: Optional", "mode: unknown field"}};
  for (const auto& [fields, message] : wrong) {
    const Configuration refused = loadText(clientPolicyText(validatingClients(fields)));
    std::vector<std::string> errors;
    for (const Problem& each : refused.problems) {
      if (each.severity == Severity::kError) errors.push_back(render(each));
    }
    EXPECT_THAT(errors, ElementsAre(AllOf(testing::StartsWith("config.yaml:4:"),
                                          HasSubstr("spec.tls.clientValidation." + message))))
        << fields;
    const auto* legible = refused.model.rejected.at(0).legible<ClientTrafficPolicy>();
    ASSERT_NE(legible, nullptr) << fields;
    EXPECT_TRUE(legible->restricts);
    EXPECT_FALSE(legible->validation);
    EXPECT_THAT(legible->targets, SizeIs(1));
  }
}

TEST(ClientTrafficPolicies, AreNotServedIfAnythingElseIsWrong) {
  const std::string good = clientPolicyText(validatingClients(kAuthorities));
  std::string ofNoKind = good;
  ofNoKind.replace(ofNoKind.find("kind: Gateway, "), 15, "");
  for (const std::string& text : {good + "surprise: 1\n", ofNoKind}) {
    const Configuration refused = loadText(text);
    ASSERT_THAT(refused.model.rejected, SizeIs(1)) << text;
    const auto* legible = refused.model.rejected[0].legible<ClientTrafficPolicy>();
    ASSERT_NE(legible, nullptr) << text;
    EXPECT_TRUE(legible->restricts) << text;
    EXPECT_FALSE(legible->validation) << text;
  }
}

TEST(ClientTrafficPolicies, SayWhatHasNoEffectBesideTheValidation) {
  EXPECT_EQ(warningOfClientPolicy(validatingClients(kAuthorities) + ", http3: {}, timeout: {}"),
            "spec.timeout: has no effect: of policies of this kind, only tls.clientValidation is supported");
  EXPECT_EQ(loadedClientPolicy(validatingClients(kAuthorities) + ", http3: {}").note, Finding());
}

TEST(ClientTrafficPolicies, SayWhetherTheyRestrictClients) {
  EXPECT_EQ(warningOfClientPolicy("path: {escapedSlashesAction: RejectRequest}"),
            "spec.path.escapedSlashesAction: restricts clients, which is not supported: the targets of the policy "
            "answer 500");
  EXPECT_EQ(warningOfClientPolicy("http3: {}"),
            "kind: policies of this kind are not supported: this one restricts no clients, and has no effect");
  EXPECT_FALSE(loadedClientPolicy("http3: {}").restricts);
  for (const char* illegible : {"tls: 1", "tsl: {clientValidation: {}}", "path: {normalise: true}"}) {
    EXPECT_EQ(warningOfClientPolicy(illegible),
              "kind: policies of this kind are not supported: parts of this one cannot be read, so it may restrict "
              "clients, and its targets answer 500")
        << illegible;
  }
}

TEST(ClientTrafficPolicies, MayRestrictByAFieldThatIsNotKnownInKubernetesEither) {
  EXPECT_TRUE(clientPolicyOfKubernetes("later: {}").restricts);
  EXPECT_FALSE(clientPolicyOfKubernetes("http3: {}").restricts);
  EXPECT_TRUE(clientPolicyOfKubernetes(validatingClients(kAuthorities)).validation);
  for (const std::string& fields :
       {validatingClients(kAuthorities + std::string(", later: 1")), validatingClients(kAuthorities) + ", later: 1"}) {
    const ClientTrafficPolicy policy = clientPolicyOfKubernetes(fields);
    EXPECT_TRUE(policy.restricts) << fields;
    EXPECT_FALSE(policy.validation) << fields;
    EXPECT_THAT(policy.note.message, EndsWith("its targets answer 500"));
  }
}

}  // namespace
}  // namespace sluice::config
