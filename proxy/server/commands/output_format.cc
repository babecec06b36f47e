#include "proxy/server/commands/output_format.h"

#include <cstdio>

#include "config/yaml/yaml_writer.h"

namespace sluice::server {

std::string inFormat(const content::Output& output, OutputFormat format) {
  switch (format) {
    case OutputFormat::kText:
      return output.text;
    case OutputFormat::kJson:
      return content::outputJson(output.value) + "\n";
    case OutputFormat::kYaml:
      break;
  }
  return config::writeYaml(output.value);
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int complain(const base::Error& error, int exitCode) {
  std::fprintf(stderr, "%s\n", error.detail.c_str());
  return exitCode;
}

}  // namespace sluice::server
