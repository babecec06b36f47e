#include "test/routing/policy/egress/egress_maker.h"

#include <algorithm>

#include "test/routing/policy/egress/address_bytes.h"

namespace sluice::routing::test {

std::string EgressMaker::hostname() {
  return text(
      {"a.test", "b.a.test", "c.b.a.test", "ba.test", "test", "*.a.test", "*.test", "*.b.a.test", "*.x.a.test"});
}

std::string EgressMaker::name() {
  return text({"a.test", "b.a.test", "c.b.a.test", "ba.test", "test", "x.a.test", "y.x.a.test", "other", ""});
}

base::IpNetwork EgressMaker::network() {
  return *base::IpNetwork::parse(text({"0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3",
                                       "10.1.3.0/24", "255.255.255.255", "127.0.0.0/8", "::1/128", "::/0", "fd00::/8",
                                       "fd00:1::/32", "fd00:1::5", "64:ff9b::/96", "::ffff:0:0/96", "2002::/16"}));
}

std::vector<std::uint8_t> EgressMaker::address() {
  return addressBytes(
      text({"10.1.2.3", "10.1.2.4", "10.1.3.255", "10.200.0.1", "11.0.0.0", "255.255.255.255", "fd00::1", "fd00:1::5",
            "fd00:1::6", "fe00::", "::ffff:10.1.2.3", "::ffff:11.0.0.0", "64:ff9b::a01:203", "64:ff9b::b00:0",
            "2002:a01:203::1", "2002:b00::1", "0.0.0.0", "::", "::ffff:0.0.0.0"}));
}

base::EgressPorts EgressMaker::ports() {
  return oneOf<base::EgressPorts>(
      {{443, 443}, {80, 80}, {0, 65535}, {80, 443}, {8000, 8099}, {444, 8000}, {65535, 65535}});
}

base::EgressPath EgressMaker::path() {
  using Type = base::EgressPath::Type;
  return oneOf<base::EgressPath>({{Type::kExact, "/a"},
                                  {Type::kExact, "/a/b"},
                                  {Type::kPathPrefix, "/"},
                                  {Type::kPathPrefix, "/a"},
                                  {Type::kPathPrefix, "/a/b/"},
                                  {Type::kRegularExpression, "/a.*"},
                                  {Type::kRegularExpression, "/(a|b)"}});
}

EgressHttp EgressMaker::http() {
  return {oneOf<std::string_view>({"GET", "POST", "get"}),
          oneOf<std::string_view>({"/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/b"})};
}

void EgressMaker::giveHttp(base::EgressRule& rule) {
  if (oneIn(4)) rule.methods = some([&] { return text({"GET", "POST", "PUT"}); });
  if (oneIn(4)) rule.paths = some([&] { return path(); });
}

base::EgressCallers EgressMaker::callers() {
  using enum base::Assurance;
  base::EgressCallers callers;
  if (oneIn(3)) callers.namespaces = some([&] { return text({"a", "b", "c"}); });
  if (oneIn(3)) callers.serviceAccounts = some([&] { return text({"a/web", "a/job", "b/web", "c/job"}); });
  if (oneIn(3)) callers.principals = some([&] { return text({"ann", "ben", "*.a.test", "a/web"}); });
  if (oneIn(3)) callers.assurance = oneOf({kNone, kAddress, kToken, kCertificate});
  return callers;
}

base::Caller EgressMaker::caller() {
  using enum base::Assurance;
  return {text({"", "a", "b", "d"}), text({"", "web", "job", "other"}),
          text({"", "ann", "ben", "b.a.test", "a/web", "cid"}), oneOf({kNone, kAddress, kToken, kCertificate})};
}

base::EgressRule EgressMaker::rule(std::size_t number) {
  base::EgressRule rule;
  rule.name = "rule-" + std::to_string(number);
  rule.allows = !oneIn(3);
  if (oneIn(4)) rule.clients = some([&] { return network(); });
  if (oneIn(4)) rule.callers = callers();
  if (!oneIn(3)) rule.hostnames = some([&] { return hostname(); });
  if (oneIn(3)) rule.addresses = some([&] { return network(); });
  if (oneIn(3)) rule.ports = some([&] { return ports(); });
  giveHttp(rule);
  if (!rule.allows) return rule;
  rule.requiresTls = oneIn(4);
  rule.matchesServerName = !oneIn(4);
  return rule;
}

base::EgressTerms EgressMaker::terms() {
  base::EgressTerms terms;
  terms.audits = oneIn(6);
  terms.allowsByDefault = oneIn(3);
  // One policy in eight has so many rules that they need more than one word of a set.
  const std::size_t count = oneIn(8) ? 60 + random_() % 140 : random_() % 6;
  for (std::size_t i = 0; i < count; ++i) terms.rules.push_back(rule(i));
  return terms;
}

/// What a tunnel shows all at once: no TLS, TLS that names no server, or TLS with a name.
void EgressMaker::seeFirstBytes(EgressCase& made) {
  made.facts.tls = !oneIn(4);
  if (sightOf(made.facts.way).serverName != Sight::kSeen) return;
  made.serverName = *made.facts.tls ? name() : "";
}

void EgressMaker::seeCaller(EgressCase& made) {
  made.facts.callerUnknown = false;
  made.caller.reset();
  if (!oneIn(4)) made.caller = caller();
}

EgressCase EgressMaker::facts(EgressWay way) {
  EgressCase made;
  made.facts.way = way;
  made.facts.isStatic = oneIn(2);
  made.facts.isPlainTarget = oneIn(4);
  made.facts.port = oneOf<std::uint16_t>({0, 79, 80, 443, 444, 8000, 8099, 8100, 65535});
  made.name = name();
  if (sightOf(way).client == Sight::kSeen) made.client = address();
  made.facts.callerUnknown = true;
  if (!oneIn(4)) seeCaller(made);
  if (!oneIn(3)) made.address = address();
  made.facts.sent = http();
  made.facts.leaving = oneIn(2) ? made.facts.sent : http();
  made.facts.tls = std::nullopt;
  if (!oneIn(3)) seeFirstBytes(made);
  return made;
}

EgressCase EgressMaker::learnt(EgressCase made) {
  if (made.address.empty() && !oneIn(3)) made.address = address();
  if (!made.facts.tls && !oneIn(3)) seeFirstBytes(made);
  if (made.facts.callerUnknown && !oneIn(3)) seeCaller(made);
  return made;
}

}  // namespace sluice::routing::test
