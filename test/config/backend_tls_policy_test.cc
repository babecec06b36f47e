#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load/load.h"
#include "config/read/object_kinds.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kServiceTarget = "targetRefs: [{group: '', kind: Service, name: s, sectionName: web}]";
constexpr const char* kSystemTrust = "validation: {hostname: a.test, wellKnownCACertificates: System}";

Configuration loadTlsPolicy(const std::string& spec, const std::string& version = "v1") {
  return loadText(object("gateway.networking.k8s.io/" + version, "BackendTLSPolicy", "p", "spec: {" + spec + "}\n"));
}
BackendTlsPolicy tlsPolicyWith(const std::string& fields) {
  const Configuration configuration = loadTlsPolicy(std::string(kServiceTarget) + ", " + fields);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  return configuration.model.all<BackendTlsPolicy>().at(0);
}
std::vector<std::string> tlsPolicyProblems(const std::string& fields) {
  return rendered(loadTlsPolicy(std::string(kServiceTarget) + ", " + fields).problems);
}
std::vector<std::string> targetProblems(const std::string& targets) {
  return rendered(loadTlsPolicy("targetRefs: " + targets + ", " + kSystemTrust).problems);
}
const BackendTlsPolicy* legibleTlsPolicy(const Configuration& configuration) {
  return configuration.model.rejected.at(0).legible<BackendTlsPolicy>();
}

TEST(BackendTlsPolicies, AreReadAsTheyAreWritten) {
  const BackendTlsPolicy policy = tlsPolicyWith(
      "validation: {hostname: api.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}, {group: '', kind: "
      "Secret, name: more}], subjectAltNames: [{type: Hostname, hostname: '*.api.test'}, {type: URI, uri: "
      "'spiffe://cluster.local/ns/a/sa/b'}]}, options: {sluice.dev/min-tls-version: '1.3'}");
  ASSERT_EQ(policy.targets.size(), 1U);
  EXPECT_EQ(policy.targets[0].object.kind, "Service");
  EXPECT_EQ(policy.targets[0].sectionName, "web");
  EXPECT_EQ(policy.tls.mode, TlsMode::kServerAuth);
  EXPECT_EQ(policy.tls.serverName, "api.test");
  ASSERT_EQ(policy.tls.caRefs.size(), 2U);
  EXPECT_EQ(policy.tls.caRefs[0].kind, "ConfigMap");
  EXPECT_EQ(policy.tls.caRefs[0].path, "spec.validation.caCertificateRefs[0]");
  EXPECT_EQ(policy.tls.caRefs[1].name, "more");
  EXPECT_THAT(policy.tls.subjectAltNames, ElementsAre("*.api.test", "spiffe://cluster.local/ns/a/sa/b"));
  EXPECT_EQ(policy.tls.options.at("sluice.dev/min-tls-version"), "1.3");
  EXPECT_THAT(policy.unsupported, IsEmpty());
}

TEST(BackendTlsPolicies, RelyOnTheSystemsAuthoritiesIfTheySaySo) {
  const BackendTlsPolicy policy = tlsPolicyWith(kSystemTrust);
  EXPECT_THAT(policy.tls.caRefs, IsEmpty());
  EXPECT_THAT(policy.tls.subjectAltNames, IsEmpty());
  EXPECT_THAT(policy.tls.options, IsEmpty());
}

TEST(BackendTlsPolicies, AreReadInBothVersionsThatTheirCrdServes) {
  for (const char* version : {"v1", "v1alpha3"}) {
    const Configuration configuration = loadTlsPolicy(std::string(kServiceTarget) + ", " + kSystemTrust, version);
    EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << version;
    EXPECT_EQ(configuration.model.all<BackendTlsPolicy>().size(), 1U) << version;
  }
  EXPECT_EQ(findObjectKind(kGatewayGroup, "BackendTLSPolicy")->status, StatusShape::kAncestors);
}

TEST(BackendTlsPolicies, NeedTheirFields) {
  EXPECT_THAT(rendered(loadTlsPolicy(kServiceTarget).problems), ElementsAre(EndsWith("spec.validation: is required")));
  EXPECT_THAT(rendered(loadTlsPolicy(kSystemTrust).problems), ElementsAre(EndsWith("spec.targetRefs: is required")));
  EXPECT_THAT(targetProblems("[]"), Contains(HasSubstr("spec.targetRefs: must have at least one item")));
  EXPECT_THAT(tlsPolicyProblems("validation: {wellKnownCACertificates: System}"),
              ElementsAre(EndsWith("spec.validation.hostname: is required")));
  EXPECT_THAT(tlsPolicyProblems("validation: {hostname: a.test}"),
              ElementsAre(HasSubstr("caCertificateRefs: or wellKnownCACertificates is required, and not both")));
  EXPECT_THAT(tlsPolicyProblems("validation: {hostname: a.test, wellKnownCACertificates: System, caCertificateRefs: "
                                "[{group: '', kind: ConfigMap, name: ca}]}"),
              ElementsAre(HasSubstr("and not both")));
  EXPECT_THAT(tlsPolicyProblems("validation: {hostname: a.test, caCertificateRefs: [{name: ca}]}"),
              Contains(HasSubstr("caCertificateRefs[0].kind: is required")));
}

TEST(BackendTlsPolicies, RefuseAWrongHostname) {
  for (const char* wrong : {"A.test", "'*.a.test'", "'https://a.test'", "a_b"}) {
    EXPECT_THAT(
        tlsPolicyProblems("validation: {wellKnownCACertificates: System, hostname: " + std::string(wrong) + "}"),
        ElementsAre(HasSubstr("spec.validation.hostname: must be a hostname in lower case")))
        << wrong;
  }
}

TEST(BackendTlsPolicies, CheckTheNamesOfCertificates) {
  const auto problems = [](const std::string& name) {
    return tlsPolicyProblems("validation: {hostname: a.test, wellKnownCACertificates: System, subjectAltNames: [" +
                             name + "]}");
  };
  for (const char* good : {"{type: Hostname, hostname: b.test}", "{type: URI, uri: 'spiffe://a/b?c#d'}",
                           "{type: URI, uri: 'a+b-c.1://'}"}) {
    EXPECT_THAT(problems(good), IsEmpty()) << good;
  }
  for (const char* wrong : {"{type: URI, uri: 'a.test'}", "{type: URI, uri: '://a'}", "{type: URI, uri: '1a://b'}",
                            "{type: URI, uri: 'urn:a'}", "{type: URI, uri: 'a://b c'}", "{type: URI, uri: 'a://é'}",
                            "{type: URI, uri: \"a://b\\nc\"}"}) {
    EXPECT_THAT(problems(wrong), ElementsAre(HasSubstr("subjectAltNames[0].uri: must be a URI"))) << wrong;
  }
  for (const char* mixed :
       {"{type: URI}", "{type: Hostname, uri: 'a://b'}", "{type: URI, uri: 'a://b', hostname: a.test}"}) {
    EXPECT_THAT(problems(mixed), ElementsAre(HasSubstr("must be Hostname with a hostname, or URI with a uri")))
        << mixed;
  }
  EXPECT_THAT(problems("{hostname: a.test}"), Contains(HasSubstr("subjectAltNames[0].type: is required")));
}

TEST(BackendTlsPolicies, HaveBounds) {
  const auto repeated = [](const std::string& what, int count) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      std::string each = what;
      each.replace(each.find('#'), 1, std::to_string(i));
      list += (i == 0 ? "" : ", ") + each;
    }
    return list;
  };
  const auto targets = [&](int count) {
    return targetProblems("[" + repeated("{group: '', kind: Service, name: s#}", count) + "]");
  };
  EXPECT_THAT(targets(16), IsEmpty());
  EXPECT_THAT(targets(17), Contains(HasSubstr("spec.targetRefs")));
  const auto refs = [&](int count) {
    return tlsPolicyProblems("validation: {hostname: a.test, caCertificateRefs: [" +
                             repeated("{group: '', kind: ConfigMap, name: c#}", count) + "]}");
  };
  EXPECT_THAT(refs(8), IsEmpty());
  EXPECT_THAT(refs(9), Contains(HasSubstr("caCertificateRefs")));
  const auto names = [&](int count) {
    return tlsPolicyProblems("validation: {hostname: a.test, wellKnownCACertificates: System, subjectAltNames: [" +
                             repeated("{type: URI, uri: 'a://#'}", count) + "]}");
  };
  EXPECT_THAT(names(5), IsEmpty());
  EXPECT_THAT(names(6), Contains(HasSubstr("subjectAltNames")));
  const auto options = [&](int count) {
    return tlsPolicyProblems(std::string(kSystemTrust) + ", options: {" + repeated("acme.test/o#: a", count) + "}");
  };
  EXPECT_THAT(options(16), IsEmpty());
  EXPECT_THAT(options(17), Contains(HasSubstr("spec.options: must have at most 16 entries")));
}

TEST(BackendTlsPolicies, RefuseATargetTwice) {
  const auto twice = [](const std::string& first, const std::string& second) {
    return targetProblems("[{group: '', kind: Service, name: s" + first + "}, {group: '', kind: Service, name: s" +
                          second + "}]");
  };
  EXPECT_THAT(twice(", sectionName: a", ", sectionName: b"), IsEmpty());
  for (const auto& [first, second] : {std::pair("", ""), std::pair(", sectionName: a", ", sectionName: a"),
                                      std::pair("", ", sectionName: a"), std::pair(", sectionName: a", "")}) {
    EXPECT_THAT(twice(first, second), ElementsAre(HasSubstr("spec.targetRefs[1]: repeats a target")));
  }
}

TEST(BackendTlsPolicies, RememberWhatIsNotSupported) {
  const BackendTlsPolicy authorities =
      tlsPolicyWith("validation: {hostname: a.test, wellKnownCACertificates: acme.test/own}");
  ASSERT_EQ(authorities.unsupported.size(), 1U);
  EXPECT_EQ(authorities.unsupported[0].path, "spec.validation.wellKnownCACertificates");
  EXPECT_TRUE(authorities.unsupported[0].altersTraffic);
  const BackendTlsPolicy options =
      tlsPolicyWith(std::string(kSystemTrust) + ", options: {sluice.dev/other: a, plain: b, acme.test/c: d}");
  ASSERT_EQ(options.unsupported.size(), 3U);
  EXPECT_EQ(options.unsupported[0].message, "option \"sluice.dev/other\" is not supported");
  EXPECT_EQ(options.unsupported[0].path, "spec.options");
  EXPECT_TRUE(options.unsupported[0].altersTraffic);
  EXPECT_TRUE(options.unsupported[1].altersTraffic);
  EXPECT_FALSE(options.unsupported[2].altersTraffic);
}

TEST(BackendTlsPolicies, SayWhereAFieldIsUnknown) {
  EXPECT_THAT(tlsPolicyProblems("validation: {hostname: a.test, wellKnownCACertificates: System, hostnme: b}"),
              ElementsAre(HasSubstr("error: BackendTLSPolicy default/p: spec.validation.hostnme: unknown field")));
}

TEST(RefusedBackendTlsPolicies, KeepTheirLegibleTargets) {
  const Configuration configuration = loadTlsPolicy(std::string(kServiceTarget) + ", validation: {}");
  ASSERT_NE(legibleTlsPolicy(configuration), nullptr);
  EXPECT_EQ(legibleTlsPolicy(configuration)->targets.at(0).object.name, "s");
}

TEST(RefusedBackendTlsPolicies, KeepTheTargetOfAnOlderVersion) {
  const Configuration configuration =
      loadTlsPolicy("targetRef: {group: '', kind: Service, name: s}, " + std::string(kSystemTrust), "v1alpha2");
  ASSERT_NE(legibleTlsPolicy(configuration), nullptr);
  EXPECT_EQ(legibleTlsPolicy(configuration)->targets.at(0).object.name, "s");
  EXPECT_THAT(rendered(configuration.problems), Contains(HasSubstr("spec.targetRef: is of an older version")));
}

TEST(RefusedBackendTlsPolicies, KeepNothingWithoutATarget) {
  EXPECT_EQ(legibleTlsPolicy(loadTlsPolicy(kSystemTrust)), nullptr);
}

}  // namespace
}  // namespace sluice::config
