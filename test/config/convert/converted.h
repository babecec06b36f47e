// Converts texts for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "config/convert/convert.h"
#include "config/load/load.h"

namespace sluice::config {

inline ConvertedTexts convertText(const std::string& text) {
  return convertTexts({std::make_shared<const KeptText>(KeptText{"a.yaml", base::Secret(text)})});
}

/// Returns the model of what the text is converted to, which must have no fault.
inline Model convertedModel(const std::string& text) {
  const ConvertedTexts converted = convertText(text);
  EXPECT_TRUE(converted.complete) << converted.text;
  Configuration loaded = loadText(converted.text);
  EXPECT_EQ(firstError(loaded.problems), "") << converted.text;
  return std::move(loaded.model);
}

/// Returns the lines of the text that are comments, or those that are none.
inline std::vector<std::string> linesOf(const std::string& text, bool comments) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#") == comments) found.push_back(line);
  }
  return found;
}
inline std::vector<std::string> commentsIn(const std::string& text) { return linesOf(text, true); }

}  // namespace sluice::config
