#include "filters/builtin_types.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace sluice::filters {
namespace {

TEST(BuiltinTypes, HaveUniqueNamesPhasesAndSchemas) {
  std::set<std::string_view> names;
  for (const processing::BuiltinType& type : builtinTypes()) {
    EXPECT_TRUE(names.insert(type.type).second) << type.type;
    EXPECT_NE(type.type.find('/'), std::string_view::npos) << type.type;
    EXPECT_NE(type.type.find(":v"), std::string_view::npos) << type.type;
    EXPECT_FALSE(type.phases.empty()) << type.type;
    EXPECT_NE(type.schema.find("\"additionalProperties\": false"), std::string_view::npos) << type.type;
    EXPECT_NE(type.make, nullptr) << type.type;
  }
  EXPECT_TRUE(names.contains("gateway.networking.k8s.io/CredentialInjector:v1"));
}

}  // namespace
}  // namespace sluice::filters
