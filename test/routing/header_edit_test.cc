#include "proxy/routing/policy/header_edit.h"

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

// A server that hands fields to programs as variables reads "x_a" for "x-a".
TEST(HeaderEdit, RemovesTwinsOfTheFieldsThatItSetsOrRemoves) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::Headers headers;
  for (const char* name : {"x-a-b", "x_a_b", "x-a_b", "x_c", "x-c", "x_d", "x-ab"}) headers.add(arena, name, "theirs");
  HeaderEdit edit;
  edit.set = {{"x-a-b", "ours"}};
  edit.remove = {"x-c"};
  edit.add = {{"x-d", "more"}};
  edit.apply(arena, headers);
  EXPECT_EQ(linesOf(headers), "x_d=theirs;x-ab=theirs;x-a-b=ours;x-d=more;");
}

TEST(HeaderEdit, RemovesItsFieldsFromTrailersToo) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::Headers trailers;
  for (const char* name : {"x-a", "x_a", "x_c", "x-d", "x-e"}) trailers.add(arena, name, "1");
  HeaderEdit edit;
  edit.set = {{"x-a", "ours"}};
  edit.remove = {"x-c"};
  edit.add = {{"x-d", "more"}};
  edit.withhold(trailers);
  EXPECT_EQ(linesOf(trailers), "x-d=1;x-e=1;");
}

}  // namespace
}  // namespace sluice::routing
