// Measures finding the rule of a request: the cost must not grow with the number of routes.
#include <benchmark/benchmark.h>

#include <string>

#include "proxy/http/message.h"
#include "proxy/routing/snapshot.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

RouteTable table(std::int64_t routes) {
  RouteTableBuilder builder;
  builder.addListener("");
  for (std::int64_t i = 0; i < routes; ++i) {
    test::TableEntry entry;
    entry.hostname = "host" + std::to_string(i) + ".example.com";
    entry.path = "/api/v1/items";
    entry.rule = std::make_shared<Rule>();
    if (!test::addTo(builder, std::move(entry)).ok()) std::abort();
  }
  return builder.build();
}

void match(benchmark::State& state) {
  const RouteTable routes = table(state.range(0));
  http::RequestHead head;
  head.authority = "host0.example.com:443";
  head.target = "/api/v1/items/42?full=1";
  for (auto _ : state) {
    const RouteMatch found = routes.match(head);
    if (found.rule == nullptr) return state.SkipWithError("not found");
    benchmark::DoNotOptimize(found.rule);
  }
}
BENCHMARK(match)->Arg(1)->Arg(100)->Arg(10000);

}  // namespace
}  // namespace sluice::routing
