#include "proxy/server/commands/convert_command.h"

#include <cstdio>
#include <utility>

#include "config/convert/convert.h"
#include "config/load/source_files.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

int convertFiles(const std::vector<std::string>& paths) {
  config::Problems problems;
  config::TextCache cache;
  const config::KeptTexts texts = config::readSourceFiles(paths, config::kReadAllFiles, cache, problems);
  config::ConvertedTexts converted;
  if (!config::hasErrors(problems)) {
    converted = config::convertTexts(texts);
    problems.insert(problems.end(), converted.problems.begin(), converted.problems.end());
  }
  for (const config::Problem& each : problems) std::fprintf(stderr, "%s\n", config::render(each).c_str());
  print(converted.text);
  return config::hasErrors(problems) || !converted.complete ? 1 : 0;
}

}  // namespace sluice::server
