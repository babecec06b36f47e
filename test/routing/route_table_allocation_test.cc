// Counts the allocations of a look-up: RouteTable::match promises none at all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/route_table.h"
#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace {
thread_local std::size_t allocations = 0;
}

// These are not inlined, because the compiler would take malloc and free for a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return operator new(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace sluice::routing {
namespace {

TEST(RouteTable, AllocatesNothingToMatch) {
  RouteTableBuilder builder;
  for (int i = 0; i < 200; ++i) {
    test::TableEntry entry;
    entry.hostname = i % 3 == 0 ? "*.example.com" : "host" + std::to_string(i % 7) + ".example.com";
    entry.path = "/a/b" + std::to_string(i);
    entry.pathKind = i % 2 == 0 ? PathKind::kExact : PathKind::kPrefix;
    entry.headers = {{"x-a", "1,2"}};
    entry.query = {{"q", "a long value that is long enough not to fit"}};
    entry.rule = std::make_shared<Rule>();
    ASSERT_TRUE(test::addTo(builder, std::move(entry)).ok());
  }
  const RouteTable table = builder.build();
  const test::RequestMaker hit("GET", "host4.example.com:8080",
                               "/a/b67/c?q=a%20long%20value%20that%20is%20long%20enough%20not%20to%20fit",
                               {{"x-a", "1"}, {"x-a", "2"}});
  const test::RequestMaker miss("GET", "a.very.long.name.that.nobody.has.ever.seen.example.com", "/a/b67/c/d/e/f?r=1");
  const std::size_t before = allocations;
  const RouteMatch found = table.match(hit.head());
  const RouteMatch lost = table.match(miss.head());
  EXPECT_EQ(allocations, before);
  EXPECT_NE(found.rule, nullptr);
  EXPECT_EQ(lost.rule, nullptr);
}

}  // namespace
}  // namespace sluice::routing
