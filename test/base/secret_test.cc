#include "proxy/base/secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

namespace sluice::base {
namespace {

template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};
template <typename T>
concept Joinable = requires(std::string text, const T& value) {
  text + value;
};

static_assert(Streamable<std::string> && Joinable<std::string>, "the concepts find what they look for");
static_assert(!Streamable<Secret>);
static_assert(!Joinable<Secret>);
static_assert(!std::is_convertible_v<Secret, std::string_view>);
static_assert(!std::is_convertible_v<Secret, std::string>);
static_assert(!std::is_convertible_v<std::string, Secret>, "nothing becomes a secret by accident either");
static_assert(!std::equality_comparable<Secret>, "comparing secrets takes care of its own");

bool wiped(const char* bytes, std::size_t count) {
  return std::all_of(bytes, bytes + count, [](char byte) { return byte == 0; });
}

TEST(Secret, RevealsItsBytesOnlyWhenAsked) {
  const Secret secret(std::string("s3cret\0!", 8));
  EXPECT_EQ(secret.reveal(), std::string_view("s3cret\0!", 8));
  EXPECT_FALSE(secret.empty());
  EXPECT_TRUE(Secret().empty());
}

TEST(Secret, CopiesAreIndependent) {
  Secret first(std::string("one"));
  const Secret second = first;
  first = Secret(std::string("two"));
  EXPECT_EQ(second.reveal(), "one");
  EXPECT_EQ(first.reveal(), "two");
  first = second;
  EXPECT_EQ(first.reveal(), "one");
}

TEST(Secret, SurvivesAssignmentToItself) {
  Secret secret(std::string("same"));
  Secret& alias = secret;
  secret = alias;
  EXPECT_EQ(secret.reveal(), "same");
  secret = std::move(alias);
  EXPECT_EQ(secret.reveal(), "same");
}

TEST(Secret, IsWipedWhereItWasMovedFrom) {
  for (const std::size_t size : {8u, 200u}) {
    Secret from(std::string(size, 'k'));
    const char* bytes = from.reveal().data();
    const Secret to = std::move(from);
    EXPECT_EQ(to.reveal(), std::string(size, 'k'));
    EXPECT_TRUE(from.empty());
    EXPECT_TRUE(wiped(bytes, size)) << size;
  }
}

TEST(Secret, IsWipedBeforeItIsOverwritten) {
  Secret secret(std::string(200, 'k'));
  const char* bytes = secret.reveal().data();
  secret = Secret(std::string("a"));
  EXPECT_EQ(secret.reveal(), "a");
  EXPECT_TRUE(wiped(bytes + 2, 198));
}

}  // namespace
}  // namespace sluice::base
