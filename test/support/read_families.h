// Compares a table of the reference with families of metrics that are read when the page is requested.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/observe/exposition.h"
#include "test/support/reference_page.h"

namespace sluice::test {

/// Expects `header` to begin a table of metrics.md with all these families, in their order, and no others.
template <typename Families>
void expectInReference(const Families& families, const std::string& header) {
  const auto rows = pageTable(referencePage("metrics.md"), header);
  ASSERT_EQ(rows.size(), families.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const observe::ReadFamily& family = families[i];
    ASSERT_EQ(rows[i].size(), 4U) << family.name;
    EXPECT_EQ(quotedWords(rows[i][0]), std::vector<std::string>{std::string(family.name)});
    EXPECT_EQ(rows[i][1], observe::metricKindName(family.kind)) << family.name;
    std::vector<std::string> labels;
    for (const std::string_view label : family.labels) {
      if (!label.empty()) labels.emplace_back(label);
    }
    EXPECT_EQ(quotedWords(rows[i][2]), labels) << family.name;
    EXPECT_FALSE(rows[i][3].empty()) << family.name;
  }
}

}  // namespace sluice::test
