// route_lookup SHAPE ROUTES: makes a table of that many routes and look-ups spread over it, for perf/lookup.py to count
// the instructions of lookUpAll() under callgrind.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

constexpr std::size_t kLookUps = 1000;
// All numbers have the same length, so requests for any of them are equally long.
constexpr std::size_t kFirstNumber = 100'000;

/// A request, with the number of its route.
struct LookUp {
  std::string authority = "api.example.com";
  std::string target = "/v1/items/42?full=1";
  std::string field;  // value of x-tenant
};

struct Shape {
  const char* name;
  void (*route)(test::TableEntry& entry, const std::string& number);
  void (*request)(LookUp& asked, const std::string& number);
};

constexpr Shape kShapes[] = {
    {"hosts",
     [](test::TableEntry& entry, const std::string& number) { entry.hostname = "host" + number + ".example.com"; },
     [](LookUp& asked, const std::string& number) { asked.authority = "host" + number + ".example.com"; }},
    {"wildcard-hosts",
     [](test::TableEntry& entry, const std::string& number) { entry.hostname = "*.host" + number + ".example.com"; },
     [](LookUp& asked, const std::string& number) { asked.authority = "a.host" + number + ".example.com"; }},
    {"prefixes", [](test::TableEntry& entry, const std::string& number) { entry.path = "/team/" + number; },
     [](LookUp& asked, const std::string& number) { asked.target = "/team/" + number + "/items/42?full=1"; }},
    {"exact-paths",
     [](test::TableEntry& entry, const std::string& number) {
       entry.pathKind = PathKind::kExact;
       entry.path = "/team/" + number;
     },
     [](LookUp& asked, const std::string& number) { asked.target = "/team/" + number + "?full=1"; }},
    {"headers",
     [](test::TableEntry& entry, const std::string& number) {
       entry.headers = {{"x-tenant", number}};
     },
     [](LookUp& asked, const std::string& number) { asked.field = number; }},
    {"two-headers",
     [](test::TableEntry& entry, const std::string& number) {
       entry.headers = {{"x-tenant", number}, {"accept", "*/*"}};
     },
     [](LookUp& asked, const std::string& number) { asked.field = number; }},
    {"query-parameters",
     [](test::TableEntry& entry, const std::string& number) {
       entry.query = {{"tenant", number}};
     },
     [](LookUp& asked, const std::string& number) { asked.target = "/v1/items/42?full=1&tenant=" + number; }},
    {"grpc-methods",
     [](test::TableEntry& entry, const std::string& number) {
       entry.rpc = RpcPattern{"example.Service" + number.substr(0, 5), "Method" + number};
     },
     [](LookUp& asked, const std::string& number) {
       asked.target = "/example.Service" + number.substr(0, 5) + "/Method" + number;
     }},
};

RouteTable tableOf(const Shape& shape, std::size_t routes) {
  RouteTableBuilder builder;
  builder.addListener("");
  for (std::size_t i = 0; i < routes; ++i) {
    test::TableEntry entry;
    entry.hostname = "api.example.com";
    entry.precedence.route = "demo/route" + std::to_string(i);
    entry.rule = std::make_shared<Rule>();
    shape.route(entry, std::to_string(kFirstNumber + i));
    if (!test::addTo(builder, std::move(entry)).ok()) std::abort();
  }
  return builder.build();
}

std::vector<LookUp> requestsOf(const Shape& shape, std::size_t routes) {
  std::vector<LookUp> result(kLookUps);
  // The step is coprime to every number of routes, so all places of a table are looked up alike.
  for (std::size_t i = 0; i < kLookUps; ++i) {
    shape.request(result[i], std::to_string(kFirstNumber + i * 7919 % routes));
  }
  return result;
}

http::RequestHead headOf(base::Arena& arena, const LookUp& asked) {
  http::RequestHead head;
  head.methodText = "GET";
  head.authority = asked.authority;
  head.target = asked.target;
  head.headers.add(arena, "user-agent", "curl/7.88.1");
  head.headers.add(arena, "accept", "*/*");
  head.headers.add(arena, "authorization", "Bearer something");
  if (!asked.field.empty()) head.headers.add(arena, "x-tenant", asked.field);
  return head;
}

/// Callgrind counts this function. Returns how many requests found their rule.
[[gnu::noinline]] std::size_t lookUpAll(const RouteTable& table, const std::vector<http::RequestHead>& heads) {
  std::size_t found = 0;
  for (const http::RequestHead& head : heads) found += table.match(head).rule != nullptr ? 1 : 0;
  return found;
}

int run(std::string_view name, std::size_t routes) {
  for (const Shape& shape : kShapes) {
    if (shape.name != name) continue;
    const RouteTable table = tableOf(shape, routes);
    const std::vector<LookUp> asked = requestsOf(shape, routes);
    base::ChunkPool pool;
    base::Arena arena(pool);
    std::vector<http::RequestHead> heads;
    for (const LookUp& each : asked) heads.push_back(headOf(arena, each));
    std::printf("%zu\n", kLookUps);
    return lookUpAll(table, heads) == kLookUps ? 0 : 1;
  }
  return 2;
}

}  // namespace
}  // namespace sluice::routing

int main(int argc, char** argv) {
  if (argc == 3) return sluice::routing::run(argv[1], std::strtoul(argv[2], nullptr, 10));
  for (const auto& shape : sluice::routing::kShapes) std::printf("%s\n", shape.name);
}
