#include "proxy/server/commands/version_command.h"

#include <gnu/libc-version.h>

#include <CLI/Version.hpp>

#include "config/ground/library_versions.h"
#include "proxy/base/library_version.h"
#include "proxy/content/library_versions.h"
#include "proxy/content/output/make_value.h"
#include "proxy/content/output/text_table.h"
#include "proxy/http/library_versions.h"
#include "proxy/net/library_versions.h"
#include "proxy/observe/library_versions.h"
#include "proxy/pki/library_versions.h"
#include "proxy/server/commands/build_facts.h"

namespace sluice::server {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

/// The parts that are not libraries, in the order in which people ask for them: the member in JSON, its name for
/// people, and the value.
struct BuildFact {
  const char* member;
  const char* title;
  std::string value;
};

std::vector<BuildFact> buildFacts() {
  return {{"version", "sluice", SLUICE_VERSION},
          {"commit", "commit", std::string(buildCommit())},
          {"compiler", "compiler", kCompiler},
          {"buildType", "build type", std::string(buildType())}};
}

base::LibraryVersions allLibraries() {
  base::LibraryVersions all = {{"glibc", gnu_get_libc_version()}, {"libstdc++", std::to_string(_GLIBCXX_RELEASE)}};
  for (const base::LibraryVersions& versions :
       {net::libraryVersions(), pki::libraryVersions(), http::libraryVersions(), config::libraryVersions(),
        content::libraryVersions(), observe::libraryVersions(), base::LibraryVersions{{"CLI11", CLI11_VERSION}}}) {
    all.insert(all.end(), versions.begin(), versions.end());
  }
  return all;
}

}  // namespace

content::Output versionOutput() {
  content::TextTable table({"PART", "VERSION"});
  content::Value value = content::makeMap({});
  for (const BuildFact& fact : buildFacts()) {
    table.add({fact.title, fact.value});
    content::addMembers(value, {{fact.member, fact.value}});
  }
  const auto library = [&](const auto& each) {
    const auto& [name, version] = each;
    table.add({name, version});
    return content::makeMap({{"name", name}, {"version", version}});
  };
  content::addMembers(value, {{"libraries", content::makeList(allLibraries(), library)}});
  return {std::move(value), table.text()};
}

int printVersion(OutputFormat format) {
  print(versionOutput(), format);
  return 0;
}

}  // namespace sluice::server
