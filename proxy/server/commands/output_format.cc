#include "proxy/server/commands/output_format.h"

#include <cstdio>

#include "config/yaml/yaml_writer.h"

namespace sluice::server {

void print(const content::Output& output, OutputFormat format) {
  switch (format) {
    case OutputFormat::kText:
      return print(output.text);
    case OutputFormat::kJson:
      return print(content::outputJson(output.value) + "\n");
    case OutputFormat::kYaml:
      return print(config::writeYaml(output.value));
  }
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int complain(const base::Error& error, int exitCode) {
  std::fprintf(stderr, "%s\n", error.detail.c_str());
  return exitCode;
}

}  // namespace sluice::server
