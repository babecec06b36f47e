#include "proxy/routing/header_edit.h"

#include <gtest/gtest.h>

#include <string>

#include "proxy/base/arena.h"

namespace sluice::routing {
namespace {

std::string linesOf(const http::Headers& headers) {
  std::string text;
  for (const http::Field& field : headers) text += std::string(field.name) + "=" + std::string(field.value) + ";";
  return text;
}

TEST(HeaderEdit, SetsReplacingEveryLineOfTheName) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::Headers headers;
  headers.add(arena, "x-a", "1");
  headers.add(arena, "x-b", "2");
  headers.add(arena, "x-a", "3");
  HeaderEdit edit;
  edit.set = {{"x-a", "new"}, {"x-c", "made"}};
  edit.apply(arena, headers);
  EXPECT_EQ(headers.find("x-a")->value, "new");
  EXPECT_EQ(headers.find("x-c")->value, "made");
  EXPECT_EQ(headers.size(), 3U);
}

TEST(HeaderEdit, AddsALineBehindThoseThatAreThere) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::Headers headers;
  headers.add(arena, "x-a", "1");
  HeaderEdit edit;
  edit.add = {{"x-a", "2"}};
  edit.apply(arena, headers);
  EXPECT_EQ(linesOf(headers), "x-a=1;x-a=2;");
}

TEST(HeaderEdit, RemovesEveryLineOfTheName) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::Headers headers;
  headers.add(arena, "x-a", "1");
  headers.add(arena, "x-b", "2");
  headers.add(arena, "x-a", "3");
  HeaderEdit edit;
  edit.remove = {"x-a", "x-absent"};
  edit.apply(arena, headers);
  EXPECT_EQ(linesOf(headers), "x-b=2;");
}

}  // namespace
}  // namespace sluice::routing
