// Tests the reader of EgressPolicies: what each field becomes, and which values are refused, where and with which
// words.
#include "config/model/egress_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kEgressTarget = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: egress}]";

Configuration loadEgress(const std::string& spec) {
  return loadText(object("sluice.dev/v1alpha1", "EgressPolicy", "p", "spec: {" + spec + "}\n"));
}
EgressPolicy egressWith(const std::string& fields) {
  const Configuration configuration = loadEgress(std::string(kEgressTarget) + ", " + fields);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const auto& all = configuration.model.all<EgressPolicy>();
  return all.empty() ? EgressPolicy() : all.at(0);
}
base::EgressRule egressRuleWith(const std::string& fields) {
  const EgressPolicy policy = egressWith("rules: [{name: r, " + fields + "}]");
  return policy.terms.rules.empty() ? base::EgressRule() : policy.terms.rules.at(0);
}

std::vector<std::string> egressProblems(const std::string& spec) { return rendered(loadEgress(spec).problems); }
std::vector<std::string> egressRuleProblems(const std::string& fields) {
  return egressProblems(std::string(kEgressTarget) + ", rules: [{name: r, " + fields + "}]");
}

base::IpNetwork networkOf(const char* text) { return base::IpNetwork::parse(text).value(); }

/// Repeats a text with commas between, as the items of a list.
std::string repeatedItems(std::size_t count, const std::string& item) {
  std::string items;
  for (std::size_t i = 0; i < count; ++i) items += (i == 0 ? "" : ", ") + item;
  return items;
}

TEST(EgressPolicyReader, ReadsEveryFieldOfARule) {
  const base::EgressRule rule = egressRuleWith(
      "action: Allow, from: {cidrs: [10.0.0.0/8, fd00::/8]}, to: {hostnames: [api.example.com, \"*.openai.com\"], "
      "cidrs: [198.51.100.7/32], ports: [443, \"8000-8099\", \"8443\"]}, http: {methods: [GET, Purge], paths: [{type: "
      "Exact, value: /a}, {value: /b}, {type: RegularExpression, value: \"/v[0-9]+/.*\"}]}, tls: {mode: Required, sni: "
      "Any}");
  using Type = base::EgressPath::Type;
  base::EgressRule expected;
  expected.name = "r";
  expected.clients = {networkOf("10.0.0.0/8"), networkOf("fd00::/8")};
  expected.hostnames = {"api.example.com", "*.openai.com"};
  expected.addresses = {networkOf("198.51.100.7/32")};
  expected.ports = {{443, 443}, {8000, 8099}, {8443, 8443}};
  expected.methods = {"GET", "Purge"};
  expected.paths = {{Type::kExact, "/a"}, {Type::kPathPrefix, "/b"}, {Type::kRegularExpression, "/v[0-9]+/.*"}};
  expected.requiresTls = true;
  expected.matchesServerName = false;
  EXPECT_EQ(rule, expected);
}

TEST(EgressPolicyReader, ReadsThePolicyAroundTheRules) {
  const EgressPolicy policy = egressWith(
      "mode: Audit, default: Allow, rules: [{name: a}, {name: b.c, action: Deny}], clientAuthentication: {basic: "
      "{secretRef: {namespace: keys, name: users, key: passwords}}, realm: \"the way out\", required: false}");
  EXPECT_EQ(policy.targets.at(0).object.name, "egress");
  EXPECT_TRUE(policy.terms.audits);
  EXPECT_TRUE(policy.terms.allowsByDefault);
  ASSERT_THAT(policy.terms.rules, SizeIs(2));
  EXPECT_TRUE(policy.terms.rules[0].allows);
  EXPECT_EQ(policy.terms.rules[1].name, "b.c");
  EXPECT_FALSE(policy.terms.rules[1].allows);
  EXPECT_THAT(policy.rulePaths, ElementsAre("spec.rules[0]", "spec.rules[1]"));
  ASSERT_TRUE(policy.clientAuthentication);
  const EgressAuthentication& authentication = *policy.clientAuthentication;
  EXPECT_EQ(authentication.secretRef.kind, "Secret");
  EXPECT_EQ(authentication.secretRef.group, "");
  EXPECT_EQ(authentication.secretRef.nameSpace, "keys");
  EXPECT_EQ(authentication.secretRef.name, "users");
  EXPECT_EQ(authentication.secretRef.path, "spec.clientAuthentication.basic.secretRef");
  EXPECT_EQ(authentication.key, "passwords");
  EXPECT_EQ(authentication.realm, "the way out");
  EXPECT_FALSE(authentication.required);
  EXPECT_EQ(authentication.path, "spec.clientAuthentication");
}

TEST(EgressPolicyReader, HasDefaults) {
  const EgressPolicy policy = egressWith("clientAuthentication: {basic: {secretRef: {name: users}}}");
  EXPECT_EQ(policy.terms, base::EgressTerms());
  EXPECT_FALSE(policy.terms.audits);
  EXPECT_FALSE(policy.terms.allowsByDefault);
  EXPECT_THAT(policy.rulePaths, IsEmpty());
  EXPECT_EQ(policy.clientAuthentication->secretRef.nameSpace, "");
  EXPECT_EQ(policy.clientAuthentication->key, ".htpasswd");
  EXPECT_EQ(policy.clientAuthentication->realm, "sluice");
  EXPECT_TRUE(policy.clientAuthentication->required);
  EXPECT_FALSE(egressWith("default: Deny, mode: Enforce, rules: []").clientAuthentication);
  base::EgressRule all;
  all.name = "r";
  EXPECT_EQ(egressRuleWith("action: Allow"), all);
  EXPECT_TRUE(all.allows && all.matchesServerName && !all.requiresTls);
  EXPECT_EQ(egressRuleWith("tls: {mode: Optional, sni: Match}"), all);
}

TEST(EgressPolicyReader, TakesAnEmptyMapForOneThatMatchesAll) {
  EXPECT_EQ(egressRuleWith("from: {}, to: {}, http: {}, tls: {}"), egressRuleWith("action: Allow"));
}

TEST(EgressPolicyReader, ReadsWhichCallersARuleIsFor) {
  base::EgressCallers expected;
  expected.namespaces = {"team-a"};
  expected.serviceAccounts = {"team-a/web", "team-b/jobs.nightly"};
  expected.principals = {"spiffe://cluster.local/ns/a/sa/b", "CN=b\xC3\xBCro"};
  expected.assurance = base::Assurance::kCertificate;
  const base::EgressRule rule = egressRuleWith(
      "from: {cidrs: [10.0.0.0/8], namespaces: [team-a], serviceAccounts: [team-a/web, team-b/jobs.nightly], "
      "principals: ['spiffe://cluster.local/ns/a/sa/b', 'CN=b\xC3\xBCro'], assurance: Certificate}");
  EXPECT_EQ(rule.callers, expected);
  EXPECT_THAT(*rule.clients, ElementsAre(networkOf("10.0.0.0/8")));
  EXPECT_FALSE(egressRuleWith("from: {cidrs: [10.0.0.0/8]}").callers);
}

TEST(EgressPolicyReader, ReadsTheLeastAssuranceOfACaller) {
  for (const auto& [word, assurance] :
       {std::pair("Address", base::Assurance::kAddress), std::pair("Token", base::Assurance::kToken),
        std::pair("Certificate", base::Assurance::kCertificate)}) {
    EXPECT_EQ(egressRuleWith("from: {assurance: " + std::string(word) + "}").callers.value().assurance, assurance);
  }
  EXPECT_EQ(egressRuleWith("from: {assurance: None}"), egressRuleWith("action: Allow")) << "nothing is demanded";
  EXPECT_FALSE(egressRuleWith("from: {assurance: None, namespaces: [a]}").callers.value().assurance);
}

TEST(EgressPolicyReader, SaysHowCallersAreWritten) {
  constexpr const char* kAccountText = "must be a namespace and a service account like demo/web, but is ";
  const std::pair<std::string, std::string> wrong[] = {
      {"namespaces: [A]", "namespaces[0]: must be a DNS label in lower case, but is \"A\""},
      {"namespaces: [a.b]", "namespaces[0]: must be a DNS label in lower case"},
      {"serviceAccounts: [web]", "serviceAccounts[0]: " + std::string(kAccountText) + "\"web\""},
      {"serviceAccounts: [a/b, a/b/c]", "serviceAccounts[1]: " + std::string(kAccountText) + "\"a/b/c\""},
      {"serviceAccounts: [/b]", "serviceAccounts[0]: " + std::string(kAccountText)},
      {"serviceAccounts: [a/]", "serviceAccounts[0]: " + std::string(kAccountText)},
      {"serviceAccounts: [a.b/c]", "serviceAccounts[0]: " + std::string(kAccountText)},
      {"serviceAccounts: [\"*/c\"]", "serviceAccounts[0]: " + std::string(kAccountText)},
      {"principals: [\"\"]", "principals[0]: must not be empty"},
      {"principals: [1]", "principals[0]: must be a string, but is a number"},
      {"principals: [" + std::string(4097, 'a') + "]", "principals[0]: is longer than 4096 bytes"},
      {"assurance: certificate", "assurance: must be None, Address, Token or Certificate, but is \"certificate\""},
      {"serviceAccount: [a/b]", "serviceAccount: unknown field: did you mean serviceAccounts?"},
  };
  for (const auto& [fields, message] : wrong) {
    EXPECT_THAT(egressRuleProblems("from: {" + fields + "}"), ElementsAre(HasSubstr("spec.rules[0].from." + message)))
        << fields;
  }
  EXPECT_THAT(egressRuleProblems("to: {regions: [eu-west-1]}"), ElementsAre(HasSubstr("to.regions: unknown field")));
}

TEST(EgressPolicyReader, ComparesNamesWithoutCaseAndFinalDot) {
  EXPECT_THAT(
      *egressRuleWith("to: {hostnames: [API.Example.COM., \"*.Example.Org.\", xn--BCHER-kva.example, _dmarc.a.test, "
                      "localhost]}")
           .hostnames,
      ElementsAre("api.example.com", "*.example.org", "xn--bcher-kva.example", "_dmarc.a.test", "localhost"));
  const std::string longest =
      std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(61, 'd');
  EXPECT_THAT(*egressRuleWith("to: {hostnames: [" + longest + ".]}").hostnames, ElementsAre(longest));
}

TEST(EgressPolicyReader, IgnoresTheBitsBehindAPrefix) {
  EXPECT_THAT(*egressRuleWith("to: {cidrs: [10.1.2.3/8, 0.0.0.0/0, \"::/0\"]}").addresses,
              ElementsAre(networkOf("10.0.0.0/8"), networkOf("0.0.0.0/0"), networkOf("::/0")));
}

TEST(EgressPolicyReader, MayTargetGatewaysRoutesAndTheirSections) {
  for (const char* target : {"group: gateway.networking.k8s.io, kind: Gateway, name: a, sectionName: http",
                             "group: ainetworking.prototype.x-k8s.io, kind: EgressGateway, name: a",
                             "group: gateway.networking.k8s.io, kind: HTTPRoute, name: a, sectionName: chat",
                             "group: gateway.networking.k8s.io, kind: GRPCRoute, name: a"}) {
    EXPECT_THAT(egressProblems("targetRefs: [{" + std::string(target) + "}]"), IsEmpty()) << target;
  }
}

TEST(EgressPolicyReader, RefusesOtherTargets) {
  constexpr const char* kTargetKinds =
      "must be a Gateway, an HTTPRoute or a GRPCRoute of gateway.networking.k8s.io, or an EgressGateway of "
      "ainetworking.prototype.x-k8s.io";
  const std::string first = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}, ";
  for (const char* target :
       {"group: sluice.dev, kind: Backend, name: a", "group: '', kind: Service, name: a",
        "group: gateway.networking.k8s.io, kind: TLSRoute, name: a", "group: sluice.dev, kind: Gateway, name: a"}) {
    EXPECT_THAT(egressProblems(first + "{" + target + "}]"),
                ElementsAre(HasSubstr("spec.targetRefs[1]: " + std::string(kTargetKinds))))
        << target;
  }
  EXPECT_THAT(egressProblems(first + "{group: gateway.networking.k8s.io, kind: HTTProute, name: a}]"),
              ElementsAre(EndsWith("; did you mean HTTPRoute of gateway.networking.k8s.io?")));
  EXPECT_THAT(egressProblems("mode: Audit"), ElementsAre(EndsWith("spec.targetRefs: is required")));
  EXPECT_THAT(egressProblems("targetRefs: []"), ElementsAre(EndsWith("targetRefs: must have at least one item")));
  EXPECT_THAT(egressProblems("targetRefs: [" +
                             repeatedItems(17, "{group: gateway.networking.k8s.io, kind: Gateway, name: g}") + "]"),
              ElementsAre(EndsWith("spec.targetRefs: has 17 items; at most 16 are allowed")));
}

TEST(EgressPolicyReader, AuthenticatesOnlyClientsOfGateways) {
  const std::string authentication = "clientAuthentication: {basic: {secretRef: {name: users}}}";
  for (const char* kind : {"HTTPRoute", "GRPCRoute"}) {
    const std::string targets =
        "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}, {group: "
        "gateway.networking.k8s.io, kind: " +
        std::string(kind) + ", name: r}], ";
    EXPECT_THAT(egressProblems(targets + authentication),
                ElementsAre(EndsWith("spec.clientAuthentication: is for Gateways and their listeners alone")));
  }
  EXPECT_THAT(egressProblems("targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g, sectionName: "
                             "proxy}, {group: ainetworking.prototype.x-k8s.io, kind: EgressGateway, name: e}], " +
                             authentication),
              IsEmpty());
}

TEST(EgressPolicyReader, SaysWhatIsWrongWithAPolicy) {
  const std::pair<const char*, const char*> wrong[] = {
      {"mode: audit", "spec.mode: must be Enforce or Audit, but is \"audit\""},
      {"default: Refuse", "spec.default: must be Deny or Allow, but is \"Refuse\""},
      {"surprise: 1", "spec.surprise: unknown field"},
      {"rules: {}", "spec.rules: must be a list, but is a map"},
      {"rules: [{action: Deny}]", "spec.rules[0].name: is required"},
      {"rules: [{name: \"\"}]", "spec.rules[0].name: must not be empty"},
      {"rules: [{name: A}]", "spec.rules[0].name: must be a DNS name in lower case, but is \"A\""},
      {"rules: [{name: a}, {name: b}, {name: a}]", "spec.rules[2].name: repeats the name of spec.rules[0]"},
      {"clientAuthentication: {}", "spec.clientAuthentication.basic: is required"},
      {"clientAuthentication: {basic: {}}", "spec.clientAuthentication.basic.secretRef: is required"},
      {"clientAuthentication: {basic: {secretRef: {}}}", "spec.clientAuthentication.basic.secretRef.name: is required"},
      {"clientAuthentication: {basic: {secretRef: {name: a, kind: Secret}}}",
       "spec.clientAuthentication.basic.secretRef.kind: unknown field"},
      {"clientAuthentication: {basic: {secretRef: {name: a, namespace: A}}}",
       "spec.clientAuthentication.basic.secretRef.namespace: must be a DNS label"},
      {"clientAuthentication: {basic: {secretRef: {name: a}}, realm: 'a\"b'}",
       "spec.clientAuthentication.realm: must be visible characters of ASCII without quotes and backslashes"},
      {"clientAuthentication: {basic: {secretRef: {name: a}}, required: 1}",
       "spec.clientAuthentication.required: must be true or false"},
  };
  for (const auto& [fields, message] : wrong) {
    EXPECT_THAT(egressProblems(std::string(kEgressTarget) + ", " + fields), ElementsAre(HasSubstr(message))) << fields;
  }
  EXPECT_THAT(egressProblems(std::string(kEgressTarget) + ", rules: [" + repeatedItems(257, "{name: a}") + "]"),
              Contains(HasSubstr("spec.rules: has 257 items; at most 256 are allowed")));
}

TEST(EgressPolicyReader, SaysWhatIsWrongWithARule) {
  const std::pair<const char*, const char*> wrong[] = {
      {"action: Reject", "action: must be Deny or Allow, but is \"Reject\""},
      {"surprise: 1", "surprise: unknown field"},
      {"from: {hostnames: [a]}", "from.hostnames: unknown field"},
      {"http: {methods: [\"GET POST\"]}", "http.methods[0]: must be a method like GET, but is \"GET POST\""},
      {"http: {paths: [{type: Prefix, value: /a}]}",
       "http.paths[0].type: must be Exact, PathPrefix or RegularExpression"},
      {"http: {paths: [{type: Exact}]}", "http.paths[0].value: is required"},
      {"http: {paths: [{value: a}]}", "http.paths[0].value: must be an absolute path without"},
      {"http: {paths: [{type: Exact, value: /a/../b}]}", "http.paths[0].value: must be an absolute path without"},
      {"http: {paths: [{type: RegularExpression, value: \"\"}]}", "http.paths[0].value: must not be empty"},
      {"tls: {mode: On}", "tls.mode: must be Optional or Required"},
      {"tls: {sni: None}", "tls.sni: must be Any or Match"},
      {"action: Deny, tls: {}", "tls: must not be given in a Deny rule"},
      {"tls: {mode: Required}, action: Deny", "tls: must not be given in a Deny rule"},
  };
  for (const auto& [fields, message] : wrong) {
    EXPECT_THAT(egressRuleProblems(fields), ElementsAre(HasSubstr("spec.rules[0]." + std::string(message)))) << fields;
  }
  EXPECT_THAT(
      egressRuleProblems("http: {paths: [{type: RegularExpression, value: \"" + std::string(1024, 'a') + "\"}]}"),
      IsEmpty());
  EXPECT_THAT(
      egressRuleProblems("http: {paths: [{type: RegularExpression, value: \"" + std::string(1025, 'a') + "\"}]}"),
      ElementsAre(EndsWith("http.paths[0].value: is longer than 1024 bytes")));
}

TEST(EgressPolicyReader, RefusesEmptyListsAndLongOnes) {
  const std::tuple<const char*, const char*, const char*, std::size_t> lists[] = {
      {"from", "namespaces", "a", 1000},   {"from", "serviceAccounts", "a/b", 1000},
      {"from", "principals", "a", 1000},   {"from", "cidrs", "10.0.0.0/8", 1000},
      {"to", "hostnames", "a.test", 1000}, {"to", "cidrs", "10.0.0.0/8", 1000},
      {"to", "ports", "443", 64},          {"http", "methods", "GET", 32},
      {"http", "paths", "{value: /}", 64},
  };
  for (const auto& [map, list, item, most] : lists) {
    const std::string begin = std::string(map) + ": {" + list + ": [";
    const std::string path = "spec.rules[0]." + std::string(map) + "." + list + ": ";
    EXPECT_THAT(egressRuleProblems(begin + "]}"), ElementsAre(HasSubstr(path + "must have at least one item")));
    EXPECT_THAT(egressRuleProblems(begin + repeatedItems(most, item) + "]}"), IsEmpty()) << path;
    EXPECT_THAT(egressRuleProblems(begin + repeatedItems(most + 1, item) + "]}"),
                ElementsAre(HasSubstr(path + "has " + std::to_string(most + 1) + " items; at most " +
                                      std::to_string(most) + " are allowed")));
  }
}

TEST(EgressPolicyReader, SaysHowNamesAndAddressesAreWritten) {
  constexpr const char* kForCidrs = "is an address or ends in a number: use cidrs for addresses";
  const std::pair<const char*, const char*> wrong[] = {
      {"127.0.0.1", kForCidrs},
      {"\"::1\"", kForCidrs},
      {"\"[::1]\"", kForCidrs},
      {"10.0.0.0/8", kForCidrs},
      {"a.1", kForCidrs},
      {"\"127.1\"", kForCidrs},
      {"\"0x7f000001\"", kForCidrs},
      {"\"*.0.0.1\"", kForCidrs},
      {"bücher.example", "must be written in its A-label form (xn--...), but is"},
      {"\"*\"",
       "must be a domain name that may begin with \"*.\", but is \"*\": leave out hostnames to match every name"},
      {"\"*.\"", "must be a domain name that may begin with \"*.\", but is \"*.\""},
      {"a.*.test", "must be a domain name that may begin with \"*.\""},
      {"a..", "must be a domain name that may begin with \"*.\""},
      {"a b", "must be a domain name that may begin with \"*.\""},
      {"https://a.test", "but is \"https://a.test\": leave out \"https://\""},
      {"\"a.test:443\"", "but is \"a.test:443\": leave out the port"},
      {"\"\"", "must not be empty"},
      {"{}", "must be a string, but is a map"},
  };
  for (const auto& [name, message] : wrong) {
    EXPECT_THAT(egressRuleProblems("to: {hostnames: [a.test, " + std::string(name) + "]}"),
                ElementsAre(AllOf(HasSubstr("spec.rules[0].to.hostnames[1]: "), HasSubstr(message))))
        << name;
  }
  const std::string longest =
      std::string(62, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(63, 'd');
  EXPECT_THAT(egressRuleProblems("to: {hostnames: [" + longest + "]}"),
              ElementsAre(EndsWith("to.hostnames[0]: is longer than 253 bytes")));
}

TEST(EgressPolicyReader, SaysHowNetworksAreWritten) {
  const std::pair<const char*, const char*> wrong[] = {
      {"10.0.0.1",
       "must be a network like 10.0.0.0/8 or fd00::/8, but is \"10.0.0.1\": write 10.0.0.1/32 for this "
       "address alone"},
      {"\"::1\"", "but is \"::1\": write ::1/128 for this address alone"},
      {"10.0.0.0/33", "must be a network like 10.0.0.0/8 or fd00::/8, but is \"10.0.0.0/33\""},
      {"a.test", "must be a network like 10.0.0.0/8 or fd00::/8, but is \"a.test\""},
      {"10.0.0.0/", "must be a network like"},
      {"\"\"", "must not be empty"},
  };
  for (const char* map : {"from", "to"}) {
    for (const auto& [text, message] : wrong) {
      EXPECT_THAT(
          egressRuleProblems(std::string(map) + ": {cidrs: [" + text + "]}"),
          ElementsAre(AllOf(HasSubstr("spec.rules[0]." + std::string(map) + ".cidrs[0]: "), HasSubstr(message))));
    }
  }
}

TEST(EgressPolicyReader, SaysHowPortsAreWritten) {
  constexpr const char* kPortText = "must be a port from 1 to 65535 or a range like \"8000-8099\", but is ";
  const std::pair<const char*, std::string> wrong[] = {
      {"0", kPortText + std::string("\"0\"")},
      {"65536", kPortText + std::string("\"65536\"")},
      {"1.5", kPortText + std::string("\"1.5\"")},
      {"-1", kPortText + std::string("\"-1\"")},
      {"\"0443\"", kPortText + std::string("\"0443\"")},
      {"https", kPortText + std::string("\"https\"")},
      {"\"1-\"", kPortText + std::string("\"1-\"")},
      {"\"-2\"", kPortText + std::string("\"-2\"")},
      {"\"1-2-3\"", kPortText + std::string("\"1-2-3\"")},
      {"\"1 - 2\"", kPortText + std::string("\"1 - 2\"")},
      {"\"1-65536\"", kPortText + std::string("\"1-65536\"")},
      {"\"\"", kPortText + std::string("\"\"")},
      {"\"8099-8000\"", "must not end before it begins, but is \"8099-8000\""},
      {"true", "must be a port or a range like \"8000-8099\", but is a boolean"},
  };
  for (const auto& [port, message] : wrong) {
    EXPECT_THAT(egressRuleProblems("to: {ports: [" + std::string(port) + "]}"),
                ElementsAre(HasSubstr("spec.rules[0].to.ports[0]: " + message)))
        << port;
  }
  EXPECT_THAT(*egressRuleWith("to: {ports: [1, \"1-65535\", \"7-7\"]}").ports,
              ElementsAre(base::EgressPorts{1, 1}, base::EgressPorts{1, 65535}, base::EgressPorts{7, 7}));
}

TEST(EgressPolicyReader, NamesFileAndLineOfAFault) {
  const Configuration configuration = loadText(
      object("sluice.dev/v1alpha1", "EgressPolicy", "p",
             "spec:\n  " + std::string(kEgressTarget) + "\n  rules:\n  - name: a\n    to:\n      ports: [0]\n"),
      "policies.yaml");
  ASSERT_THAT(rendered(configuration.problems), SizeIs(1));
  EXPECT_THAT(rendered(configuration.problems)[0], HasSubstr("policies.yaml:9:"));
}

TEST(EgressPolicyReader, KeepsTheTargetsOfARefusedPolicy) {
  for (const char* fields : {", surprise: 1", ", rules: [{name: a, to: {hostnames: []}}]",
                             ", clientAuthentication: {basic: {}}", ", mode: 7"}) {
    const Configuration refused = loadEgress(kEgressTarget + std::string(fields));
    EXPECT_THAT(refused.model.all<EgressPolicy>(), IsEmpty());
    ASSERT_THAT(refused.model.rejected, SizeIs(1)) << fields;
    const EgressPolicy* legible = refused.model.rejected[0].legible<EgressPolicy>();
    ASSERT_NE(legible, nullptr) << fields;
    ASSERT_THAT(legible->targets, SizeIs(1));
    EXPECT_EQ(legible->targets[0].object.name, "egress");
  }
  EXPECT_EQ(loadEgress("targetRefs: []").model.rejected.at(0).legible<EgressPolicy>(), nullptr);
}

}  // namespace
}  // namespace sluice::config
